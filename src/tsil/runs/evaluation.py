"""How good a policy is on configurations it has never seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch

from tsil.method.environment import Environment
from tsil.method.policy import Policy

Target = Literal["max", "median"] | float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Outcomes of independent trials."""

    target: float
    """Seconds that the policy was shown as D."""
    success: tuple[bool, ...]
    """Per trial."""
    completion: tuple[float, ...]
    """Seconds to success, of the successful trials in order."""

    @property
    def trials(self) -> int:
        return len(self.success)

    @property
    def successes(self) -> int:
        return len(self.completion)

    @property
    def success_rate(self) -> float:
        return self.successes / self.trials

    @property
    def success_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the success rate."""
        z, n, p = 1.959964, self.trials, self.success_rate
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)

    @property
    def completion_time(self) -> float:
        """Mean completion time of successful trials, seconds; NaN without any."""
        return sum(self.completion) / self.successes if self.successes else math.nan

    @property
    def completion_interval(self) -> tuple[float, float]:
        """Normal 95 % interval of the mean completion time, seconds."""
        if self.successes < 2:
            return math.nan, math.nan
        times = torch.tensor(self.completion, dtype=torch.float64)
        half = 1.959964 * float(times.std()) / math.sqrt(self.successes)
        return self.completion_time - half, self.completion_time + half

    def summary(self) -> dict[str, object]:
        """The numbers people quote, for JSON."""
        times = torch.tensor(self.completion, dtype=torch.float64)
        finite = self.successes > 0
        return {
            "target": self.target,
            "trials": self.trials,
            "successes": self.successes,
            "success_rate": self.success_rate,
            "success_interval": list(self.success_interval),
            "completion_time": self.completion_time if finite else None,
            "completion_interval": list(self.completion_interval) if self.successes > 1 else None,
            "completion_median": float(times.median()) if finite else None,
        }


def target_seconds(target: Target, policy: Policy) -> float:
    """D for configurations without one of their own, seconds.

    ``max`` is T^max, ``median`` that of the training targets, a number itself.
    """
    if target == "max":
        return policy.longest
    if target == "median":
        return float(policy.usual_target)
    if isinstance(target, str):
        raise ValueError(f"target is {target!r}: it must be max, median or a number of seconds")
    if not 0.0 < target <= policy.longest:
        raise ValueError(
            f"target is {target:g} s: it must be above 0 and at most the horizon, "
            f"{policy.longest:g} s"
        )
    return float(target)


@torch.no_grad()
def evaluate(
    policy: Policy,
    environment: Environment,
    trials: int = 2000,
    target: Target = "median",
    seed: int = 1_000_000,
    deterministic: bool = True,
) -> Evaluation:
    """Run ``trials`` episodes, each on a freshly drawn configuration.

    Every world plays one episode per draw, so that quick successes do not count more often than
    slow failures. ``seed`` determines the configurations; keep it away from training seeds.
    """
    if trials < 1:
        raise ValueError(f"trials is {trials}: it must be 1 or more")
    if (policy.observation_size, policy.action_size) != (
        environment.observation_size,
        environment.action_size,
    ):
        raise ValueError(
            f"the policy takes {policy.observation_size} observations and gives "
            f"{policy.action_size} actions, but the environment has "
            f"{environment.observation_size} and {environment.action_size}"
        )
    shown = target_seconds(target, policy)
    n, device, interval = environment.num_environments, environment.device, environment.interval
    generator = None if deterministic else torch.Generator(device).manual_seed(seed)
    goal = torch.full((n,), shown, device=device)
    success: list[bool] = []
    completion: list[float] = []
    while len(success) < trials:
        observation = environment.reset(seed + len(success))
        elapsed = torch.zeros(n, dtype=torch.int64, device=device)
        running = torch.ones(n, dtype=torch.bool, device=device)
        done_at = torch.zeros(n, dtype=torch.int64, device=device)
        while bool(running.any()):
            action = policy.act(observation, elapsed * interval, goal, generator)
            step = environment.step(action)
            elapsed = elapsed + (1 if step.valid is None else step.valid.to(torch.int64))
            done_at = torch.where(running & step.success, elapsed, done_at)
            ended = step.success | step.timeout
            running &= ~(ended if step.failure is None else ended | step.failure)
            observation = step.observation
        chosen = done_at[: trials - len(success)].cpu()
        success += (chosen > 0).tolist()
        completion += (chosen[chosen > 0] * interval).tolist()
    return Evaluation(shown, tuple(success), tuple(completion))
