"""door-lock: turn the lever of a lock from lying sideways (+x) to hanging down.

``object`` is the lever's tip, (9, -4, 1) cm from the lever's hinge in the lever's own frame;
``target`` lies (0, -4, -10) cm from the hinge, and only its height matters.
"""

from __future__ import annotations

from tsil.mt15.rewards.shared import Outcome, distance, hamacher, tolerance
from tsil.mt15.state import State

LEVER_LENGTH = 0.1
SUCCESS_HEIGHT = 0.02


def reward(state: State) -> Outcome:
    """The left pad, with the hand open, at the tip; the tip as low as its target."""
    scale = (0.25, 1.0, 0.5)
    margin = distance(state.object, state.initial.left_pad, scale)
    near = tolerance(distance(state.object, state.left_pad, scale), (0.0, 0.01), margin)

    error = (state.target[:, 2] - state.object[:, 2]).abs()
    turned = tolerance(error, (0.0, 0.005), LEVER_LENGTH)
    return Outcome(2 * hamacher(state.openness, near) + 8 * turned, error <= SUCCESS_HEIGHT)
