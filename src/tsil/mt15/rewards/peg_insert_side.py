"""peg-insert-side: put a peg into a hole in the side of a box, along -x.

``object`` is the point to grasp, (3, 0, 1) cm from the peg's centre; ``part`` is the peg's head,
10 cm from its centre along -x; ``target`` is inside the hole. ``initial.object`` is the peg's
*centre*.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tsil.mt15.placement import Point
from tsil.mt15.rewards.shared import (
    Outcome,
    constant,
    dense_grasp,
    distance,
    hamacher,
    tolerance,
)
from tsil.mt15.state import State

SUCCESS_RADIUS = 0.07
TARGET = (0.03, 0.0, 0.13)
"""From the box's origin to the target, metres."""


def _from_target(x: float, y: float, z: float) -> Point:
    """A point in the box's frame as an offset from the target; the box is turned by 1.57 rad."""
    cosine, sine = math.cos(1.57), math.sin(1.57)
    return (
        cosine * x - sine * y - TARGET[0],
        sine * x + cosine * y - TARGET[1],
        z - TARGET[2],
    )


# Two slabs in front of the box, below and above the hole: (corner worth 0, corner worth 1).
BELOW_HOLE = (_from_target(0.1, -0.11, 0.01), _from_target(-0.1, -0.15, 0.096))
ABOVE_HOLE = (_from_target(0.1, -0.11, 0.16), _from_target(-0.1, -0.17, 0.19))


def _outside(state: State, slab: tuple[Point, Point]) -> Tensor:
    """1 while the peg's head is outside a slab; inside, less the nearer to its zero corner."""
    zero, one = slab
    size = tuple(b - a for a, b in zip(zero, one, strict=True))
    along = (state.part - state.target - constant(zero, state.part)) / constant(size, state.part)
    inside = ((along >= 0) & (along <= 1)).all(-1)
    return torch.where(inside, along.prod(-1), 1.0)


def reward(state: State) -> Outcome:
    """Grasp the peg; once it is lifted, bring its head into the hole and not into the box."""
    scale = (1.0, 2.0, 2.0)
    error = distance(state.part, state.target, scale)
    margin = distance(state.initial.part, state.target, scale)
    free = hamacher(_outside(state, ABOVE_HOLE), _outside(state, BELOW_HOLE))
    in_place = hamacher(tolerance(error, (0.0, SUCCESS_RADIUS), margin), free)

    held = (
        (distance(state.object, state.tcp) < 0.08)
        & (state.openness > 0)
        & (state.object[:, 2] - 0.01 > state.initial.object[:, 2])
    )
    grasped = dense_grasp(state, state.object, radius=0.0075, pad_reach=0.03, xz_reach=0.005)
    grasped = torch.where(held, 1.0, grasped)
    value = hamacher(grasped, in_place) + held * (1 + 5 * in_place)
    success = error <= SUCCESS_RADIUS
    return Outcome(torch.where(success, 10.0, value), success)
