"""peg-unplug-side: pull a plug out of a wall, along +x.

``object`` is the plug's grip, 4 cm along x from the plug body's origin; ``target`` lies 15 cm
along x from where that origin starts, that is 11 cm from where the grip does.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import Outcome, dense_grasp, distance, tolerance
from tsil.mt15.state import State

SUCCESS_RADIUS = 0.07


def reward(state: State) -> Outcome:
    """Grasp the plug; once it has moved in the grasp, bring it to the target."""
    error = distance(state.object, state.target)
    margin = distance(state.initial.object, state.target)
    in_place = tolerance(error, (0.0, 0.05), margin)

    grasped = 2 * dense_grasp(
        state, state.object, radius=0.025, pad_reach=0.05, xz_reach=0.005, effort=0.8
    )
    held = (
        (state.openness > 0.5)
        & (state.object[:, 0] - state.initial.object[:, 0] > 0.015)
        & (distance(state.object, state.tcp) < 0.035)
    )
    value = torch.where(held, grasped + 1 + 5 * in_place, grasped)
    value = torch.where(error <= 0.05, 10.0, value)
    return Outcome(value, error <= SUCCESS_RADIUS)
