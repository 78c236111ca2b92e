"""Subject: Meta-World's own task, stepped by Gymnasium's asynchronous vector environment.

As many worlds as it is fastest with.
"""
# mypy: ignore-errors
# Runs in a virtual environment of its own.

import os
import time

import gymnasium
import metaworld  # noqa: F401, registers the tasks
import numpy as np
from gymnasium.vector import AsyncVectorEnv

SECONDS = 2.0
"""Of stepping in a repeat."""


def prepare(settings):
    """settings: task."""
    name = f"{settings['task']}-v3"
    cores = len(os.sched_getaffinity(0))

    def make():
        return gymnasium.make("Meta-World/MT1", env_name=name, seed=0)

    def stepping(count):
        worlds = AsyncVectorEnv([make] * count)
        worlds.reset(seed=0)
        generator = np.random.default_rng(0)
        actions = generator.uniform(-1, 1, (64, count, 4)).astype(np.float32)

        def repeat():
            steps, end = 0, time.perf_counter() + SECONDS
            while time.perf_counter() < end:
                for action in actions:
                    worlds.step(action)
                steps += len(actions) * count
            return steps

        return worlds, repeat

    rates = {}
    for count in (cores, 2 * cores, 4 * cores):
        worlds, repeat = stepping(count)
        start = time.perf_counter()
        rates[count] = repeat() / (time.perf_counter() - start)
        worlds.close()
    best = max(rates, key=rates.get)
    _, repeat = stepping(best)
    return {"repeat": repeat, "settings": lambda: {"worlds": best}}
