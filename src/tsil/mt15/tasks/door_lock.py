"""door-lock: turn the lever of a lock down."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import door_lock as rewards
from tsil.mt15.scripted import OPEN, Stage, apart, follow, offset
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

TARGET = (0.0, -0.158, -0.039)
"""From the middle of the safe, metres; the lever's pivot is at (0, -0.118, 0.061)."""

HAND_START = (0.0, 0.55, 0.2)
"""Metres. Where Meta-World starts, 5 cm further on, the open hand stands in the lever."""


def arrange(safe: Tensor, _: Tensor) -> Arrangement:
    """The safe is drawn, by its middle."""
    return Arrangement(target=offset(safe, *TARGET), bodies={"safe": safe})


def script(state: State) -> Tensor:
    """From above, push the lever's tip down and under the pivot with the left finger."""
    tip = state.object
    above = offset(tip, x=-0.01, y=-0.036, z=0.085)
    aside = apart(state.hand, above)
    low = state.hand[:, 2] < tip[:, 2] + 0.065
    return follow(
        state,
        Stage(offset(state.hand, z=0.05), OPEN, when=low & (aside > 0.06)),
        Stage(above, OPEN, when=~low & (aside > 0.015), gain=15),
        Stage(offset(above, x=-0.04, z=-0.12), OPEN),
    )


TASK = Task(
    name="door-lock",
    number=14,
    scene="door_lock.xml",
    placement=replace(PLACEMENTS["door-lock"], hand_start=HAND_START),
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
