"""What a task's reward and success may look at: named positions of n parallel worlds.

Everything is in Meta-World's frame: metres, x to the right, y away from the robot, z up, table
top at z = 0. Quaternions are (w, x, y, z) and keep their sign through an episode. All tensors of
a state share one dtype and one device.

The hand (Meta-World's measures; its rewards are tuned to them)::

        hand     the point that actions move: centre of the pads, 4.5 cm above the fingertips
      |  |  |    pads: one on either side of the hand, left at +y, right at -y, as high as the hand
      |  .  |    tcp: midpoint between the fingertips

What the object fields mean in each task. "Start" is the value at the beginning of the episode,
held in ``State.initial`` under the same name unless the last column says otherwise; ``-`` are
zeros.

================== ======================== ===================== ==============================
task               object (quaternion of)   second / part         start where it differs
================== ======================== ===================== ==============================
assembly           handle centre (nut)      - / ring centre       object: the ring centre
basketball         ball centre              - / -
bin-picking        cube centre              - / -
box-close          lid plate (lid)          - / -
door-lock          tip of the lock lever    - / -
drawer-open        middle of the handle bar - / -
hammer             handle centre (hammer)   nail's head / -
hand-insert        cube centre              - / -
lever-pull         tip of the lever         - / -
peg-insert-side    grasp point              - / peg's head        object: the peg's centre
peg-unplug-side    grip of the plug         - / -
pick-out-of-hole   puck centre              - / -
soccer             ball centre              - / -
stick-pull         stick centre             thermos handle / tip  second: table beneath it
sweep-into-goal    cube centre              - / -
================== ======================== ===================== ==============================

The exact points, with their offsets on the body, stand in ``tsil.mt15.rewards.<task>``.
No reward and no success needs a contact or a force.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

PAD_THICKNESS = 0.006
"""Meta-World's pads are boxes this thick (metres) in y; their position is the box's centre."""


def openness(gap: Tensor) -> Tensor:
    """Meta-World's gripper openness, 0 to 1, of a clear gap (metres) between the pads.

    Meta-World takes the distance of the claws behind the pads in tenths of a metre, which adds
    two pad thicknesses: 8 cm is 0.92, and the 3.1 cm below which bin-picking's reward believes
    that nothing is held are 0.43.
    """
    return ((gap + 2 * PAD_THICKNESS) / 0.1).clamp(0.0, 1.0)


@dataclass(slots=True)
class Initial:
    """Positions at the start of the episode, after the hand has reached its start pose."""

    tcp: Tensor
    """(n, 3) metres."""
    left_pad: Tensor
    """(n, 3) metres."""
    right_pad: Tensor
    """(n, 3) metres."""
    object: Tensor
    """(n, 3) metres: see the table above for the tasks where it is another point."""
    second: Tensor
    """(n, 3) metres: see the table above for the task where it is another point."""
    part: Tensor
    """(n, 3) metres."""


@dataclass(slots=True)
class State:
    """n worlds of one task after a control step."""

    action: Tensor
    """(n, 4) in [-1, 1]: hand displacement along x, y, z and gripper command, > 0 closes."""
    hand: Tensor
    """(n, 3) metres: the point that actions move."""
    tcp: Tensor
    """(n, 3) metres: midpoint between the fingertips."""
    left_pad: Tensor
    """(n, 3) metres: centre of the pad at +y."""
    right_pad: Tensor
    """(n, 3) metres: centre of the pad at -y."""
    openness: Tensor
    """(n,) in [0, 1]: see ``openness``."""
    object: Tensor
    """(n, 3) metres: the thing the task is about."""
    object_quaternion: Tensor
    """(n, 4) unit quaternion of the object's body."""
    second: Tensor
    """(n, 3) metres: a second thing, zeros where there is none."""
    second_quaternion: Tensor
    """(n, 4) unit quaternion of the second thing's body, zeros where there is none."""
    part: Tensor
    """(n, 3) metres: a further point of the first object, zeros where the task names none."""
    target: Tensor
    """(n, 3) metres: where the task wants the object, fixed for an episode."""
    initial: Initial
