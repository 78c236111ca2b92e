"""A scripted environment, and plain views of what the method keeps, for the tests beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tsil.method.configuration import Configuration, Network
from tsil.method.environment import Step
from tsil.method.learner import Learner
from tsil.method.memory import Memory
from tsil.method.policy import Policy
from tsil.method.rollout import Collector, Rollout

INTERVAL = 1 / 60


class Scripted:
    """Worlds whose episodes end as a script says, whatever the policy does.

    ``script[i]`` lists (how, length) of world i's episodes, repeated for ever; how is success,
    failure or timeout. Observations and rewards are random numbers, drawn once. With
    ``resets_cost_a_step`` every end is followed by a step that is no transition, as under
    Gymnasium's next-step autoreset. ``trace`` holds what was said, a dict of arrays a step.
    """

    def __init__(
        self,
        script: list[list[tuple[str, int]]],
        horizon: int,
        observation_size: int = 3,
        action_size: int = 2,
        resets_cost_a_step: bool = False,
        rewards: tuple[float, ...] | None = None,
    ) -> None:
        self.script, self.horizon, self.interval = script, horizon, INTERVAL
        self.num_environments = len(script)
        self.observation_size, self.action_size = observation_size, action_size
        self.resets_cost_a_step, self.rewards = resets_cost_a_step, rewards
        self.device = torch.device("cpu")
        self.trace: list[dict[str, np.ndarray]] = []
        self.reset_calls: list[tuple[int, Tensor | None]] = []

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        self.reset_calls.append((seed, used))
        n = self.num_environments
        self.seed, self.clock = seed, 0
        self.used = np.zeros(n, int) if used is None else used.numpy().copy()
        self.episode, self.at = np.zeros(n, int), np.zeros(n, int)
        self.resetting = np.zeros(n, bool)
        return self._observation()

    def _numbers(self, salt: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, self.clock, salt))

    def _observation(self) -> Tensor:
        shape = (self.num_environments, self.observation_size)
        self.shown = self._numbers(0).normal(2.0, 3.0, shape).astype(np.float32)
        return torch.from_numpy(self.shown.copy())

    def step(self, action: Tensor) -> Step:
        n = self.num_environments
        numbers = self._numbers(1)
        acted_on = self.shown
        final = numbers.normal(2.0, 3.0, acted_on.shape).astype(np.float32)
        reward = (
            numbers.uniform(-1.0, 10.0, n)
            if self.rewards is None
            else numbers.choice(self.rewards, n)
        ).astype(np.float32)
        valid = ~self.resetting
        self.at += valid
        ends = {how: np.zeros(n, bool) for how in ("success", "failure", "timeout")}
        for i in valid.nonzero()[0]:
            how, length = self.script[i][self.episode[i] % len(self.script[i])]
            allowed = self.horizon - self.used[i]
            if length > allowed or (how == "timeout" and allowed < self.horizon):
                how, length = "timeout", min(length, allowed)
            if self.at[i] == length:
                ends[how][i] = True
        ended = ends["success"] | ends["failure"] | ends["timeout"]
        self.episode += ended
        self.at[ended] = 0
        self.used[ended] = 0
        self.resetting = ended & self.resets_cost_a_step
        self.clock += 1
        self._observation()
        fresh = (ended & ~self.resetting) | ~valid
        self.shown = np.where(fresh[:, None], self.shown, final)
        self.trace.append(
            {
                "observation": acted_on,
                "final": final,
                "action": action.numpy().copy(),
                "reward": reward,
                "valid": valid,
                **ends,
            }
        )
        return Step(
            observation=torch.from_numpy(self.shown.copy()),
            final_observation=torch.from_numpy(final.copy()),
            task_reward=torch.from_numpy(reward.copy()),
            success=torch.from_numpy(ends["success"]),
            timeout=torch.from_numpy(ends["timeout"]),
            failure=torch.from_numpy(ends["failure"]),
            valid=torch.from_numpy(valid) if self.resets_cost_a_step else None,
        )

    def state(self) -> dict[str, Tensor]:
        counts = np.stack((self.used, self.episode, self.at, self.resetting.astype(int)))
        return {
            "counts": torch.from_numpy(counts),
            "clock": torch.tensor([self.seed, self.clock]),
            "shown": torch.from_numpy(self.shown.copy()),
        }

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        self.used, self.episode, self.at, resetting = state["counts"].numpy().copy()
        self.resetting = resetting.astype(bool)
        self.seed, self.clock = state["clock"].tolist()
        self.shown = state["shown"].numpy().copy()
        return torch.from_numpy(self.shown.copy())

    def counters(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        pass


@dataclass(eq=False)
class Episode:
    """One episode of a world, step by step, as a list-based memory would keep it."""

    observations: list[np.ndarray] = field(default_factory=list)
    actions: list[np.ndarray] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    """Dense task reward as the learner counts it."""
    how: str = ""
    final: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.actions)

    def returns(
        self, gamma: float, bonus: float = 0.0, tail: float = 0.0, scale: float = 1.0
    ) -> list[float]:
        """Discounted return from each step on: ``bonus`` at the last one, rewards divided by
        ``scale``, and then ``tail`` of what would have followed."""
        out = []
        for t in range(len(self)):
            total = gamma ** (len(self) - t) * tail
            for j in range(t, len(self)):
                last = j == len(self) - 1
                total += gamma ** (j - t) * (self.rewards[j] + (bonus if last else 0.0)) / scale
            out.append(total)
        return out


class Recorder:
    """Cuts a scripted environment's trace into episodes, world by world."""

    def __init__(self, environment: Scripted) -> None:
        self.environment, self.read = environment, 0
        self.open = [Episode() for _ in range(environment.num_environments)]

    def finished(self, reward: Callable[[dict[str, np.ndarray]], np.ndarray]) -> Iterator[Any]:
        """(world, episode) of the episodes that ended since the last call, in order of time."""
        for step in self.environment.trace[self.read :]:
            counted = reward(step)
            for i in step["valid"].nonzero()[0]:
                episode = self.open[i]
                episode.observations.append(step["observation"][i])
                episode.actions.append(step["action"][i])
                episode.rewards.append(float(counted[i]))
                for how in ("success", "failure", "timeout"):
                    if step[how][i]:
                        episode.how, episode.final = how, step["final"][i]
                        self.open[i] = Episode()
                        yield int(i), episode
        self.read = len(self.environment.trace)


