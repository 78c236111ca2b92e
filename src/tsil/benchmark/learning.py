"""Subjects: the policy alone, and training by any method."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch

from tsil.benchmark.parts import by_operator, by_part
from tsil.benchmark.worker import Orders
from tsil.method.configuration import Configuration
from tsil.method.learner import Learner
from tsil.tasks import make_environment

WARM_UP = 12
"""Iterations before the first repeat. Episodes take five; after them the memory is in use."""


def prepare(settings: dict[str, Any]) -> Orders:
    """settings: task, worlds, threads, configuration, and part: inference or training."""
    threads = settings["threads"]
    torch.set_num_threads(threads)
    configuration = Configuration.from_flat(settings["configuration"])
    environment = make_environment(settings["task"], settings["worlds"], threads)
    learner = Learner(environment, configuration)
    if settings["part"] == "inference":
        return _inference(learner)
    for _ in range(WARM_UP):
        record = learner.iterate()
    fresh = configuration.environments * configuration.rollout

    def train() -> int:
        nonlocal record
        record = learner.iterate()
        return fresh

    return {
        "repeat": train,
        "record": lambda: asdict(record),
        "parts": lambda: by_part(learner),
        "operators": lambda: by_operator(learner),
    }


def _inference(learner: Learner) -> Orders:
    policy, generator = learner.policy, torch.Generator().manual_seed(0)
    n, rollout = learner.environment.num_environments, learner.configuration.rollout
    observation = torch.randn(n, learner.environment.observation_size, generator=generator)
    elapsed, target = torch.zeros(n), learner.targets.seconds

    def act() -> int:
        for _ in range(rollout):
            policy.act(observation, elapsed, target, generator)
        return n * rollout

    act()
    return {"repeat": act}
