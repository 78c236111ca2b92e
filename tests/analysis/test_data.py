"""Curves of the page against slow references."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tsil.analysis.paper import reported, tables
from tsil.analysis.report.charts import short, ticks
from tsil.analysis.report.data import mean_and_sem, read_report, resampled, shared_steps
from tsil.analysis.report.sections import headline, steps_to
from tsil.analysis.style import METHOD_INK, inks
from tsil.method.configuration import Configuration
from tsil.method.methods import METHODS
from tsil.runs.directory import RunDirectory, Setup


def make_run(
    path: Path, rates: list[float | None], task: str = "practice", **changes: object
) -> Path:
    """A run directory with a success rate per iteration and nothing else."""
    directory = RunDirectory(path)
    directory.create(Configuration.preset("desk", **changes), Setup(task))
    for number, rate in enumerate(rates, start=1):
        line = {"iteration": number, "steps": 100 * number, "success_rate": rate, "seconds": 1.0}
        directory.append(line)
    return path


def test_every_method_has_a_colour_of_its_own() -> None:
    assert METHOD_INK.keys() == METHODS.keys()
    assert len({ink.light for ink in METHOD_INK.values()}) == len(METHODS)
    assert len({ink.dark for ink in METHOD_INK.values()}) == len(METHODS)


def test_variants_of_one_method_are_told_apart() -> None:
    chosen = inks([("TSIL", "tsil"), ("TSIL · k 1", "tsil"), ("TSIL · k 9", "tsil")])
    assert chosen["TSIL"] == METHOD_INK["tsil"]
    assert len({ink.light for ink in chosen.values()}) == 3


def test_resampling_is_the_mean_of_each_stretch_and_gaps_stay(tmp_path: Path) -> None:
    rates = [0.1, None, 0.3, 0.5, None, None, 0.9, 1.0]
    report = read_report([make_run(tmp_path / "run", rates)])
    (run,) = report.runs
    steps = np.array([200.0, 400.0, 600.0, 800.0])
    expected = []
    for low, high in ((0, 200), (200, 400), (400, 600), (600, 800)):
        inside = [
            rate
            for number, rate in enumerate(rates, start=1)
            if low < 100 * number <= high and rate is not None
        ]
        expected.append(sum(inside) / len(inside) if inside else math.nan)
    got = resampled(run, run.column("success_rate"), steps)
    np.testing.assert_allclose(got, expected)


def test_curves_go_as_far_as_all_runs_and_are_no_finer_than_their_iterations(
    tmp_path: Path,
) -> None:
    long, short_run = (
        make_run(tmp_path / "a", [0.5] * 9),
        make_run(tmp_path / "b", [0.5] * 4, seed=1),
    )
    steps = shared_steps(read_report([long, short_run]).runs)
    np.testing.assert_allclose(steps, [100, 200, 300, 400])


def test_mean_and_standard_error() -> None:
    curves = [np.array([1.0, math.nan, 5.0]), np.array([2.0, 3.0, 5.0]), np.array([6.0, 4.0, 5.0])]
    mean, sem = mean_and_sem(curves)
    np.testing.assert_allclose(mean, [3.0, 3.5, 5.0])
    np.testing.assert_allclose(
        sem, [np.std([1, 2, 6], ddof=1) / 3**0.5, np.std([3, 4], ddof=1) / 2**0.5, 0.0]
    )


def test_runs_are_grouped_by_everything_but_the_seed(tmp_path: Path) -> None:
    paths = [
        make_run(tmp_path / "a", [1.0], seed=0),
        make_run(tmp_path / "b", [1.0], seed=1),
        make_run(tmp_path / "c", [1.0], **{"imitation.k": 1}),
        make_run(tmp_path / "d", [1.0], method="ih"),
        make_run(tmp_path / "e", [1.0], task="hammer"),
    ]
    report = read_report(paths)
    assert [(g.label, len(g.runs)) for g in report.tasks["practice"]] == [
        ("IH · imitation.k 5", 1),
        ("TSIL · imitation.k 5", 2),
        ("TSIL · imitation.k 1", 1),
    ]
    assert [len(g.runs) for g in report.tasks["hammer"]] == [1]


def test_steps_to_a_success_rate(tmp_path: Path) -> None:
    (run,) = read_report([make_run(tmp_path / "run", [0.1, 0.8, 0.5, 0.9])]).runs
    assert steps_to(run, 0.8) == 200
    assert steps_to(run, 0.95) is None


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.0, 0.007, [0, 0.002, 0.004, 0.006, 0.008]),
        (-3.0, 2.0, [-3, -2, -1, 0, 1, 2]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high, 5) == pytest.approx(expected)


def test_amounts_are_short() -> None:
    assert [short(x) for x in (0, 999, 1500, 3e6, 2.5e9)] == ["0", "999", "1.5k", "3M", "2.5G"]


def test_the_papers_numbers() -> None:
    assert reported("tsil")["success_rate"].mean == 0.986
    assert reported("ih")["completion_time_s"].std == 0.554
    assert reported("tsil", {"gradient_noise": 10.0})["success_rate"].mean == 0.953
    assert reported("attl-sil", {"reward_dropout": 0.6, "clip_ratio": None})["auc"].mean == 0.498
    assert reported("tsil", {"gradient_noise": 10.0, "reward_dropout": 0.6}) == {}
    assert reported("ih", {"gradient_noise": 10.0}) == {}
    assert tables()["main"].keys() == METHODS.keys()


def test_what_is_no_number_is_a_gap(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", [0.5])
    with open(path / "metrics.jsonl", "a") as file:
        line = {"iteration": 2, "steps": 200, "success_rate": "<b>", "target_quantiles": 3}
        file.write(json.dumps(line) + "\n")
    (run,) = read_report([path]).runs
    assert np.isnan(run.column("success_rate")[1])
    assert np.isnan(run.column("target_quantiles", 3)).all()


def test_the_headline_is_the_best_policys_latest_evaluation(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", [0.5])
    directory = RunDirectory(path)
    common = {"success_interval": [0.0, 1.0], "trials": 10, "completion_time": None}
    for policy, asked, rate in (
        ("last", "median", 0.1),
        ("best", "max", 0.9),
        ("last", "median", 0.2),
    ):
        directory.record_evaluation(
            {"policy": policy, "asked": asked, "success_rate": rate, **common}
        )
    assert "20.0%" in headline(read_report([path]))
    directory.record_evaluation(
        {"policy": "best", "asked": "median", "success_rate": 0.7, **common}
    )
    assert "70.0%" in headline(read_report([path]))
