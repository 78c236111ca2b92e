"""assembly: put a ring over a peg."""

from __future__ import annotations

from torch import Tensor

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import assembly as rewards
from tsil.mt15.scripted import CLOSE, Stage, apart, follow, held, offset, take
from tsil.mt15.state import State
from tsil.mt15.task import Arrangement, Task

LYING = 0.019
"""Metres from the table to the middle of the ring that lies on it."""

WIDTH = 0.031
"""Metres between pads that begin to hold the handle, which is 3 mm less and does not give."""

GRIP = 0.037
"""Metres from the handle up to the hand that holds it."""

CARRIED = 0.04
"""Metres from the peg's top up to the middle of the ring on its way there."""


def arrange(ring: Tensor, peg: Tensor) -> Arrangement:
    """The peg is drawn, by its top; the ring always lies in the same place."""
    ring = ring.clone()
    ring[:, 2] = LYING
    return Arrangement(target=peg, bodies={"nut": ring, "peg": peg})


def script(state: State) -> Tensor:
    """Grasp the handle, carry the ring over the peg, let it down."""
    hand, ring = state.hand, state.part
    # Down the side of the reward's funnel, not its middle.
    above = offset(state.target, y=-0.014, z=CARRIED)
    remaining = above - ring
    off = apart(ring, above)
    low = ring[:, 2] < state.target[:, 2] + 0.03
    holding = held(state, state.object, WIDTH)
    return follow(
        state,
        # At first slowly, while the grip becomes firm.
        Stage(offset(hand, z=0.02), CLOSE, when=holding & (ring[:, 2] < LYING + 0.01), speed=0.1),
        Stage(offset(hand, z=0.1), CLOSE, when=holding & low & (off > 0.03)),
        Stage(hand + remaining, CLOSE, when=holding & (off > 0.006), gain=12),
        Stage(hand + offset(remaining, z=-2 * CARRIED), CLOSE, when=holding, speed=0.6),
        *take(state, state.object, GRIP),
    )


TASK = Task(
    name="assembly",
    number=0,
    scene="assembly.xml",
    placement=PLACEMENTS["assembly"],
    arrange=arrange,
    outcome=rewards.reward,
    script=script,
)
