"""bin-picking: carry a cube from the left bin into the right one.

``object`` is the cube's centre, ``target`` the middle of the right bin at the height of the
table; ``initial.object`` is the cube at rest on the floor of its bin.
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


def reward(state: State) -> Outcome:
    """Grasp the cube; once it is lifted, bring it to the target high above the bins' walls."""
    error = distance(state.object, state.target)
    margin = distance(state.initial.object, state.target)
    in_place = tolerance(error, (0.0, TARGET_RADIUS), margin)

    hand = state.hand[:, :2]
    from_start = funnel(distance(hand, state.initial.object[:, :2]), 0.03, 0.02, 0.2)
    from_target = funnel(distance(hand, state.target[:, :2]), 0.03, 0.02, 0.2)
    high = clearance(state.hand[:, 2], torch.minimum(from_start, from_target), 0.05)

    held = (
        (distance(state.object, state.hand) < 0.04)
        & (state.object[:, 2] - 0.02 > state.initial.object[:, 2])
        & (state.openness >= 0.43)
    )
    grasped = dense_grasp(
        state, state.object, radius=0.015, pad_reach=0.05, xz_reach=0.01, effort=0.7
    )
    value = hamacher(grasped, in_place) + held * (1 + 5 * hamacher(high, in_place))
    value = torch.where(error < TARGET_RADIUS, 10.0, value)
    return Outcome(value, error <= TARGET_RADIUS)
