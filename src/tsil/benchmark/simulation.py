"""Subjects: the physics alone, and the whole environment doing the same.

Both start from the same moment of a task under way and follow the same random actions, so that
the physics simulates the same motions and contacts in both.
"""

from __future__ import annotations

from typing import Any

import torch

from tsil import mt15
from tsil.benchmark.worker import Orders
from tsil.mt15.environment import SUBSTEPS

STEPS = 32
"""Control steps of one repeat."""
UNDER_WAY = 60
"""Control steps before that moment."""


def prepare(settings: dict[str, Any]) -> Orders:
    """settings: task, worlds, threads, and part: physics or environment."""
    threads = settings["threads"]
    torch.set_num_threads(threads)
    environment = mt15.make(settings["task"], settings["worlds"], threads)
    n, generator = environment.num_environments, torch.Generator().manual_seed(0)
    environment.reset(0, torch.randint(environment.horizon, (n,), generator=generator))

    def actions() -> torch.Tensor:
        return torch.randn(n, environment.action_size, generator=generator)

    for _ in range(UNDER_WAY):
        environment.step(actions())
    engine, control = environment.engine, environment.engine.field("ctrl")
    moment, physics = environment.state(), engine.state()
    script = [actions() for _ in range(STEPS)]
    commands = []
    for action in script:
        environment.step(action)
        commands.append(control.clone())

    def simulate() -> int:
        engine.restore(physics)
        for command in commands:
            control.copy_(command)
            engine.step(SUBSTEPS)
        return n * STEPS

    def act() -> int:
        environment.restore(moment)
        for action in script:
            environment.step(action)
        return n * STEPS

    return {"repeat": simulate if settings["part"] == "physics" else act}
