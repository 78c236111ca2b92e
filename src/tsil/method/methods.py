"""The seven methods of the paper, as data.

Everything that tells one method from another is a field here; no other module asks for a name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal


@dataclass(frozen=True, slots=True)
class Method:
    """One row of the paper's comparison."""

    name: str
    title: str
    """As the paper's tables print it."""
    sees_time: bool = False
    """Whether elapsed time and target, (T_used, D), are appended to the observation."""
    target: Literal["none", "fixed", "adaptive"] = "none"
    """D(φ): absent, T^max for good, or tightened by every faster success (Eq. 1)."""
    step_cost: float = 0.0
    """Subtracted from the reward at every step."""
    task_scale: float | None = None
    """Scale of the dense task reward; None is the shared one (0.1)."""
    dense_until: float = math.inf
    """Share of the training budget after which the dense task reward is switched off."""
    memory: Literal["none", "fast", "return"] = "none"
    """What B(φ) ranks by: completion time, discounted return, or no memory at all."""
    imitates: bool = False
    """Whether the memory enters the loss (Eq. 3) or is kept for diagnostics only."""
    unit: Literal["trajectory", "transition"] = "trajectory"
    """What replay draws: whole trajectories, flattened, or single transitions."""
    speed_weighted: bool = False
    """Whether w = 1 + 1_succ min(D / T^succ, 1) weighs the imitation; otherwise w = 1."""


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("ih", "IH"),
        Method("step-cost", "Step-cost IH", step_cost=0.01),
        Method("d2s", "D2S IH", task_scale=1.0, dense_until=0.5),
        Method("fttl", "FTTL", sees_time=True, target="fixed"),
        Method("attl", "ATTL", sees_time=True, target="adaptive", memory="fast"),
        Method(
            "attl-sil",
            "ATTL + SIL",
            sees_time=True,
            target="adaptive",
            memory="return",
            imitates=True,
            unit="transition",
        ),
        Method(
            "tsil",
            "TSIL",
            sees_time=True,
            target="adaptive",
            memory="fast",
            imitates=True,
            speed_weighted=True,
        ),
    )
}


def method_named(name: str) -> Method:
    """The method called ``name``; an unknown name is refused with the nearest right one."""
    if name in METHODS:
        return METHODS[name]
    near = get_close_matches(str(name), METHODS, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown method {name!r}: it must be one of {', '.join(METHODS)}{hint}")
