"""sweep-into-goal: sweep a cube into a hole in the table.

``object`` is the cube's centre, ``target`` the middle of the hole; heights do not matter.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import Outcome, distance, hamacher, straddle, tolerance
from tsil.mt15.state import State

TARGET_RADIUS = 0.05


def reward(state: State) -> Outcome:
    """Hold the cube between the fingers and bring it over the hole."""
    aim = torch.cat((state.target[:, :2], state.object[:, 2:]), dim=-1)
    error = distance(state.object, aim)
    in_place = tolerance(error, (0.0, TARGET_RADIUS), distance(state.initial.object, aim))

    held = straddle(state, radius=0.02, grip_slack=0.005, xz_reach=0.01)
    value = 2 * held + 6 * hamacher(held, in_place)
    value = torch.where(error < TARGET_RADIUS, 10.0, value)
    return Outcome(value, error <= TARGET_RADIUS)
