"""Meta-World's dense rewards and success tests of the fifteen tasks, by task name.

Each is a pure function of a ``State``: no simulator, no memory. Rewards run from 0 to 10.
"""

from __future__ import annotations

from collections.abc import Callable

from tsil.mt15.rewards import (
    assembly,
    basketball,
    bin_picking,
    box_close,
    door_lock,
    drawer_open,
    hammer,
    hand_insert,
    lever_pull,
    peg_insert_side,
    peg_unplug_side,
    pick_out_of_hole,
    soccer,
    stick_pull,
    sweep_into_goal,
)
from tsil.mt15.rewards.shared import Outcome
from tsil.mt15.state import State

REWARDS: dict[str, Callable[[State], Outcome]] = {
    "assembly": assembly.reward,
    "basketball": basketball.reward,
    "bin-picking": bin_picking.reward,
    "box-close": box_close.reward,
    "door-lock": door_lock.reward,
    "drawer-open": drawer_open.reward,
    "hammer": hammer.reward,
    "hand-insert": hand_insert.reward,
    "lever-pull": lever_pull.reward,
    "peg-insert-side": peg_insert_side.reward,
    "peg-unplug-side": peg_unplug_side.reward,
    "pick-out-of-hole": pick_out_of_hole.reward,
    "soccer": soccer.reward,
    "stick-pull": stick_pull.reward,
    "sweep-into-goal": sweep_into_goal.reward,
}

__all__ = ["REWARDS", "Outcome"]
