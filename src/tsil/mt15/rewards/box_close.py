"""box-close: put the lid on a box.

``object`` is the lid's plate, its handle standing above it; ``object_quaternion`` is the lid's
body, level when it is (√½, 0, 0, √½). ``target`` is the plate's place on the box, a little high.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import (
    Outcome,
    clearance,
    constant,
    distance,
    funnel,
    hamacher,
    orientation,
    tolerance,
)
from tsil.mt15.state import State

LEVEL = (0.707, 0.0, 0.0, 0.707)
SUCCESS_RADIUS = 0.08


def reward(state: State) -> Outcome:
    """Grasp the lid from above and bring it onto the box, all the while kept level."""
    lid = state.object + constant((0.0, 0.0, 0.02), state.object)
    floor = funnel(distance(state.hand[:, :2], lid[:, :2]), 0.02, 0.04, 0.4)
    high = clearance(state.hand[:, 2], floor, floor / 2)
    ready = hamacher(high, tolerance(distance(state.hand, lid), (0.0, 0.02), 0.5))
    closing = (state.action[:, 3].clamp(-1.0, 1.0) + 1) / 2

    placed = tolerance(distance(lid, state.target, (1.0, 1.0, 3.0)), (0.0, 0.05), 0.25)
    in_place = 0.2 * (lid[:, 2] > 0.04) + 0.8 * placed

    success = distance(state.object, state.target) < SUCCESS_RADIUS
    value = torch.where(success, 10.0, 2 * hamacher(closing, ready) + 8 * in_place)
    return Outcome(value * orientation(state, LEVEL, 0.2), success)
