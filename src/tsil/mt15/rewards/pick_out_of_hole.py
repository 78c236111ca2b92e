"""pick-out-of-hole: lift a puck out of a hole and hold it in the air.

``object`` is the puck's centre; ``initial.object`` is in the hole, ``target`` above the table.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import (
    Outcome,
    clearance,
    dense_grasp,
    distance,
    funnel,
    hamacher,
    tolerance,
)
from tsil.mt15.state import State

TARGET_RADIUS = 0.05
SUCCESS_RADIUS = 0.07


def reward(state: State) -> Outcome:
    """Grasp the puck; once it is lifted, bring it to the target clear of the hole's edge."""
    error = distance(state.object, state.target)
    margin = distance(state.initial.object, state.target)
    in_place = tolerance(error, (0.0, 0.02), margin)

    radius = distance(state.tcp[:, :2], state.initial.object[:, :2])
    high = clearance(state.tcp[:, 2], funnel(radius, 0.03, 0.015, 0.15), 0.02)

    held = (
        (distance(state.object, state.tcp) < 0.04)
        & (state.object[:, 2] - 0.02 > state.initial.object[:, 2])
        & (state.openness >= 0.33)
    )
    grasped = dense_grasp(
        state, state.object, radius=0.015, pad_reach=0.02, xz_reach=0.03, effort=0.1
    )
    value = hamacher(grasped, in_place) + held * (1 + 5 * hamacher(in_place, high))
    value = torch.where(error < TARGET_RADIUS, 10.0, value)
    return Outcome(value, error <= SUCCESS_RADIUS)
