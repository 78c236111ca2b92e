"""Subject: what B(φ) weighs at the paper's size."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tsil.benchmark.worker import Orders
from tsil.method.configuration import Imitation, Network
from tsil.method.environment import Step
from tsil.method.memory import Memory
from tsil.method.policy import Policy
from tsil.method.rollout import Collector

WORLDS, HORIZON, INTERVAL = 6400, 150, 1 / 60
OBSERVATION, ACTION = 39, 4
SECONDS = (0.5, 0.9)
"""Completion times of the stored successes: spread evenly, 0.7 s on average."""
ROLLOUT = 32


class Clockwork:
    """Worlds that succeed again and again, each after a time of its own."""

    num_environments, horizon, interval = WORLDS, HORIZON, INTERVAL
    observation_size, action_size = OBSERVATION, ACTION
    device = torch.device("cpu")

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        self._random = torch.Generator().manual_seed(seed)
        low, high = (round(seconds / INTERVAL) for seconds in SECONDS)
        self._length = torch.randint(low, high + 1, (WORLDS,), generator=self._random)
        self._elapsed = torch.zeros(WORLDS, dtype=torch.int64)
        return self._observe()

    def _observe(self) -> Tensor:
        return torch.randn(WORLDS, OBSERVATION, generator=self._random)

    def step(self, action: Tensor) -> Step:
        self._elapsed += 1
        success = self._elapsed >= self._length
        self._elapsed.masked_fill_(success, 0)
        observation = self._observe()
        return Step(
            observation,
            observation,
            torch.ones(WORLDS),
            success,
            torch.zeros(WORLDS, dtype=torch.bool),
        )

    def state(self) -> dict[str, Tensor]:
        return {}

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        return self._observe()

    def counters(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        pass


def prepare(settings: dict[str, Any]) -> Orders:
    """settings: none."""
    torch.set_num_threads(settings["threads"])
    return {"weigh": weigh}


def weigh() -> dict[str, int]:
    """Bytes of a memory full of successes, and of one that pads each to the horizon."""
    environment, imitation = Clockwork(), Imitation()
    memory = Memory(
        WORLDS, OBSERVATION, ACTION, HORIZON, imitation.k, "fast", imitation.sampling, 0.995,
        imitation.half_precision, environment.device,
    )  # fmt: skip
    policy = Policy(OBSERVATION, ACTION, HORIZON * INTERVAL, True, Network(hidden=(8,)))
    collector = Collector(environment, ROLLOUT, 0, None)
    target = torch.full((WORLDS,), HORIZON * INTERVAL)
    bonus = torch.full((WORLDS, HORIZON), 100.0)
    generator = torch.Generator().manual_seed(0)
    while bool((memory.slots.length == 0).any()):
        rollout = collector.collect(policy, target, generator)
        memory.update(rollout, rollout.task_reward, bonus)
    per_step = OBSERVATION + ACTION + 2  # task reward and its return-to-go
    return {
        "configurations": WORLDS,
        "memory_bytes": memory.nbytes(),
        "padded_bytes": WORLDS * imitation.k * HORIZON * per_step * 4,
    }
