"""hammer: drive a nail into a block."""

from __future__ import annotations

import torch
from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import hammer as rewards
from tsil.mt15.scripted import CLOSE, OPEN, Stage, apart, follow, offset
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

TARGET = (0.24, 0.74, 0.11)
"""Metres: where the nail's head ends."""

LYING = 0.036
"""Metres from the table to the middle of a hammer that lies on its head."""

HELD = 0.45
"""Openness below which the gripper is closed around the handle."""


def arrange(hammer: Tensor, _: Tensor) -> Arrangement:
    """The hammer is drawn."""
    target = torch.zeros_like(hammer) + hammer.new_tensor(TARGET)
    return Arrangement(target=target, bodies={"hammer": offset(hammer, z=LYING)})


def script(state: State) -> Tensor:
    """Grasp the handle near its head, bring the head behind the nail's, push."""
    hand, hammer = state.hand, state.object
    grip = offset(hammer, x=0.055, z=0.04)
    before = offset(state.target, x=-0.16)
    remaining = before - hammer
    beside = (remaining[:, ::2].abs() > 0.015).any(1)
    align = hand + remaining * remaining.new_tensor((1.0, 0.0, 1.0))
    return follow(
        state,
        Stage(offset(grip, z=0.08), OPEN, when=apart(hand, grip) > 0.02),
        Stage(grip, OPEN, when=hand[:, 2] > grip[:, 2] + 0.01, gain=12),
        Stage(hand, CLOSE, when=state.openness > HELD),
        Stage(offset(hand, z=0.02), CLOSE, when=hammer[:, 2] < LYING + 0.012, speed=0.1),
        Stage(align, CLOSE, when=beside, gain=15),
        Stage(hand + remaining, CLOSE, speed=0.7),
    )


TASK = Task(
    name="hammer",
    number=21,
    scene="hammer.xml",
    placement=PLACEMENTS["hammer"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
