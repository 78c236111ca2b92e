"""A task is a declaration: scene, what varies, target, success and reward, scripted policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tsil.mt15.placement import Placement
from tsil.mt15.rewards.shared import Outcome
from tsil.mt15.state import State


@dataclass(slots=True)
class Arrangement:
    """Where things are in n worlds at the start."""

    target: Tensor
    """(n, 3) metres: where the task wants the object."""
    bodies: dict[str, Tensor] = field(default_factory=dict)
    """By body: (n, 3) positions in metres, or (n, 7) with a unit quaternion behind. Of a body with
    a free joint it is the pose; of any other, the place on its parent."""
    joints: dict[str, Tensor] = field(default_factory=dict)
    """By hinge or slide: (n,) positions in radians or metres."""


@dataclass(frozen=True, slots=True)
class Task:
    """One of the fifteen. ``docs/tasks.md`` tells how to write one."""

    name: str
    """As users type it: ``drawer-open``."""
    number: int
    """MTBench's id."""
    scene: str
    """File in ``scenes/``. Its sites ``object``, ``second`` and ``part`` are the points of
    ``State`` of the same name, ``object_start`` and ``second_start`` the starts that differ."""
    placement: Placement
    """What varies, where the hand starts and the box it stays in."""
    arrange: Callable[[Tensor, Tensor], Arrangement]
    """From the drawn object and goal positions, (n, 3) metres each, to where things are. The goal
    is zeros where nothing but the object is drawn."""
    outcome: Callable[[State], Outcome]
    """Dense reward and success."""
    script: Callable[[State], Tensor]
    """The scripted policy: actions (n, 4) from what the reward may look at."""


CONFIGURATION = 6
"""Numbers that are drawn for a world: object position 3 and goal position 3, metres."""


def draw(placement: Placement, number: int, seed: int) -> Tensor:
    """``number`` configurations (number, 6) float32, on the CPU; the goal is zeros if not drawn."""
    generator = torch.Generator().manual_seed(seed)
    goal_low, goal_high = placement.goal_low or (0, 0, 0), placement.goal_high or (0, 0, 0)
    low = torch.tensor((*placement.object_low, *goal_low), dtype=torch.float32)
    high = torch.tensor((*placement.object_high, *goal_high), dtype=torch.float32)

    def uniform(count: int) -> Tensor:
        return low + (high - low) * torch.rand(count, CONFIGURATION, generator=generator)

    drawn = uniform(number)
    if placement.goal_low is not None:
        while True:
            distance = (drawn[:, 0:2] - drawn[:, 3:5]).norm(dim=1)
            refused = (distance < placement.apart).nonzero()[:, 0]
            if not len(refused):
                break
            drawn[refused] = uniform(len(refused))
    return drawn
