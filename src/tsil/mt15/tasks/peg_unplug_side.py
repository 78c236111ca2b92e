"""peg-unplug-side: pull a plug out of its socket."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import peg_unplug_side as rewards
from tsil.mt15.scripted import CLOSE, Stage, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

PLUG = (0.044, 0.0, 0.131)
"""From the foot of the wall to the plug's origin when it is in the socket, metres."""
TARGET = (0.194, 0.0, 0.131)
"""From the foot of the wall, metres."""
WIDTH = 0.05
"""Of the plug's grip, metres."""
GRIP = 0.042
"""Height of the hand above the middle of the grip that it takes, metres."""


def arrange(wall: Tensor, _: Tensor) -> Arrangement:
    """The wall is drawn, by its foot."""
    return Arrangement(
        target=offset(wall, *TARGET), bodies={"socket": wall, "plug": offset(wall, *PLUG)}
    )


def script(state: State) -> Tensor:
    """Take the grip from above; pull."""
    plug = state.object
    return follow(
        state,
        Stage(offset(state.target, z=GRIP), CLOSE, when=held(state, plug, WIDTH)),
        *take(state, plug, GRIP),
    )


TASK = Task(
    name="peg-unplug-side",
    number=29,
    scene="peg_unplug_side.xml",
    placement=PLACEMENTS["peg-unplug-side"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
