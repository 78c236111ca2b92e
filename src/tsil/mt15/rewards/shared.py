"""The terms Meta-World's rewards are made of, on tensors of n worlds."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from tsil.mt15.state import State


class Outcome(NamedTuple):
    """What a task says about n worlds."""

    reward: Tensor
    """(n,) dense reward, 0 to 10."""
    success: Tensor
    """(n,) bool: the task is done."""


@lru_cache(maxsize=256)
def _constant(values: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=dtype, device=device)


def constant(values: tuple[float, ...], like: Tensor) -> Tensor:
    """``values`` as a tensor beside ``like``; made once, since a copy to a GPU would wait."""
    return _constant(values, like.dtype, like.device)


def distance(a: Tensor, b: Tensor, scale: tuple[float, ...] | None = None) -> Tensor:
    """Euclidean distance (n,) of points (n, d), with each axis stretched by ``scale``."""
    difference = a - b
    if scale is not None:
        difference = difference * constant(scale, difference)
    return length(difference)


def length(vector: Tensor) -> Tensor:
    """Euclidean length (n,) of vectors (n, d).

    Ten times as fast as torch's norm where the worlds, not the axes, are contiguous.
    """
    return vector.square().sum(-1).sqrt()


def hamacher(a: Tensor, b: Tensor) -> Tensor:
    """Hamacher product of a and b in [0, 1]: a soft *and*, 0 where either is 0."""
    product = a * b
    return product / (a + b - product).clamp(min=torch.finfo(a.dtype).tiny)


Sigmoid = Literal[
    "gaussian",
    "hyperbolic",
    "long_tail",
    "reciprocal",
    "cosine",
    "linear",
    "quadratic",
    "tanh_squared",
]

# Each falls from 1 at x = 0 to v at x = 1, for x >= 0.
_SIGMOIDS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "gaussian": lambda x, v: torch.exp(math.log(v) * x.square()),
    "hyperbolic": lambda x, v: 1 / torch.cosh(math.acosh(1 / v) * x),
    "long_tail": lambda x, v: ((1 / v - 1) * x.square() + 1).reciprocal(),
    "reciprocal": lambda x, v: ((1 / v - 1) * x + 1).reciprocal(),
    "cosine": lambda x, v: (torch.cos((math.acos(2 * v - 1) * x).clamp(max=math.pi)) + 1) / 2,
    "linear": lambda x, v: (1 - (1 - v) * x).clamp(min=0),
    "quadratic": lambda x, v: (1 - (1 - v) * x.square()).clamp(min=0),
    "tanh_squared": lambda x, v: 1 - torch.tanh(math.atanh(math.sqrt(1 - v)) * x).square(),
}
_ZERO_AT_MARGIN = ("cosine", "linear", "quadratic")


def tolerance(
    x: Tensor,
    bounds: tuple[float, float],
    margin: Tensor | float,
    sigmoid: Sigmoid = "long_tail",
    value_at_margin: float = 0.1,
) -> Tensor:
    """1 where x lies within ``bounds``, falling to ``value_at_margin`` at ``margin`` outside.

    A margin of zero makes everything outside zero. ``margin`` broadcasts against x.
    """
    lower, upper = bounds
    if lower > upper:
        raise ValueError(f"bounds are (lower, upper) with lower <= upper, not ({lower}, {upper})")
    if not (0 < value_at_margin < 1 or (value_at_margin == 0 and sigmoid in _ZERO_AT_MARGIN)):
        raise ValueError(
            f"value_at_margin lies between 0 and 1, not {value_at_margin}; "
            f"0 itself is for {', '.join(_ZERO_AT_MARGIN)}"
        )
    outside = torch.maximum(lower - x, x - upper)
    value = _SIGMOIDS[sigmoid](outside / margin, value_at_margin)
    return torch.where(outside > 0, value, 1.0)


def _pads_y(state: State) -> Tensor:
    """y of the left and the right pad, (2, n) metres."""
    return torch.stack((state.left_pad[:, 1], state.right_pad[:, 1]))


def _reach_xz(state: State, position: Tensor, start: Tensor, reach: float) -> Tensor:
    """1 when the fingertips are within ``reach`` of ``position`` in the x–z plane; (n,).

    The margin is the distance from where they started to ``start``, (n, 3).
    """
    margin = distance(start[:, ::2], state.initial.tcp[:, ::2]) - reach
    now = distance(state.tcp[:, ::2], position[:, ::2])
    return tolerance(now, (0.0, reach), margin)


class Grasp(NamedTuple):
    """How well an object is held."""

    caging: Tensor
    """(n,) in [0, 1]: it lies between the pads."""
    gripping: Tensor
    """(n,) in [0, 1]: it does, and the gripper is told to close."""


def grasp(
    state: State,
    position: Tensor,
    radius: float,
    pad_reach: float,
    xz_reach: float,
    effort: float = 1.0,
    start: Tensor | None = None,
) -> Grasp:
    """Caging and gripping of an object at ``position``, (n, 3).

    A pad is where it should be when it is between ``radius`` and ``pad_reach`` (metres) from the
    object in y; the margin around that is how far the pad is from having the same distance to
    ``start``, (n, 3), by default where the object started, so it grows as the object is carried
    away. ``xz_reach`` is how near the fingertips must come in the x–z plane and ``effort`` the
    gripper command that counts as fully closing.
    """
    if start is None:
        start = state.initial.object
    pads = _pads_y(state)
    margin = ((pads - start[:, 1]).abs() - pad_reach).abs()
    left, right = tolerance((pads - position[:, 1]).abs(), (radius, pad_reach), margin)
    caging = hamacher(hamacher(left, right), _reach_xz(state, position, start, xz_reach))
    closing = state.action[:, 3].clamp(0.0, effort) / effort
    return Grasp(caging, hamacher(caging, torch.where(caging > 0.97, closing, 0.0)))


def dense_grasp(
    state: State,
    position: Tensor,
    radius: float,
    pad_reach: float,
    xz_reach: float,
    effort: float = 1.0,
    start: Tensor | None = None,
) -> Tensor:
    """Mean of caging and gripping, (n,) in [0, 1]; arguments as in ``grasp``."""
    caging, gripping = grasp(state, position, radius, pad_reach, xz_reach, effort, start)
    return (caging + gripping) / 2


def straddle(state: State, radius: float, grip_slack: float, xz_reach: float) -> Tensor:
    """How well the open hand straddles an object that it is to push, (n,) in [0, 1].

    Other than in ``grasp`` each pad must be on its own side (left at +y), margins follow from
    where the pads started, and gripping is pads within ``radius + grip_slack`` whatever the
    gripper is told.
    """
    pad_reach = 0.05
    y = state.object[:, 1]
    side = torch.stack((state.left_pad[:, 1] - y, y - state.right_pad[:, 1]))
    started = torch.stack((state.initial.left_pad[:, 1], state.initial.right_pad[:, 1]))
    margin = ((y - started).abs() - pad_reach).abs()
    left, right = tolerance(side, (radius, pad_reach), margin)
    caging = hamacher(
        hamacher(left, right), _reach_xz(state, state.object, state.initial.object, xz_reach)
    )
    left, right = tolerance(side, (radius, radius + grip_slack), margin)
    return (caging + torch.where(caging > 0.95, hamacher(left, right), 0.0)) / 2


def beneath_hand(state: State, reach: float) -> Tensor:
    """The object's position, (n, 3), slid along x to the hand where it is within ``reach`` of it.

    A handle along x may be held anywhere on its length.
    """
    x, hand_x = state.object[:, 0], state.hand[:, 0]
    position = state.object.clone()
    position[:, 0] = torch.where((x - hand_x).abs() < reach, hand_x, x)
    return position


def orientation(state: State, ideal: tuple[float, ...], slack: float) -> Tensor:
    """1 when the object's quaternion is ``ideal``, 0 when ``slack`` or more away from it; (n,)."""
    error = distance(state.object_quaternion, constant(ideal, state.object_quaternion))
    return (1 - error / slack).clamp(min=0)


def funnel(radius: Tensor, throat: Tensor | float, slope: float, height: float) -> Tensor:
    """Height (n,) of a funnel at ``radius`` (n,) from its axis; 0 inside its throat, metres."""
    return torch.where(radius > throat, slope * torch.log(radius - throat) + height, 0.0)


def clearance(height: Tensor, floor: Tensor, margin: Tensor | float) -> Tensor:
    """1 above ``floor`` and up to 1 cm below it, falling off with ``margin``; (n,)."""
    return tolerance((floor - height).clamp(min=0), (0.0, 0.01), margin)
