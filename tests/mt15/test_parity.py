"""The parity command, as far as it goes without Meta-World."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tsil.mt15.parity import Comparison, main, make_environment, read_record, table


def test_an_unknown_task_is_named_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no task 'drawer-opn'.*did you mean 'drawer-open'"):
        main(("drawer-opn",))


def test_an_environment_that_is_there_is_used(tmp_path: Path) -> None:
    (tmp_path / "ready").touch()
    assert make_environment(tmp_path) == tmp_path / "bin" / "python"


def test_equality_asks_for_both_reward_and_success() -> None:
    assert Comparison("soccer", 10, 1, 9e-6, 0).equal
    assert not Comparison("soccer", 10, 1, 2e-5, 0).equal
    assert not Comparison("soccer", 10, 1, 0.0, 1).equal


def test_table_names_every_number() -> None:
    head, row = table([Comparison("soccer", 360, 62, 2.7e-15, 3)]).splitlines()
    assert head.split() == ["task", "states", "successes", "largest", "difference", "mismatches"]
    assert row.split() == ["soccer", "360", "62", "2.7e-15", "3"]


def test_a_pickled_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.npz"
    np.savez(path, reward=np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        read_record(path)
