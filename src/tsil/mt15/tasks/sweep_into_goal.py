"""sweep-into-goal: sweep a cube across a board into a hole."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import sweep_into_goal as rewards
from tsil.mt15.scripted import CLOSE, Stage, at_height, follow, held, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

HOLE = (0.0, 0.84, 0.02)
"""Target, in the middle of the hole, metres."""
REST = 0.07
"""Height of the cube's centre on the board, metres."""
WIDTH = 0.04
"""Of the cube, metres."""
GRIP = 0.035
"""Height of the hand above the centre of a cube that it takes, metres."""


def arrange(cube: Tensor, _: Tensor) -> Arrangement:
    """The cube is drawn on the board."""
    hole = cube.new_tensor(HOLE).expand_as(cube)
    return Arrangement(target=hole, bodies={"cube": at_height(cube, REST)})


def script(state: State) -> Tensor:
    """Take the cube between the fingers; slide it over the hole."""
    cube = state.object
    return follow(
        state,
        Stage(at_height(state.target, REST + GRIP), CLOSE, when=held(state, cube, WIDTH)),
        *take(state, cube, GRIP),
    )


TASK = Task(
    name="sweep-into-goal",
    number=46,
    scene="sweep_into_goal.xml",
    placement=PLACEMENTS["sweep-into-goal"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
