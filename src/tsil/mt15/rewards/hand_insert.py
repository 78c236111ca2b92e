"""hand-insert: put a cube into a hole in the table.

``object`` is the cube's centre; ``target`` is inside the hole, below the table's top.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import Outcome, dense_grasp, distance, hamacher, tolerance
from tsil.mt15.state import State

TARGET_RADIUS = 0.05


def reward(state: State) -> Outcome:
    """Grasp the cube; while it is at the fingertips, bring it to the target."""
    error = distance(state.object, state.target)
    margin = distance(state.initial.object, state.target)
    in_place = tolerance(error, (0.0, TARGET_RADIUS), margin)

    grasped = dense_grasp(state, state.object, radius=0.015, pad_reach=0.05, xz_reach=0.005)
    held = (distance(state.object, state.tcp) < 0.02) & (state.openness > 0)
    value = hamacher(grasped, in_place) + held * (1 + 7 * in_place)
    value = torch.where(error < TARGET_RADIUS, 10.0, value)
    return Outcome(value, error <= TARGET_RADIUS)
