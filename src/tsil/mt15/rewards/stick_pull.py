"""stick-pull: put a stick through the handle of a thermos and pull the thermos with it.

``object`` is the stick's centre, the stick lying along x, and ``part`` its end at +x; ``second``
is the middle of the opening in the thermos's handle. ``initial.second`` is the point of the
*table* beneath it; ``target`` lies at the height of the lying stick.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import (
    Outcome,
    constant,
    dense_grasp,
    distance,
    hamacher,
    tolerance,
)
from tsil.mt15.state import State

TARGET_RADIUS = 0.05
SUCCESS_RADIUS = 0.12
PAST_HANDLE = (0.05, 0.0, 0.0)
"""Where the stick's centre should be, from the opening in the handle, metres."""


def reward(state: State) -> Outcome:
    """Grasp and lift the stick, put it through the handle, pull both to the target."""
    past_handle = constant(PAST_HANDLE, state.second)
    aim, aim_start = state.second + past_handle, state.initial.second + past_handle
    scale = (1.0, 1.0, 2.0)
    within = (0.0, TARGET_RADIUS)
    at_handle = tolerance(
        distance(state.object, aim, scale),
        within,
        distance(state.initial.object, aim_start, scale),
    )
    stick_home = tolerance(
        distance(state.object, state.target),
        within,
        distance(state.initial.object, state.target),
    )
    thermos_home = tolerance(
        distance(aim, state.target), within, distance(state.initial.second, state.target)
    )

    held = (
        (distance(state.object, state.tcp) < 0.02)
        & (state.openness > 0)
        & (state.object[:, 2] - 0.01 > state.initial.object[:, 2])
    )
    # Meta-World measures the grasp's margins from the thermos, not from the stick.
    thermos = state.initial.second
    grasped = dense_grasp(
        state, state.object, radius=0.014, pad_reach=0.05, xz_reach=0.01, start=thermos
    )
    grasped = torch.where(held, 1.0, grasped)

    through = state.part - state.second
    inserted = (through[:, 0] >= 0) & (through[:, 1].abs() <= 0.04) & (through[:, 2].abs() <= 0.06)
    arrived = distance(state.second, state.target) <= SUCCESS_RADIUS

    value = hamacher(grasped, at_handle)
    pulling = torch.where(arrived, 10.0, value + 6 + 2 * stick_home + thermos_home)
    lifting = value + 1 + 5 * at_handle
    value = torch.where(held, torch.where(inserted, pulling, lifting), value)
    return Outcome(value, inserted & arrived)
