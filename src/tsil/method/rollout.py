"""T_i: what the current policy does in every world during one iteration."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from tsil.method.environment import Environment
from tsil.method.policy import Policy


@dataclass(slots=True)
class Rollout:
    """T control steps of n worlds. The next rollout of the same collector overwrites it."""

    observation: Tensor
    """(T, n, observation_size) float32: o_t."""
    final_observation: Tensor
    """(T, n, observation_size) float32: what followed, before any automatic reset."""
    action: Tensor
    """(T, n, action_size) float32: a_t."""
    mean: Tensor
    """(T, n, action_size) float32: μ of the policy that acted."""
    elapsed: Tensor
    """(T, n) int64: control steps of the episode before a_t, so T_used = elapsed Δt."""
    task_reward: Tensor
    """(T, n) float32: dense task reward in the task's units."""
    success: Tensor
    """(T, n) bool: the episode ended here, done."""
    failure: Tensor
    """(T, n) bool: the episode ended here for good, not done."""
    timeout: Tensor
    """(T, n) bool: the episode was cut here."""
    valid: Tensor
    """(T, n) bool: there is a transition here."""
    last_observation: Tensor
    """(n, observation_size) float32: o_T."""
    last_elapsed: Tensor
    """(n,) int64."""

    @property
    def ended(self) -> Tensor:
        """(T, n) bool: the episode ended here, in whichever way."""
        return self.success | self.failure | self.timeout


class Collector:
    """Keeps the worlds going from one rollout to the next and counts elapsed time."""

    def __init__(
        self, environment: Environment, length: int, seed: int, used: Tensor | None
    ) -> None:
        """length: control steps per rollout. used: as ``Environment.reset`` takes it."""
        self.environment = environment
        n, device = environment.num_environments, environment.device
        self.observation = environment.reset(seed, used).clone()
        self.elapsed = torch.zeros(n, dtype=torch.int64, device=device)

        def wide(size: int) -> Tensor:
            return torch.empty(length, n, size, device=device)

        def flags() -> Tensor:
            return torch.empty(length, n, dtype=torch.bool, device=device)

        self.rollout = Rollout(
            observation=wide(environment.observation_size),
            final_observation=wide(environment.observation_size),
            action=wide(environment.action_size),
            mean=wide(environment.action_size),
            elapsed=torch.empty(length, n, dtype=torch.int64, device=device),
            task_reward=torch.empty(length, n, device=device),
            success=flags(),
            failure=flags(),
            timeout=flags(),
            valid=flags(),
            last_observation=self.observation,
            last_elapsed=self.elapsed,
        )

    @torch.no_grad()
    def collect(self, policy: Policy, target: Tensor, generator: Generator) -> Rollout:
        """Roll π_θ out under targets D_i, (n,) seconds, which stay what they are throughout."""
        out, interval = self.rollout, self.environment.interval
        for t in range(len(out.action)):
            augmented = policy.augment(self.observation, self.elapsed * interval, target)
            mean = policy.mean(augmented)
            action = policy.draw(mean, generator)
            out.observation[t] = self.observation
            out.elapsed[t] = self.elapsed
            out.mean[t] = mean
            out.action[t] = action
            step = self.environment.step(action)
            out.final_observation[t] = step.final_observation
            out.task_reward[t] = step.task_reward
            out.success[t] = step.success
            out.failure[t] = False if step.failure is None else step.failure
            # What ended for good on its last allowed step was not cut: there is no bootstrap.
            out.timeout[t] = step.timeout & ~(out.success[t] | out.failure[t])
            out.valid[t] = True if step.valid is None else step.valid
            self.observation.copy_(step.observation)
            ended = out.success[t] | out.failure[t] | out.timeout[t]
            self.elapsed = (self.elapsed + out.valid[t]).masked_fill(ended, 0)
        out.last_observation, out.last_elapsed = self.observation, self.elapsed
        return out

    def state(self) -> dict[str, Tensor]:
        """Everything ``restore`` needs."""
        world = {f"environment.{name}": x for name, x in self.environment.state().items()}
        return {**world, "elapsed": self.elapsed.clone()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from a state of an equal collector."""
        prefix = "environment."
        world = {k.removeprefix(prefix): x for k, x in state.items() if k.startswith(prefix)}
        self.observation.copy_(self.environment.restore(world))
        self.elapsed = state["elapsed"].to(self.elapsed.device, copy=True)
