"""soccer: bring a ball into a goal."""

from __future__ import annotations

import torch
from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import soccer as rewards
from tsil.mt15.scripted import CLOSE, Stage, at_height, follow, held, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

BALL_RADIUS = 0.026
"""Metres."""
GRIP = 0.038
"""Height of the hand above the middle of a ball that it takes, metres."""


def arrange(ball: Tensor, goal: Tensor) -> Arrangement:
    """Ball and goal are drawn; the ball lies on the ground."""
    return Arrangement(target=goal, bodies={"ball": at_height(ball, BALL_RADIUS), "goal": goal})


def script(state: State) -> Tensor:
    """Take the ball between the fingers, in front of the goal, and into it."""
    ball, target = state.object, at_height(state.target, BALL_RADIUS + GRIP)
    holding = held(state, ball, 2 * BALL_RADIUS)
    beside = (ball - target)[:, 0].abs() > 0.03
    in_front = torch.cat((target[:, :1], ball[:, 1:2], target[:, 2:]), dim=1)
    return follow(
        state,
        Stage(in_front, CLOSE, when=holding & beside, speed=0.7),
        Stage(target, CLOSE, when=holding, speed=0.7),
        *take(state, ball, GRIP),
    )


TASK = Task(
    name="soccer",
    number=43,
    scene="soccer.xml",
    placement=PLACEMENTS["soccer"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
