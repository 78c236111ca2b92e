"""hand-insert: put a cube into a hole in the table."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import hand_insert as rewards
from tsil.mt15.scripted import CLOSE, Stage, apart, at_height, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

REST = 0.07
"""Height of the cube's centre on the board, metres."""
WIDTH = 0.04
"""Of the cube, metres."""
GRIP = 0.033
"""Height of the hand above the centre of a cube that it takes, metres."""
CARRY = 0.1
"""Height of the cube's centre on the way, metres."""
ROOM = (0.815, 0.865)
"""Where along y there is room in the hole for the fingers beside the cube, metres."""


def arrange(cube: Tensor, hole: Tensor) -> Arrangement:
    """The cube is drawn on the board, the target in the hole."""
    return Arrangement(target=hole, bodies={"cube": at_height(cube, REST)})


def script(state: State) -> Tensor:
    """Take the cube from above, carry it over the hole, lower it."""
    cube, place = state.object, state.target.clone()
    place[:, 1].clamp_(*ROOM)
    holding = held(state, cube, WIDTH)
    return follow(
        state,
        Stage(offset(place, z=GRIP), CLOSE, when=holding & (apart(cube, place) < 0.015), gain=15.0),
        Stage(at_height(place, CARRY + GRIP), CLOSE, when=holding, gain=15.0),
        *take(state, cube, GRIP),
    )


TASK = Task(
    name="hand-insert",
    number=22,
    scene="hand_insert.xml",
    placement=PLACEMENTS["hand-insert"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
