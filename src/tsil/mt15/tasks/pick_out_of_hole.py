"""pick-out-of-hole: lift a puck out of a hole and hold it in the air."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import pick_out_of_hole as rewards
from tsil.mt15.scripted import CLOSE, Stage, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

WIDTH = 0.029
"""Diameter of the puck, metres."""
GRIP = 0.037
"""Height of the hand above the centre of a puck that it takes, metres."""
CLEAR = 0.1
"""Height of a puck that is out of the hole, metres."""


def arrange(puck: Tensor, goal: Tensor) -> Arrangement:
    """The puck is always in the same place; the target in the air is drawn."""
    return Arrangement(target=goal, bodies={"puck": puck})


def script(state: State) -> Tensor:
    """Take the puck from above, lift it straight out, carry it to the target."""
    puck = state.object
    holding = held(state, puck, WIDTH)
    return follow(
        state,
        Stage(offset(puck, z=GRIP + 0.1), CLOSE, when=holding & (puck[:, 2] < CLEAR)),
        Stage(offset(state.target, z=GRIP), CLOSE, when=holding),
        *take(state, puck, GRIP, above=0.12),
    )


TASK = Task(
    name="pick-out-of-hole",
    number=30,
    scene="pick_out_of_hole.xml",
    placement=PLACEMENTS["pick-out-of-hole"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
