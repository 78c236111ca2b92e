"""stick-pull: put a stick through the handle of a thermos and pull the thermos with it."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import stick_pull as rewards
from tsil.mt15.scripted import CLOSE, Stage, at_height, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

REST = 0.02
"""Height of the stick's centre on the table, metres."""
WIDTH = 0.04
"""Of the stick, metres."""
BEHIND = 0.012
"""From the hand to the stick's centre along x, metres: its front end goes through the handle."""
GRIP = 0.04
"""Height of the hand above the centre of the stick that it takes, metres."""


def arrange(stick: Tensor, goal: Tensor) -> Arrangement:
    """The stick is drawn, lying along x; the thermos always stands at the same place."""
    return Arrangement(target=goal, bodies={"stick": at_height(stick, REST)})


def script(state: State) -> Tensor:
    """Take the stick from above, thread it into the handle, pull."""
    stick, handle = state.object, state.second
    holding = held(state, stick, WIDTH)
    before_handle = offset(handle, x=-0.09 - BEHIND, z=GRIP)
    threaded = offset(handle, x=-0.03 - BEHIND, z=GRIP)
    off = state.part - handle
    inside = (off[:, 0] > 0.005) & (off[:, 1].abs() < 0.035) & (off[:, 2].abs() < 0.035)
    aligned = (off[:, 1].abs() < 0.01) & (off[:, 2].abs() < 0.03)
    pulled = state.hand + at_height(state.target - handle, 0.0)
    return follow(
        state,
        Stage(pulled, CLOSE, when=holding & inside, speed=0.8),
        Stage(threaded, CLOSE, when=holding & aligned, speed=0.8),
        Stage(before_handle, CLOSE, when=holding),
        *take(state, offset(stick, x=-BEHIND), GRIP),
    )


TASK = Task(
    name="stick-pull",
    number=44,
    scene="stick_pull.xml",
    placement=PLACEMENTS["stick-pull"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
