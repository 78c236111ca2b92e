"""bin-picking: carry a cube from the left bin into the right one."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import bin_picking as rewards
from tsil.mt15.scripted import CLOSE, Stage, apart, at_height, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

TARGET = (0.12, 0.7, 0.0)
"""Middle of the right bin at the height of the table, metres."""
REST = 0.037
"""Height of the cube's centre on the bottom of a bin, metres."""
WIDTH = 0.04
"""Of the cube, metres."""
GRIP = 0.033
"""Height of the hand above the centre of a cube that it takes, metres."""
CLEAR = 0.1
"""Height of a cube that passes over the bins' walls, metres."""
CARRY = 0.13
"""Height of the cube on the way, metres."""


def arrange(cube: Tensor, _: Tensor) -> Arrangement:
    """The cube is drawn in the left bin; the target is always the same."""
    target = cube.new_tensor(TARGET).expand_as(cube)
    return Arrangement(target=target, bodies={"cube": at_height(cube, REST)})


def script(state: State) -> Tensor:
    """Take the cube from above, lift it over the wall, lower it in the other bin."""
    cube, target = state.object, state.target
    holding = held(state, cube, WIDTH)
    return follow(
        state,
        Stage(at_height(target, REST + GRIP), CLOSE, when=holding & (apart(cube, target) < 0.02)),
        Stage(offset(cube, z=GRIP + 0.1), CLOSE, when=holding & (cube[:, 2] < CLEAR)),
        Stage(at_height(target, CARRY + GRIP), CLOSE, when=holding),
        *take(state, cube, GRIP),
    )


TASK = Task(
    name="bin-picking",
    number=2,
    scene="bin_picking.xml",
    placement=PLACEMENTS["bin-picking"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
