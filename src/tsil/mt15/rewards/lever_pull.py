"""lever-pull: lift a lever that points at the robot until it stands upright.

``object`` is the lever's tip, ``LENGTH`` from its hinge: level toward the robot at the start (so
is ``initial.object``), straight above the hinge at the ``target``.
"""

from __future__ import annotations

import math

from tsil.mt15.rewards.shared import Outcome, constant, distance, hamacher, tolerance
from tsil.mt15.state import State

LENGTH = 0.2
SUCCESS_ANGLE = math.pi / 24


def reward(state: State) -> Outcome:
    """The wrist, not the fingertips, beneath the lever; and the lever's tip at its target."""
    scale = (4.0, 1.0, 4.0)
    wrist = constant((0.0, 0.055, 0.07), state.hand)
    margin = distance(state.initial.tcp + wrist, state.initial.object, scale)
    ready = tolerance(distance(state.hand + wrist, state.object, scale), (0.0, 0.02), margin)

    lift = distance(state.initial.object, state.target)
    lifted = tolerance(distance(state.object, state.target), (0.0, 0.04), lift)

    _, depth, height = (state.object - state.target).unbind(-1)
    upright = depth.abs() <= math.tan(SUCCESS_ANGLE) * (height + LENGTH)
    return Outcome(10 * hamacher(ready, lifted), upright)
