"""T_i: what the current policy does in every world during one iteration."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from tsil.method.environment import Environment, Step
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
    dropped: Tensor
    """(T, n) bool: the episode under way was given up here, for a number that was not finite."""
    last_observation: Tensor
    """(n, observation_size) float32: o_T."""
    last_elapsed: Tensor
    """(n,) int64."""

    @property
    def ended(self) -> Tensor:
        """(T, n) bool: the episode ended here, in whichever way."""
        return self.success | self.failure | self.timeout

    @property
    def over(self) -> Tensor:
        """(T, n) bool: nothing carries on from this step to the next: ended or dropped."""
        return self.ended | self.dropped


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
        self.sound = torch.isfinite(self.observation).all(dim=1)
        """(n,) bool: whether the world's present observation is finite. Where it is not, the last
        finite one stands in for it, and nothing is learned until the world recovers."""
        self.observation.masked_fill_(~self.sound.unsqueeze(1), 0.0)

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
            dropped=flags(),
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
            self._take(t, step)
        out.last_observation, out.last_elapsed = self.observation, self.elapsed
        return out

    def _take(self, t: int, step: Step) -> None:
        """Write down what step t gave, as far as its numbers are finite."""
        out = self.rollout
        never = torch.zeros_like(step.success)
        failure = never if step.failure is None else step.failure
        ended = step.success | failure | step.timeout
        after = torch.isfinite(step.final_observation).all(dim=1) & torch.isfinite(step.task_reward)
        sound = torch.isfinite(step.observation).all(dim=1)
        whole = self.sound & after & (ended | sound)

        shown = after.unsqueeze(1)
        out.final_observation[t] = torch.where(shown, step.final_observation, self.observation)
        out.task_reward[t] = torch.where(after, step.task_reward, 0.0)
        out.success[t] = step.success & whole
        out.failure[t] = failure & whole
        # What ended for good on its last allowed step was not cut: there is no bootstrap.
        out.timeout[t] = step.timeout & whole & ~(step.success | failure)
        out.valid[t] = whole if step.valid is None else whole & step.valid
        out.dropped[t] = self.sound & ~whole
        over = ended | ~whole
        self.elapsed = (self.elapsed + out.valid[t]).masked_fill(over, 0)
        self.observation = torch.where(sound.unsqueeze(1), step.observation, self.observation)
        self.sound = sound

    def state(self) -> dict[str, Tensor]:
        """Everything ``restore`` needs."""
        world = {f"environment.{name}": x for name, x in self.environment.state().items()}
        own = ("observation", "elapsed", "sound")
        return {**world, **{name: getattr(self, name).clone() for name in own}}

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        """Go on from a state of an equal collector.

        Returns which worlds could not and began a new episode instead, (n,) bool: not every
        simulator can be put back into the middle of one.
        """
        prefix = "environment."
        world = {k.removeprefix(prefix): x for k, x in state.items() if k.startswith(prefix)}
        present = self.environment.restore(world)
        for name in ("observation", "elapsed", "sound"):
            setattr(self, name, state[name].to(self.elapsed.device, copy=True))
        restarted = self.sound & (present != self.observation).any(dim=1)
        self.observation = torch.where(restarted.unsqueeze(1), present, self.observation)
        self.elapsed = self.elapsed.masked_fill(restarted, 0)
        return restarted
