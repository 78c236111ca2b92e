"""Scripted policies: the first stage whose condition holds says where the hand goes.

A script is a function of the ``State`` alone, without memory, so that it recovers from a slip by
itself and runs on any number of worlds at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tsil.mt15.state import State, openness

OPEN, CLOSE = -1.0, 1.0
"""Gripper commands."""


@dataclass(slots=True)
class Stage:
    """Go to a waypoint while a condition holds."""

    waypoint: Tensor
    """(n, 3) metres: where the hand shall go."""
    gripper: float
    """Gripper command in [-1, 1], > 0 closes."""
    when: Tensor | None = None
    """(n,) bool; None, for the last stage, is always."""
    speed: float = 1.0
    """Largest action component while on the way."""
    gain: float = 30.0
    """Action per metre of distance."""


def follow(state: State, *stages: Stage) -> Tensor:
    """Actions (n, 4) of the first stage whose condition holds."""
    actions = torch.zeros_like(state.action)
    for stage in reversed(stages):
        move = (stage.waypoint - state.hand) * stage.gain
        # Shortened as a whole, so that the hand goes straight.
        excess = (move.abs().amax(1, keepdim=True) / stage.speed).clamp(min=1.0)
        gripper = move.new_full((len(move), 1), stage.gripper)
        action = torch.cat((move / excess, gripper), dim=1)
        actions = (
            action if stage.when is None else torch.where(stage.when[:, None], action, actions)
        )
    return actions


def offset(points: Tensor, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Tensor:
    """Points (n, 3) moved by metres along the axes."""
    return points + points.new_tensor((x, y, z))


def at_height(points: Tensor, z: float) -> Tensor:
    """Points (n, 3) put to a height in metres."""
    return torch.cat((points[:, :2], torch.full_like(points[:, 2:], z)), dim=1)


def apart(a: Tensor, b: Tensor) -> Tensor:
    """Horizontal distances (n,) in metres of points (n, 3)."""
    distances: Tensor = torch.linalg.vector_norm((a - b)[:, :2], dim=1)
    return distances


def held(state: State, point: Tensor, width: float) -> Tensor:
    """Whether (n,) the pads have closed firmly on something ``width`` metres wide along y.

    ``point``, (n, 3) metres, is where it is to be held; it must be at the fingertips. Pads that
    press with full force give by 2 to 3 mm together.
    """
    near: Tensor = torch.linalg.vector_norm(point - state.tcp, dim=1) < 0.03
    return near & (state.openness < openness(state.openness.new_tensor(width - 0.001)))


def take(state: State, point: Tensor, grip: float, above: float = 0.1) -> tuple[Stage, ...]:
    """Stages that take what is at ``point``, (n, 3) metres, from above.

    ``grip`` is the height (metres) of the hand above it when the pads close, ``above`` the height
    from which the hand comes down, slowly enough not to overshoot.
    """
    hand, ready = state.hand, offset(point, z=grip)
    return (
        Stage(offset(point, z=above), OPEN, when=apart(hand, point) > 0.02),
        Stage(ready, OPEN, when=hand[:, 2] > ready[:, 2] + 0.01, speed=0.6, gain=15.0),
        Stage(ready, CLOSE, speed=0.6, gain=15.0),
    )