class ListMemory:
    """B(φ) as the paper asks for it, with lists. bonus: r_succ of a success at step 1 …"""

    def __init__(self, worlds: int, k: int, ranking: str, pool: str, gamma: float) -> None:
        self.k, self.ranking, self.pool, self.gamma = k, ranking, pool, gamma
        self.kept: list[list[Episode]] = [[] for _ in range(worlds)]  # in order of arrival

    def value(self, episode: Episode, bonus: np.ndarray) -> float:
        """Discounted return under the current bonus."""
        return episode.returns(self.gamma, bonus[len(episode) - 1] * (episode.how == "success"))[0]

    def best(self, episodes: list[Episode], count: int, bonus: np.ndarray) -> list[Episode]:
        """The ``count`` highest returns; sorting is stable, so ties keep the older."""
        return sorted(episodes, key=lambda e: -self.value(e, bonus))[:count]

    def fastest(self, episodes: list[Episode]) -> list[Episode]:
        done = [e for e in episodes if e.how == "success"]
        return sorted(done, key=len)[: self.k]

    def pools(
        self, i: int, bonus: np.ndarray, episodes: list[Episode] | None = None
    ) -> tuple[list[Episode], list[Episode]]:
        """(fast successes, what replay draws from beside them)."""
        episodes = self.kept[i] if episodes is None else episodes
        if self.ranking == "return":
            return [], self.best(episodes, self.k, bonus)
        fast = self.fastest(episodes)
        if self.pool == "split":
            return fast, self.best(episodes, self.k, bonus)
        others = [e for e in episodes if e not in fast]
        return fast, self.best(others, self.k - len(fast), bonus)

    def offer(self, i: int, episode: Episode, bonus: np.ndarray) -> None:
        candidates = [*self.kept[i], episode]
        fast, rest = self.pools(i, bonus, candidates)
        self.kept[i] = [e for e in candidates if e in fast or e in rest]


