"""soccer: bring a ball into a goal."""

from __future__ import annotations

import torch
from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import soccer as rewards
from tsil.mt15.scripted import CLOSE, OPEN, Stage, apart, at_height, follow, offset
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

BALL_RADIUS = 0.026
"""Metres."""
HAND_HEIGHT = 0.065
"""Of the hand that holds the ball on the ground, metres: fingertips below the ball's middle."""


def arrange(ball: Tensor, goal: Tensor) -> Arrangement:
    """Ball and goal are drawn; the ball lies on the ground."""
    return Arrangement(target=goal, bodies={"ball": at_height(ball, BALL_RADIUS), "goal": goal})


def script(state: State) -> Tensor:
    """Take the ball between the fingers, in front of the goal, and into it."""
    ball, target = at_height(state.object, HAND_HEIGHT), at_height(state.target, HAND_HEIGHT)
    in_front = torch.cat((target[:, :1], ball[:, 1:]), dim=1)
    beside = (ball - target)[:, 0].abs() > 0.03
    return follow(
        state,
        Stage(offset(ball, z=0.1), OPEN, when=apart(state.hand, ball) > 0.02),
        Stage(ball, OPEN, when=state.hand[:, 2] > HAND_HEIGHT + 0.01, gain=15),
        Stage(ball, CLOSE, when=state.openness > 0.645, gain=15),
        Stage(in_front, CLOSE, when=beside, speed=0.7),
        Stage(target, CLOSE, speed=0.7),
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
