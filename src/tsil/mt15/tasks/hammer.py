"""hammer: drive a nail into a block."""

from __future__ import annotations

import torch
from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import hammer as rewards
from tsil.mt15.scripted import CLOSE, Stage, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

TARGET = (0.24, 0.74, 0.11)
"""Metres: where the nail's head ends."""

LYING = 0.036
"""Metres from the table to the middle of a hammer that lies on its head."""

WIDTH = 0.0275
"""Metres between pads that begin to hold the handle, which is 3 mm less and does not give."""

GRIP = 0.04
"""Metres from the handle up to the hand that holds it."""


def arrange(hammer: Tensor, _: Tensor) -> Arrangement:
    """The hammer is drawn."""
    target = torch.zeros_like(hammer) + hammer.new_tensor(TARGET)
    return Arrangement(target=target, bodies={"hammer": offset(hammer, z=LYING)})


def script(state: State) -> Tensor:
    """Grasp the handle near its head, bring the head behind the nail's, push."""
    hand, hammer = state.hand, state.object
    neck = offset(hammer, x=0.055)
    holding = held(state, neck, WIDTH)
    remaining = offset(state.target, x=-0.16) - hammer
    beside = (remaining[:, ::2].abs() > 0.015).any(1)
    align = hand + remaining * remaining.new_tensor((1.0, 0.0, 1.0))
    return follow(
        state,
        # At first slowly, while the grip becomes firm.
        Stage(offset(hand, z=0.02), CLOSE, when=holding & (hammer[:, 2] < LYING + 0.01), speed=0.1),
        Stage(align, CLOSE, when=holding & beside, gain=15),
        Stage(hand + remaining, CLOSE, when=holding, speed=0.7),
        *take(state, neck, GRIP),
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
