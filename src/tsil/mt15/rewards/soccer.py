"""soccer: push a ball into a goal.

``object`` is the ball's centre; ``target`` is on the ground, on the goal line, between the posts.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import Outcome, distance, straddle, tolerance
from tsil.mt15.state import State

TARGET_RADIUS = 0.07
BESIDE = 0.1
"""Farther than this (metres, in x) from the target, the ball is on its way past the goal."""


def reward(state: State) -> Outcome:
    """The ball near the goal, and on the way there held between the fingers."""
    scale = (3.0, 1.0, 1.0)
    error = distance(state.object, state.target, scale)
    travelled = distance(state.object, state.initial.object, scale)
    in_place = tolerance(error, (0.0, TARGET_RADIUS), travelled)

    before_goal = state.target[:, 1] - 0.1
    past = state.object[:, 1] - before_goal
    missed = (past > 0) & ((state.object[:, 0] - state.target[:, 0]).abs() > BESIDE)
    penalized = (in_place - 2 * past / (1 - before_goal)).clamp(0.0, 1.0)
    in_place = torch.where(missed, penalized, in_place)

    held = straddle(state, radius=0.013, grip_slack=0.01, xz_reach=0.005)
    value = torch.where(error < TARGET_RADIUS, 10.0, 3 * held + 6.5 * in_place)
    return Outcome(value, distance(state.object, state.target) <= TARGET_RADIUS)
