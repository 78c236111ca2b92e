"""The fifteen tasks. Each is a module of this package that defines ``TASK``."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from tsil.mt15.task import Task

NAMES = (
    "assembly",
    "basketball",
    "bin-picking",
    "box-close",
    "door-lock",
    "drawer-open",
    "hammer",
    "hand-insert",
    "lever-pull",
    "peg-insert-side",
    "peg-unplug-side",
    "pick-out-of-hole",
    "soccer",
    "stick-pull",
    "sweep-into-goal",
)
"""In the order of MTBench's numbers."""


def task(name: str) -> Task:
    """The task of that name."""
    if name not in NAMES:
        nearest = get_close_matches(name, NAMES, n=1, cutoff=0.0)[0]
        raise ValueError(
            f"There is no task {name!r}; there are {', '.join(NAMES)}; the nearest is {nearest!r}."
        )
    module = import_module(f"tsil.mt15.tasks.{name.replace('-', '_')}")
    found = module.TASK
    assert isinstance(found, Task)
    return found
