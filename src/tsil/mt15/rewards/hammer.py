"""hammer: drive a nail into a block, along +y.

``object`` is the middle of the hammer's handle, which lies along +x with the head at its end;
``object_quaternion`` is the hammer's body, (1, 0, 0, 0) as it starts. ``second`` is the nail's
head, ``target`` where it ends when the nail is in.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import (
    Outcome,
    beneath_hand,
    constant,
    dense_grasp,
    distance,
    orientation,
    tolerance,
)
from tsil.mt15.state import State

FACE = (0.16, 0.06, 0.0)
"""From the middle of the handle to the hammer's face, metres."""
HANDLE_LENGTH = 0.14
DRIVEN = 0.09
"""Success: the nail has moved farther than this, metres."""


def reward(state: State) -> Outcome:
    """Grasp the handle and bring the hammer's face to the nail's end, kept as it lay."""
    handle = beneath_hand(state, HANDLE_LENGTH / 2)
    grasped = dense_grasp(state, handle, radius=0.015, pad_reach=0.02, xz_reach=0.01)

    face = state.object + constant(FACE, state.object)
    in_place = 0.1 * (face[:, 2] > 0.02) + 0.9 * tolerance(
        distance(face, state.target), (0.0, 0.02), 0.2
    )
    value = (2 * grasped + 6 * in_place) * orientation(state, (1.0, 0.0, 0.0, 0.0), 0.4)

    success = state.second[:, 1] - state.initial.second[:, 1] > DRIVEN
    return Outcome(torch.where(success & (value > 5), 10.0, value), success)
