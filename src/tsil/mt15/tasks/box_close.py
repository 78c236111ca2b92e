"""box-close: put the lid on a box."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import box_close as rewards
from tsil.mt15.scripted import CLOSE, Stage, apart, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

LYING = 0.016
"""Metres from the table to the plate of the lid that lies on it."""

GRIP = 0.053
"""Metres from the plate up to the hand that holds its handle."""

WIDTH = 0.027
"""Metres between pads that begin to hold the handle, which is 3 mm less and does not give."""


def arrange(lid: Tensor, box: Tensor) -> Arrangement:
    """Lid and box are drawn; the box by the point above it where the lid shall be."""
    lid, foot = lid.clone(), box.clone()
    lid[:, 2], foot[:, 2] = LYING, 0.0
    return Arrangement(target=box, bodies={"lid": lid, "box": foot})


def script(state: State) -> Tensor:
    """Take the lid by its handle, lift it higher than the box, bring it over."""
    hand, lid = state.hand, state.object
    remaining = offset(state.target, z=-0.033) - lid
    low = remaining[:, 2] > 0.02
    holding = held(state, offset(lid, z=GRIP - 0.045), WIDTH)
    return follow(
        state,
        # At first slowly, while the grip becomes firm.
        Stage(offset(hand, z=0.02), CLOSE, when=holding & (lid[:, 2] < LYING + 0.01), speed=0.1),
        Stage(offset(hand, z=0.1), CLOSE, when=holding & low & (apart(lid, state.target) > 0.1)),
        Stage(hand + remaining, CLOSE, when=holding, speed=0.8),
        *take(state, lid, GRIP, above=0.16),
    )


TASK = Task(
    name="box-close",
    number=3,
    scene="box_close.xml",
    placement=PLACEMENTS["box-close"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
