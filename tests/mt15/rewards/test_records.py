"""Rewards and success against what Meta-World itself gave, on committed records.

``python -m tsil.mt15.parity --states 360 --records tests/mt15/rewards/records`` made them.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
import torch

from tsil.mt15.parity import Record, compare, read_record
from tsil.mt15.rewards import REWARDS
from tsil.mt15.state import Initial, State

RECORDS = Path(__file__).with_name("records")
FIELDS = [f.name for f in fields(State) if f.name != "initial"]


@pytest.fixture(params=REWARDS)
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def record(task: str) -> Record:
    return read_record(RECORDS / f"{task}.npz")


def transformed(state: State, change: object) -> State:
    """A state with ``change`` applied to each of its tensors."""
    initial = Initial(*(change(getattr(state.initial, f.name)) for f in fields(Initial)))  # type: ignore[operator]
    return replace(state, **{n: change(getattr(state, n)) for n in FIELDS}, initial=initial)  # type: ignore[operator]


def test_equals_meta_world(task: str, record: Record) -> None:
    comparison = compare(task, record)
    assert comparison.states >= 300
    assert comparison.difference <= 1e-5
    assert comparison.mismatches == 0


def test_record_shows_more_than_one_side_of_the_task(record: Record) -> None:
    reward, success = record.meta_world
    assert 5 <= success.sum() <= 0.5 * len(success)
    assert reward.min() >= 0
    assert reward.min() < 1
    assert reward.max() > 8


def test_single_precision_in_columns_is_enough(task: str, record: Record) -> None:
    """The environment's layout: one contiguous row a coordinate, float32."""
    state = transformed(
        record.state, lambda x: x.float().movedim(0, -1).contiguous().movedim(-1, 0)
    )
    ours = REWARDS[task](state)
    assert ours.reward.dtype == torch.float32
    torch.testing.assert_close(ours.reward.double(), record.meta_world.reward, atol=1e-4, rtol=0)
    assert torch.equal(ours.success, record.meta_world.success)


def test_worlds_do_not_touch_each_other_nor_the_state(task: str, record: Record) -> None:
    state = transformed(record.state, lambda x: x.clone())
    together = REWARDS[task](state)
    assert all(torch.equal(getattr(state, n), getattr(record.state, n)) for n in FIELDS)
    some = torch.tensor([7, 3, 250])
    alone = REWARDS[task](transformed(state, lambda x: x[some]))
    assert torch.equal(alone.reward, together.reward[some])
    assert torch.equal(alone.success, together.success[some])


def test_a_wrong_reward_is_seen(record: Record, task: str) -> None:
    moved = replace(record.state, target=record.state.target + 0.001)
    comparison = compare(task, Record(moved, record.meta_world))
    assert not comparison.equal
    assert comparison.difference > 1e-5
