"""An environment of your own on torch tensors: thousands of worlds without a Python loop.

A cart on a rail has to come to rest at a mark. The class keeps the contract of
``tsil.method.environment``: nine members, and the learner needs no more.

python examples/tensor_environment.py --steps 1000000
"""

import argparse
import json

import torch
from torch import Tensor

import tsil
from tsil import Step


class Cart:
    """n carts; each keeps its start and its mark from ``reset`` on."""

    horizon = 100
    """Control steps."""
    interval = 1 / 50
    """Seconds."""
    observation_size = 3
    """Position, speed, distance to the mark."""
    action_size = 1
    """Acceleration in units of 20 m/s²."""

    def __init__(self, num_environments: int) -> None:
        self.num_environments = num_environments
        self.device = torch.device("cpu")

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        """Draw a start and a mark for every cart."""
        generator = torch.Generator().manual_seed(seed)
        draw = torch.rand(2, self.num_environments, generator=generator) * 2 - 1
        self.start, self.mark = draw
        self.position, self.speed = self.start.clone(), torch.zeros_like(self.start)
        self.age = torch.zeros(self.num_environments, dtype=torch.int64)
        if used is not None:
            self.age += used
        return self._observe()

    def step(self, action: Tensor) -> Step:
        """Push every cart; those that are done or out of time begin again at their start."""
        self.speed = self.speed + 20.0 * action[:, 0].clamp(-1, 1) * self.interval
        self.position = self.position + self.speed * self.interval
        self.age = self.age + 1
        distance = (self.mark - self.position).abs()
        success = (distance < 0.05) & (self.speed.abs() < 0.3)
        timeout = (self.age >= self.horizon) & ~success
        final = self._observe()
        ended = success | timeout
        self.position = torch.where(ended, self.start, self.position)
        self.speed = self.speed.masked_fill(ended, 0.0)
        self.age = self.age.masked_fill(ended, 0)
        return Step(
            observation=self._observe(),
            final_observation=final,
            task_reward=10.0 * torch.exp(-2.0 * distance),
            success=success,
            timeout=timeout,
        )

    def _observe(self) -> Tensor:
        return torch.stack((self.position, self.speed, self.mark - self.position), dim=1)

    def state(self) -> dict[str, Tensor]:
        """Everything that decides what happens next."""
        names = ("start", "mark", "position", "speed", "age")
        return {name: getattr(self, name).clone() for name in names}

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        """Go back to a ``state``."""
        for name, value in state.items():
            setattr(self, name, value.clone())
        return self._observe()

    def counters(self) -> dict[str, int]:
        """Nothing that somebody should see."""
        return {}

    def close(self) -> None:
        """Nothing to give back."""


def main() -> None:
    """Train, then judge on carts that were not trained on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--trials", type=int, default=500)
    asked = parser.parse_args()
    run = tsil.train(Cart(256), "tsil", steps=asked.steps, **{"network.hidden": (64, 64)})
    print(json.dumps(tsil.evaluate(run.policy, Cart(250), trials=asked.trials).summary(), indent=2))


if __name__ == "__main__":
    main()
