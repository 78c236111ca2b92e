"""basketball: carry a ball to the hoop."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import basketball as rewards
from tsil.mt15.scripted import CLOSE, Stage, at_height, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

RING = (0.0, -0.083, 0.25)
"""Middle of the ring from the foot of the hoop, metres."""
WIDTH = 0.06
"""Diameter of the ball, metres."""
GRIP = 0.03
"""Height of the hand above the centre of a ball that it takes, metres."""
BEFORE_RING = 0.125
"""How far before the middle of the ring the hand can pass its height, metres."""
ABOVE_RING = 0.3
"""Height of a ball that can be carried over the ring, metres."""


def arrange(ball: Tensor, hoop: Tensor) -> Arrangement:
    """The ball and the foot of the hoop are drawn."""
    return Arrangement(target=offset(hoop, *RING), bodies={"ball": ball, "hoop": hoop})


def script(state: State) -> Tensor:
    """Take the ball from below the ring's height, come back before lifting it, carry it over."""
    ball, hand, ring = state.object, state.hand, state.target
    # Fingertips above the middle of a ball squeeze it out.
    holding = held(state, ball, WIDTH) & (state.tcp[:, 2] < ball[:, 2] - 0.005)
    before_ring = hand.clone()
    before_ring[:, 1] = hand[:, 1].minimum(ring[:, 1] - BEFORE_RING)
    return follow(
        state,
        Stage(
            at_height(ring, ABOVE_RING + GRIP),
            CLOSE,
            when=holding & (ball[:, 2] > ABOVE_RING - 0.01),
        ),
        Stage(offset(before_ring, y=-0.01), CLOSE, when=holding & (hand[:, 1] > before_ring[:, 1])),
        Stage(at_height(before_ring, ABOVE_RING + GRIP + 0.02), CLOSE, when=holding),
        *take(state, ball, GRIP, above=0.085),
    )


TASK = Task(
    name="basketball",
    number=1,
    scene="basketball.xml",
    placement=PLACEMENTS["basketball"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
