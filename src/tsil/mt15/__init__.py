"""MT15: fifteen manipulation tasks of Meta-World with a Franka arm, on MuJoCo."""

from __future__ import annotations

import os

from tsil.mt15.engine.cpu import CpuEngine
from tsil.mt15.environment import MT15Environment
from tsil.mt15.scene import compile_scene
from tsil.mt15.task import Task
from tsil.mt15.tasks import NAMES, task

__all__ = ["NAMES", "MT15Environment", "Task", "make", "task"]


def make(name: str, num_environments: int, threads: int | None = None) -> MT15Environment:
    """An environment of ``num_environments`` worlds of a task, stepped by ``threads`` threads.

    Without ``threads`` it takes every processor this process may use. Results do not depend on it.
    """
    chosen = task(name)
    if num_environments < 1:
        raise ValueError(
            f"num_environments is {num_environments}; it must be at least 1, which is the nearest."
        )
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; it must be at least 1, which is the nearest.")
    model = compile_scene(chosen.scene)
    count = threads if threads is not None else len(os.sched_getaffinity(0))
    return MT15Environment(chosen, CpuEngine(model, num_environments, min(count, num_environments)))
