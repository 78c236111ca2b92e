"""What is held stays where it is in the hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tsil.mt15 import make
from tsil.mt15.scripted import CLOSE, Stage, follow, held, offset, take

WIDTH, GRIP = 0.04, 0.033
"""Of bin-picking's cube, and the hand above it, metres."""


def in_frame(quaternion: Tensor, vector: Tensor) -> Tensor:
    """Vectors (n, 3) as seen from frames turned by quaternions (n, 4)."""
    w, axis = quaternion[:, :1], -quaternion[:, 1:]
    twice = 2 * torch.linalg.cross(axis, vector)
    return vector + w * twice + torch.linalg.cross(axis, twice)


@pytest.mark.parametrize(("noise", "slip"), [(0.0, 1e-3), (0.3, 2e-3)])
def test_a_cube_does_not_creep_out_of_the_grip(noise: float, slip: float) -> None:
    """Held for a second and a half, quietly or under noisy actions."""
    worlds = 16
    environment = make("bin-picking", worlds, threads=1)
    environment.reset(seed=3)
    state = environment.named_positions
    up = offset(state.object, z=GRIP + 0.12)
    generator = torch.Generator().manual_seed(0)
    taken = torch.zeros(worlds, 3)
    for moment in range(149):
        lift = Stage(up, CLOSE, when=held(state, state.object, WIDTH), gain=10.0)
        action = follow(state, lift, *take(state, state.object, GRIP))
        if moment >= 60:
            action[:, :3] += noise * torch.randn(worlds, 3, generator=generator)
            action[:, 3] = 1.0
        environment.step(action)
        seen = in_frame(environment._columns["hand_quaternion"].T, state.object - state.tcp)
        if moment == 60:
            assert (state.object[:, 2] > state.initial.object[:, 2] + 0.05).all()
            taken = seen
    assert (seen - taken).norm(dim=1).mean() < slip
    environment.close()
