"""Placements against what Meta-World draws its episodes from, as the records hold it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tsil.mt15.placement import PLACEMENTS
from tsil.mt15.rewards import REWARDS

RECORDS = Path(__file__).parent / "rewards" / "records"
NEVER_MIND = 2e-3
"""Meta-World widens some points to boxes of a millimetre, since its spaces cannot be points."""

RESTS_HIGHER = ("bin-picking", "stick-pull")
"""Meta-World draws a height and then puts the object at another one."""
GOAL_STAYS = ("bin-picking", "sweep-into-goal")
"""Meta-World draws a goal and does not use it."""


@pytest.mark.parametrize("task", REWARDS)
def test_equals_meta_world(task: str) -> None:
    placement = PLACEMENTS[task]
    with np.load(RECORDS / f"{task}.npz", allow_pickle=False) as record:
        drawn_low, drawn_high = record["drawn_low"], record["drawn_high"]
        assert placement.hand_start == pytest.approx(record["hand_start"], abs=1e-6)
        assert placement.hand_low == pytest.approx(record["hand_low"])
        assert placement.hand_high == pytest.approx(record["hand_high"])

    axes = 2 if task in RESTS_HIGHER else 3
    assert placement.object_low[:axes] == pytest.approx(drawn_low[:axes], abs=NEVER_MIND)
    assert placement.object_high[:axes] == pytest.approx(drawn_high[:axes], abs=NEVER_MIND)
    if len(drawn_low) == 3 or task in GOAL_STAYS:
        assert placement.goal_low is None
        assert placement.goal_high is None
    else:
        assert placement.goal_low == pytest.approx(drawn_low[3:], abs=NEVER_MIND)
        assert placement.goal_high == pytest.approx(drawn_high[3:], abs=NEVER_MIND)
