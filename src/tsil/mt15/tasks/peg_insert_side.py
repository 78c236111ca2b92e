"""peg-insert-side: put a peg into the side of a box."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import peg_insert_side as rewards
from tsil.mt15.rewards.shared import length
from tsil.mt15.scripted import CLOSE, Stage, at_height, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

REST = 0.015
"""Height of the peg's centre on the table, metres."""
WIDTH = 0.03
"""Of the peg, metres."""
GRIP = 0.036
"""Height of the hand above the point where it takes the peg, metres."""
HEAD_TO_HAND = (0.13, 0.0, 0.01 + GRIP)
"""From the peg's head to the hand that holds it level, metres."""


def arrange(peg: Tensor, box: Tensor) -> Arrangement:
    """The peg is drawn, lying along x, and the box."""
    return Arrangement(
        target=offset(box, *rewards.TARGET), bodies={"peg": at_height(peg, REST), "box": box}
    )


def script(state: State) -> Tensor:
    """Take the peg from above, bring its head before the hole, push it in."""
    inserted = offset(state.target, *HEAD_TO_HAND)
    holding = held(state, state.object, WIDTH)
    aligned = length((state.part - state.target)[:, 1:]) < 0.012
    return follow(
        state,
        Stage(inserted, CLOSE, when=holding & aligned),
        Stage(offset(inserted, x=0.12), CLOSE, when=holding),
        *take(state, state.object, GRIP),
    )


TASK = Task(
    name="peg-insert-side",
    number=28,
    scene="peg_insert_side.xml",
    placement=PLACEMENTS["peg-insert-side"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
