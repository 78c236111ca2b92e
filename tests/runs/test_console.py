"""What the terminal shows."""

from __future__ import annotations

import dataclasses
import io
import math

import pytest
from rich.console import Console

from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Configuration
from tsil.method.learner import Learner, Record
from tsil.runs.health import warnings
from tsil.runs.training import Timing
from tsil.runs.watchers.console import ConsoleWatcher, amount, clock, curve

CONFIGURATION = Configuration.preset(
    "desk", environments=16, rollout=8, steps=1280, **{"ppo.minibatch": 64, "network.hidden": (8,)}
)


@pytest.fixture(scope="module")
def record() -> Record:
    found = Learner(PracticeEnvironment(16), CONFIGURATION).iterate()
    return dataclasses.replace(
        found, steps=640, success_rate=0.625, completion_time=0.5, memory_successes=40
    )


def watch(record: Record, counters: dict[str, int], terminal: bool, width: int = 100) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=width, color_system=None)
    watcher = ConsoleWatcher("TSIL · practice", CONFIGURATION, 100 / 60, "runs/here", console)
    watcher.watch(record, Timing(2.0, 0.5), counters)
    watcher.tell("Finishing.")
    watcher.close()
    return out.getvalue()


def test_the_panel_shows_every_figure(record: Record) -> None:
    shown = watch(record, {"diverged": 3, "idle": 0}, terminal=True)
    for part in (
        "TSIL · practice",
        "runs/here",
        "640 of 1.28k steps",
        "0:10 left",
        "62.5%",
        "0.50 s",
        "of at most 1.67 s",
        "1.67 s",
        "50% full of successes",
        "64 steps/s",
        "25% simulation, 75% learning",
        "diverged: 3 times so far",
        "Finishing.",
    ):
        assert part in shown, part
    assert "idle" not in shown


def test_a_narrow_terminal_is_kept_within(record: Record) -> None:
    shown = watch(record, {}, terminal=True, width=60)
    assert max(len(line) for line in shown.splitlines() if "│" in line) <= 80


def test_without_a_terminal_there_are_plain_lines(record: Record) -> None:
    shown = watch(record, {"diverged": 3}, terminal=False)
    assert "success  62.5%" in shown
    assert "warning: diverged: 3 times so far" in shown
    assert "\x1b" not in shown
    assert "│" not in shown
    assert all(len(line.splitlines()) <= 1 for line in shown.split("\n"))


def test_warnings(record: Record) -> None:
    assert warnings(record, {"diverged": 0}) == []
    broken = dataclasses.replace(record, value_loss=math.nan, kl=0.9, action_std=0.001, dropped=2)
    found = " ".join(warnings(broken, {}))
    for part in ("value_loss is not a number", "KL is 0.90", "0.001", "2 episodes given up"):
        assert part in found


def test_amounts_and_clocks() -> None:
    values = (0, 512, 1500, 64_000, 3e6, 2.5e9)
    assert [amount(x) for x in values] == ["0", "512", "1.50k", "64.0k", "3.00M", "2.50G"]
    assert [clock(x) for x in (0, 61, 3661, math.nan)] == ["0:00", "1:01", "1:01:01", "?"]


def test_the_curve_is_as_wide_as_it_may_be_and_keeps_the_ends() -> None:
    assert curve([0.0, 1.0], 10) == "▁█"
    long = curve([i / 999 for i in range(1000)], 36)
    assert len(long) == 36
    assert (long[0], long[-1]) == ("▁", "█")
