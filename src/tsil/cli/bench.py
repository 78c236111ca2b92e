"""``tsil bench``: how fast it is here, and where the time goes."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass

from tsil.cli import threads as cores
from tsil.cli.arguments import at_least, parse
from tsil.tasks import task_named


@dataclass(frozen=True)
class Arguments:
    """Measure speed: bare physics, environment, policy, PPO and TSIL training, and their ratios.

    Each runs in a process of its own; they take turns, and medians over the turns count. Leave
    the machine alone meanwhile.
    """

    task: str = "drawer-open"
    """An MT15 task."""
    worlds: int = 512
    """Parallel worlds."""
    repeats: int = 5
    """Turns that everybody gets."""
    threads: int = 0
    """CPU threads; 0 is one per core."""
    peers: bool = False
    """Measure SB3, rsl_rl and Meta-World too, in virtual environments made for them on first use
    (needs a network or a package index then)."""
    profile: bool = False
    """Say where in the code the time goes and what changes it."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> int:
    """Measure."""
    asked = parse(Arguments, "bench", arguments)
    for name, least in (("worlds", 1), ("repeats", 1), ("threads", 0)):
        at_least(name, getattr(asked, name), least)
    facts = task_named(asked.task)
    if facts.number is None or not facts.ready:
        what = "is no MT15 task" if facts.number is None else "is not available here"
        raise ValueError(f"--task {asked.task!r} {what}: drawer-open is one")
    # This process only waits: its torch, which the measured processes do not share, gets one core.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    from tsil.benchmark.run import Request, measure
    from tsil.benchmark.words import show

    request = Request(
        asked.task,
        asked.worlds,
        asked.repeats,
        asked.threads or cores.available(),
        asked.profile,
        asked.peers,
    )
    result = measure(request, lambda news: print(news, file=sys.stderr))
    if asked.json:
        print(json.dumps(result, indent=2))
        return 0
    from rich.console import Console

    show(result, Console())
    return 0
