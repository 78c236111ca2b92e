"""basketball: carry a ball to the hoop.

``object`` is the ball's centre, ``target`` the middle of the hoop; the reward aims above it, at
the height ``ABOVE_HOOP``.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import Outcome, dense_grasp, distance, hamacher, tolerance
from tsil.mt15.state import State

ABOVE_HOOP = 0.3
TARGET_RADIUS = 0.08


def reward(state: State) -> Outcome:
    """Grasp the ball; once it is lifted in the grasp, bring it above the hoop."""
    aim = state.target.clone()
    aim[:, 2] = ABOVE_HOOP
    scale = (1.0, 1.0, 2.0)
    error = distance(state.object, aim, scale)
    margin = distance(state.initial.object, aim, scale)
    in_place = tolerance(error, (0.0, TARGET_RADIUS), margin)

    held = (
        (distance(state.object, state.tcp) < 0.035)
        & (state.openness > 0)
        & (state.object[:, 2] - 0.01 > state.initial.object[:, 2])
    )
    grasped = dense_grasp(state, state.object, radius=0.025, pad_reach=0.06, xz_reach=0.005)
    grasped = torch.where(held, 1.0, grasped)
    value = hamacher(grasped, in_place) + held * (1 + 5 * in_place)
    value = torch.where(error < TARGET_RADIUS, 10.0, value)
    return Outcome(value, error <= TARGET_RADIUS)
