"""What the method asks of a world: the environment contract.

An environment is *n* parallel worlds behind torch tensors. Each world keeps its
configuration φ (object placement, goal, robot start) from one episode to the next; only
``reset`` draws new ones. Nothing here knows a simulator, a file or a clock.

Episodes restart by themselves. When an episode ends at a step, that step's
``final_observation`` is what the episode ended in and its ``observation`` is what the next
one starts from; everywhere else the two are equal. Elapsed time is not part of the
observation: the learner counts it.

Tensors that ``reset`` and ``step`` return belong to the caller until the next call of
``step`` or ``reset``, which may overwrite them in place; keep a copy of what you keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor


@dataclass(slots=True)
class Step:
    """What one control step of n worlds gave."""

    observation: Tensor
    """(n, observation_size) float32: what the policy acts on next."""
    final_observation: Tensor
    """(n, observation_size) float32: the observation before any automatic reset."""
    task_reward: Tensor
    """(n,) float32: dense task reward, in the task's own units (0 to 10 in MT15)."""
    success: Tensor
    """(n,) bool: the episode ended here because the task was done."""
    timeout: Tensor
    """(n,) bool: the episode was cut here (horizon, diverged physics): it could have gone on."""
    failure: Tensor | None = None
    """(n,) bool, or None for none: the episode ended here for good without success (a fall)."""
    valid: Tensor | None = None
    """(n,) bool, or None for all: False where the world spent the step on its own reset, so
    that there is no transition to learn from."""


@runtime_checkable
class Environment(Protocol):
    """n parallel worlds of one task."""

    num_environments: int
    horizon: int
    """N: control steps after which an episode without success times out."""
    interval: float
    """Δt: seconds between two control steps."""
    observation_size: int
    action_size: int
    device: torch.device
    """Where actions are expected and results are given."""

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        """Draw a fresh configuration for every world from ``seed`` and start its first episode.

        ``used``, (n,) int64 in [0, horizon), shortens each first episode's horizon by that many
        steps, so that worlds do not all time out together. Returns the observation,
        (n, observation_size).
        """
        ...

    def step(self, action: Tensor) -> Step:
        """Advance every world by one control step under ``action``, (n, action_size).

        Actions are clipped to [-1, 1] by the environment, not by the policy.
        """
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything ``restore`` needs to go on bit for bit: copies, not views."""
        ...

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        """Go back to a state of an equal environment; returns the current observation."""
        ...

    def counters(self) -> dict[str, int]:
        """Things that happened since ``reset`` and that somebody should see, by name."""
        ...

    def close(self) -> None:
        """Give back threads, windows and device memory."""
        ...
