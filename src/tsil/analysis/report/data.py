"""What a page is made of: runs, read once, and grouped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsil.analysis.style import Ink, inks
from tsil.method.configuration import Configuration, flatten
from tsil.method.methods import METHODS, method_named
from tsil.runs.directory import RunDirectory, Setup
from tsil.runs.files import read_json

POINTS = 120
"""Points that a curve is drawn with."""

Curve = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RunData:
    """One run as read from its directory."""

    directory: RunDirectory
    configuration: Configuration
    setup: Setup
    lines: list[dict[str, Any]]
    """One per iteration."""
    evaluations: list[dict[str, Any]]
    machine: list[dict[str, Any]]
    """One entry per sitting."""

    @property
    def steps(self) -> Curve:
        """Environment steps after each iteration."""
        return self.column("steps")

    def column(self, name: str, part: int | None = None) -> Curve:
        """A metric over iterations; NaN where there is no number. part: of a metric with many."""
        return np.array([_number(line.get(name), part) for line in self.lines])

    def total(self, name: str) -> float:
        """Sum of a metric over all iterations."""
        values = self.column(name)
        return float(np.nansum(values)) if len(values) else 0.0

    def last(self, name: str) -> float:
        """A metric after the last iteration."""
        return _number(self.lines[-1].get(name), None) if self.lines else math.nan


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in nothing but their seed."""

    label: str
    key: str
    """Name of its colour in the page."""
    method: str
    ink: Ink
    runs: list[RunData]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a section may look at."""

    title: str
    tasks: dict[str, list[Group]]
    """Groups by task."""

    @property
    def groups(self) -> list[Group]:
        """All groups of all tasks."""
        return [group for groups in self.tasks.values() for group in groups]

    @property
    def runs(self) -> list[RunData]:
        """All runs."""
        return [run for group in self.groups for run in group.runs]


def read_run(path: Path) -> RunData:
    """A run directory's contents; what is damaged in it is refused by name."""
    directory = RunDirectory(path)
    configuration, setup = directory.read()
    machine = read_json(directory.machine) if directory.machine.is_file() else []
    if not isinstance(machine, list) or not all(isinstance(entry, dict) for entry in machine):
        raise ValueError(f"{directory.machine} must hold a list of sittings")
    lines = list(directory.lines())
    if not lines:
        raise ValueError(f"{path} has no metrics yet: train it for an iteration first")
    return RunData(directory, configuration, setup, lines, list(directory.evaluated()), machine)


def read_report(paths: Sequence[Path], title: str | None = None) -> Report:
    """Runs, grouped by task and by everything but the seed."""
    runs = [read_run(path) for path in paths]
    settings = [_settings(run) for run in runs]
    varying = [
        name
        for name in settings[0]
        if name not in ("seed", "method") and len({str(s[name]) for s in settings}) > 1
    ]
    labelled: dict[tuple[str, str], list[RunData]] = {}
    for run, values in zip(runs, settings, strict=True):
        details = [f"{name} {values[name]}" for name in varying]
        label = " · ".join([method_named(run.configuration.method).title, *details])
        labelled.setdefault((run.setup.task or "own environment", label), []).append(run)
    labels = list(
        dict.fromkeys(
            (label, found[0].configuration.method) for (_, label), found in labelled.items()
        )
    )
    ink = inks(labels)
    key = {label: f"ink{number}" for number, (label, _) in enumerate(labels)}
    tasks: dict[str, list[Group]] = {}
    order = list(METHODS)
    labelled = dict(
        sorted(labelled.items(), key=lambda item: order.index(item[1][0].configuration.method))
    )
    for (task, label), found in labelled.items():
        method = found[0].configuration.method
        tasks.setdefault(task, []).append(Group(label, key[label], method, ink[label], found))
    return Report(title or ", ".join(tasks), tasks)


def _settings(run: RunData) -> dict[str, Any]:
    return flatten(run.configuration)


def _number(value: Any, part: int | None) -> float:
    if part is not None:
        value = value[part] if isinstance(value, list) and len(value) > part else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else math.nan


def shared_steps(runs: Sequence[RunData]) -> Curve:
    """Steps at which curves of several runs are compared: as far as all of them got, and no
    finer than their iterations."""
    end = min(float(run.steps[-1]) for run in runs)
    reached = min(int((run.steps <= end).sum()) for run in runs)
    return np.linspace(0.0, end, min(POINTS, reached) + 1)[1:]


def resampled(run: RunData, values: Curve, steps: Curve) -> Curve:
    """Means of ``values`` between one entry of ``steps`` and the next.

    Where a metric has no value in a stretch (no success, no completion time), there is a gap.
    """
    bins = np.searchsorted(steps, run.steps - 0.5)
    found = np.isfinite(values) & (bins < len(steps))
    sums = np.bincount(bins[found], values[found], len(steps))
    counts = np.bincount(bins[found], minlength=len(steps))
    with np.errstate(invalid="ignore"):
        return sums / counts


def mean_and_sem(curves: Sequence[Curve]) -> tuple[Curve, Curve]:
    """Mean over seeds and the standard error of that mean; it is 0 for a single seed."""
    stacked = np.stack(curves)
    count = np.isfinite(stacked).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, np.nansum(stacked, axis=0) / count, math.nan)
        spread = np.nansum((stacked - mean) ** 2, axis=0) / np.maximum(count - 1, 1)
        sem = np.sqrt(spread / np.maximum(count, 1))
    return mean, sem
