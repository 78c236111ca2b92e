"""drawer-open: pull a drawer out by its handle."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import drawer_open as rewards
from tsil.mt15.scripted import OPEN, Stage, apart, follow, offset
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

TARGET = (0.0, -0.36, 0.09)
"""From the foot of the drawer's case, metres; the handle is at (0, -0.17, 0.09) when closed."""


def arrange(drawer: Tensor, _: Tensor) -> Arrangement:
    """The case of the drawer is drawn, by its foot."""
    return Arrangement(target=offset(drawer, *TARGET), bodies={"drawer": drawer})


def script(state: State) -> Tensor:
    """From above, put a finger on either side of the bar; pull."""
    bar = state.object
    return follow(
        state,
        Stage(offset(bar, z=0.12), OPEN, when=apart(state.hand, bar) > 0.02),
        Stage(bar, OPEN, when=state.hand[:, 2] > bar[:, 2] + 0.02),
        Stage(offset(bar, y=-0.05), OPEN),
    )


TASK = Task(
    name="drawer-open",
    number=18,
    scene="drawer_open.xml",
    placement=PLACEMENTS["drawer-open"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