def contents(memory: Memory) -> list[list[dict[str, Any]]]:
    """What a memory holds, per world and in order of arrival, read through its own lookups."""
    slots = memory.slots
    n, per_world = slots.length.shape
    out: list[list[dict[str, Any]]] = []
    for i in range(n):
        world = []
        for s in range(per_world):
            length = int(slots.length[i, s])
            if length == 0:
                continue
            number = torch.tensor(i * per_world + s)
            rows = memory.rows(number.expand(length), torch.arange(length))
            world.append(
                {
                    "slot": int(number),
                    "observations": memory.observations(rows).numpy(),
                    "actions": memory.action[rows].numpy(),
                    "rewards": memory.reward[rows].numpy(),
                    "returns": memory.task_return[rows].numpy(),
                    "how": "success"
                    if slots.success[i, s]
                    else "timeout"
                    if slots.cut[i, s]
                    else "failure",
                    "final": memory.final_observations(number[None])[0].numpy(),
                }
            )
        out.append(world)
    return out


def random_script(
    worlds: int, episodes: int, horizon: int, seed: int = 0, success: float = 0.5
) -> list[list[tuple[str, int]]]:
    """Episodes of any length and end; a timeout comes at the horizon."""
    numbers = np.random.default_rng(seed)

    def one() -> tuple[str, int]:
        how = numbers.choice(["success", "failure", "timeout"], p=[success, 0.1, 0.9 - success])
        return str(how), horizon if how == "timeout" else int(numbers.integers(1, horizon + 1))

    return [[one() for _ in range(episodes)] for _ in range(worlds)]


SMALL = {
    "environments": 6,
    "rollout": 7,
    "steps": 420,
    "ppo.minibatch": 21,
    "ppo.epochs": 2,
    "imitation.k": 2,
    "network.hidden": (8, 6),
    "network.precision": "float32",
}


class Tools:
    """What the tests share."""

    Scripted, Recorder, ListMemory, interval = Scripted, Recorder, ListMemory, INTERVAL
    contents, random_script = staticmethod(contents), staticmethod(random_script)

    @staticmethod
    def policy(
        observation_size: int = 3,
        action_size: int = 2,
        longest: float = 1.0,
        sees_time: bool = True,
        seed: int = 0,
        hidden: tuple[int, ...] = (8, 6),
        gain: float = 1.0,
    ) -> Policy:
        """A tiny policy whose mean, unlike a fresh one's, is far from zero."""
        network = Network(hidden=hidden, actor_gain=gain)
        return Policy(observation_size, action_size, longest, sees_time, network, seed)

    @staticmethod
    def memory(environment: Scripted, **changes: Any) -> Memory:
        settings: dict[str, Any] = {
            "k": 2,
            "ranking": "fast",
            "pool": "fill",
            "gamma": 0.9,
            "half_precision": False,
            **changes,
        }
        return Memory(
            environments=environment.num_environments,
            observation_size=environment.observation_size,
            action_size=environment.action_size,
            horizon=environment.horizon,
            device=environment.device,
            **settings,
        )

    @staticmethod
    def rollouts(
        environment: Scripted, length: int, count: int, used: Tensor | None = None, seed: int = 0
    ) -> Iterator[Rollout]:
        """``count`` rollouts of a fixed random policy."""
        policy = Tools.policy(
            environment.observation_size,
            environment.action_size,
            environment.horizon * environment.interval,
        )
        collector = Collector(environment, length, seed, used)
        generator = torch.Generator().manual_seed(seed)
        target = torch.full((environment.num_environments,), environment.horizon * INTERVAL)
        for _ in range(count):
            yield collector.collect(policy, target, generator)

    @staticmethod
    def configuration(**changes: Any) -> Configuration:
        """A run of six worlds that takes milliseconds."""
        return Configuration.preset(**{**SMALL, **changes})

    @staticmethod
    def learner(
        configuration: Configuration,
        horizon: int = 9,
        script: list[list[tuple[str, int]]] | None = None,
        **environment: Any,
    ) -> Learner:
        script = script or random_script(configuration.environments, 12, horizon)
        return Learner(Scripted(script, horizon, **environment), configuration)


@pytest.fixture(scope="session")
def tools() -> type[Tools]:
    return Tools
