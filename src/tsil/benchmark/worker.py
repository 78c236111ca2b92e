"""A process that does one kind of work whenever it is told to, and says how long it took.

``python worker.py SUBJECT.py SETTINGS`` loads a subject, a file with a function
``prepare(settings) -> {order: function}``, says that it is ready, and then carries out the orders
it reads. This file imports nothing but the standard library, because subjects of other packages
live in virtual environments that know nothing of ours.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import IO, Any

Orders = dict[str, Callable[[], Any]]
"""What a subject can do. ``repeat`` does the work once and returns how many environment steps that
was."""


def load(path: str, settings: dict[str, Any]) -> Orders:
    """The subject in the file ``path``, ready."""
    spec = importlib.util.spec_from_file_location("subject", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["subject"] = module
    spec.loader.exec_module(module)
    orders: Orders = module.prepare(settings)
    return orders


def timed(order: Callable[[], Any]) -> dict[str, Any]:
    """Carry out an order: its result, and the seconds on the clock and on the processors."""
    before, start = _processor_seconds(), time.perf_counter()
    value = order()
    return {
        "value": value,
        "seconds": time.perf_counter() - start,
        "processor_seconds": _processor_seconds() - before,
    }


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main(path: str, settings: str) -> None:
    """Serve until nobody gives orders any more."""
    answers = _private_output()
    orders = load(path, json.loads(settings))
    _say(answers, {"ready": True})
    for line in sys.stdin:
        _say(answers, timed(orders[line.strip()]))


def _private_output() -> IO[str]:
    """Where answers go; whatever a subject prints goes to standard error instead."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _say(answers: IO[str], what: dict[str, Any]) -> None:
    print(json.dumps(what), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
