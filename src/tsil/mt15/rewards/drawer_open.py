"""drawer-open: pull a drawer out by its handle.

``object`` is the middle of the handle, 17 cm in front of the drawer body's origin and 9 cm above
it when closed (1 cm behind the axis of Meta-World's bar); ``target`` lies ``PULL`` from there
toward the robot.
"""

from __future__ import annotations

from tsil.mt15.rewards.shared import Outcome, constant, distance, tolerance
from tsil.mt15.state import State

PULL = 0.2
"""From the closed handle to the target toward the robot, metres."""
SUCCESS_RADIUS = 0.03


def reward(state: State) -> Outcome:
    """The hand at the handle, first of all sideways and in depth; the handle at its target."""
    error = distance(state.object, state.target)
    opening = tolerance(error, (0.0, 0.02), PULL)

    scale = (3.0, 3.0, 1.0)
    closed = state.target + constant((0.0, PULL, 0.0), state.target)
    margin = distance(closed, state.initial.tcp, scale)
    reaching = tolerance(distance(state.object, state.hand, scale), (0.0, 0.01), margin)
    return Outcome(5 * (reaching + opening), error <= SUCCESS_RADIUS)
