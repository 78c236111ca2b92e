"""lever-pull: lift a lever until it stands upright."""

from __future__ import annotations

import torch
from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import lever_pull as rewards
from tsil.mt15.scripted import OPEN, Stage, follow, offset
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

TARGET = (0.12, 0.0, 0.45)
"""From the foot of the post, metres: 20 cm above the lever's pivot."""


def arrange(post: Tensor, _: Tensor) -> Arrangement:
    """The post is drawn, by its foot."""
    return Arrangement(target=offset(post, *TARGET), bodies={"post": post})


def script(state: State) -> Tensor:
    """From below, lift the lever's end with the palm's far edge; follow it round."""
    tip, hand = state.object, state.hand
    lifting = offset(tip, y=-0.045, z=-0.07)
    before = offset(lifting, y=-0.06, z=-0.03)
    beneath = offset(lifting, z=-0.03)
    error = hand - lifting
    short = error[:, 1] < -0.015
    aside = (error[:, 0].abs() > 0.015) | (short & (error[:, 2] > -0.015))
    return follow(
        state,
        Stage(before, OPEN, when=aside),
        Stage(beneath, OPEN, when=short & (error[:, 2] < -0.01)),
        Stage(torch.minimum(offset(lifting, y=0.03, z=0.04), offset(state.target, z=-0.07)), OPEN),
    )


TASK = Task(
    name="lever-pull",
    number=27,
    scene="lever_pull.xml",
    placement=PLACEMENTS["lever-pull"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
