"""assembly: lift a ring by its handle and drop it over a peg.

``object`` is the middle of the handle, 13 cm from the ring's centre, which is ``part``;
``object_quaternion`` is the ring's body, lying flat with the handle along +x when it is
(√½, 0, 0, √½). ``target`` is the top of the peg. ``initial.object`` is where the ring's *centre*
starts.
"""

from __future__ import annotations

import torch

from tsil.mt15.rewards.shared import (
    Outcome,
    beneath_hand,
    distance,
    funnel,
    grasp,
    length,
    orientation,
    tolerance,
)
from tsil.mt15.state import State

FLAT = (0.707, 0.0, 0.0, 0.707)


def reward(state: State) -> Outcome:
    """Grasp the handle, carry the ring over the peg and let it down, all the while kept flat."""
    handle = beneath_hand(state, 0.01)
    gripped = grasp(state, handle, radius=0.015, pad_reach=0.02, xz_reach=0.01)
    margin = (distance(state.initial.object, state.initial.tcp) - 0.01).abs()
    reaching = tolerance(distance(handle, state.tcp), (0.0, 0.01), margin)
    grabbed = (gripped.gripping + reaching) / 2

    above, center_height = state.target - state.part, state.part[:, 2]
    radius = length(above[:, :2])
    success = (radius < 0.02) & (above[:, 2] > 0)
    # Wider once it is done: no more accuracy is asked for than the task needs.
    throat = torch.where(success, 0.02, 0.01)
    above_floor = 3 * (funnel(radius, throat, 0.02, 0.2) - center_height)
    lifted = (center_height > 0.02) | (radius < throat)
    in_place = 0.1 * lifted + 0.9 * tolerance(torch.hypot(radius, above_floor), (0.0, 0.02), 0.4)

    value = (2 * grabbed + 6 * in_place) * orientation(state, FLAT, 0.4)
    return Outcome(torch.where(success, 10.0, value), success)
