"""The Gymnasium adapter against single environments stepped in a plain loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from tsil.environments.gymnasium import GymnasiumEnvironment
from tsil.environments.success import VectorStep
from tsil.method.environment import Environment

MODES = list(AutoresetMode)
OWN_LIMIT = 12
"""Steps after which ``Counting`` truncates at the latest."""


class Counting(gymnasium.Env[Any, Any]):
    """Every observation names its episode and step; the configuration decides how it ends.

    At a step between 2 and 6 the episode succeeds, falls, is truncated, succeeds without anybody
    ending it (until three steps later), or, as the fifth kind, nothing happens at all.
    """

    observation_space = Box(-np.inf, np.inf, (3, 1), np.float64)
    action_space = Box(np.array([-1.0, 0.0]), np.array([1.0, 10.0]), dtype=np.float64)

    def __init__(self, telling: str = "always") -> None:
        self.telling = telling
        self.seeds: list[int | None] = []

    def _observation(self) -> np.ndarray:
        return np.array([[self.configuration], [self.clock], [self.action_sum]])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.configuration = int(self.np_random.integers(10_000))
        self.clock, self.action_sum = 0, 0.0
        self.kind, self.length = self.configuration % 5, 2 + self.configuration // 5 % 5
        # A trap: an adapter that reads the info of a reset believes in a success.
        return self._observation(), {"success": True}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.clock += 1
        self.action_sum += float(action.sum())
        there = self.clock >= self.length
        success = there and self.kind in (0, 3)
        terminated = there and self.kind in (0, 1)
        truncated = (
            (there and self.kind == 2)
            or (self.kind == 3 and self.clock >= self.length + 3)
            or self.clock >= OWN_LIMIT
        )
        info = {"success": success} if success or self.telling == "always" else {}
        return (
            self._observation(),
            20.0 * self.configuration + self.clock,
            terminated,
            truncated,
            info,
        )


class Opaque(VectorEnv[Any, Any, Any]):
    """A vector environment of some other make: one seed, and no reset of single worlds by mask
    unless its autoreset is disabled."""

    def __init__(self, worlds: SyncVectorEnv) -> None:
        self.worlds, self.metadata, self.num_envs = worlds, worlds.metadata, worlds.num_envs
        self.single_action_space = worlds.single_action_space
        self.single_observation_space = worlds.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        assert seed is None or isinstance(seed, int)
        assert not options or self.metadata["autoreset_mode"] is AutoresetMode.DISABLED
        return self.worlds.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        return self.worlds.step(actions)

    def get_attr(self, name: str) -> Any:
        return self.worlds.get_attr(name)


def worlds(kind: str, n: int, mode: AutoresetMode, telling: str = "always") -> Any:
    makers: list[Callable[[], Counting]] = [lambda: Counting(telling)] * n
    if kind == "async":
        return AsyncVectorEnv(makers, copy=False, autoreset_mode=mode)
    # Without copies, every call returns the same array: whoever forgets that is found out.
    vector = SyncVectorEnv(makers, copy=False, autoreset_mode=mode)
    return Opaque(vector) if kind == "opaque" else vector


Transition = tuple[list[float], list[float], float, str]
"""Observation acted on, final observation, reward, how the episode ended or ''."""


def action_of(world: int, count: int) -> torch.Tensor:
    """The action of a world's count-th transition, (2,), some of it out of range."""
    return 1.5 * torch.randn(2, generator=torch.Generator().manual_seed(1000 * world + count))


def loop(
    seed: int, world: int, count: int, horizon: int, used: int, keep: bool
) -> list[Transition]:
    """``count`` transitions of one environment, stepped and reset by hand."""
    environment = Counting()
    low, high = environment.action_space.low, environment.action_space.high
    observation, _ = environment.reset(seed=seed)
    clock, limit, transitions = 0, horizon - used, []
    for k in range(count):
        unit = np.clip(action_of(world, k).numpy().astype(np.float64), -1, 1)
        action = low + (unit + 1) / 2 * (high - low)
        final, reward, terminated, truncated, info = environment.step(action)
        clock += 1
        how = ""
        if info["success"]:
            how = "success"
        elif terminated:
            how = "failure"
        elif truncated or clock >= limit:
            how = "timeout"
        transitions.append((observation.ravel().tolist(), final.ravel().tolist(), reward, how))
        observation = final
        if how:
            observation, _ = environment.reset(seed=seed if keep else None)
            clock, limit = 0, horizon
    return transitions


def drive(
    environment: GymnasiumEnvironment, observation: torch.Tensor, steps: int
) -> tuple[list[list[Transition]], int]:
    """The valid transitions of each world, and the number of invalid steps."""
    n = environment.num_environments
    transitions: list[list[Transition]] = [[] for _ in range(n)]
    invalid = 0
    for _ in range(steps):
        acted_on = observation.clone()
        action = torch.stack([action_of(i, len(transitions[i])) for i in range(n)])
        step = environment.step(action)
        assert step.failure is not None
        valid = torch.ones(n, dtype=torch.bool) if step.valid is None else step.valid
        flags = {"success": step.success, "failure": step.failure, "timeout": step.timeout}
        for i in range(n):
            hows = [how for how, flag in flags.items() if flag[i]]
            if valid[i]:
                assert len(hows) <= 1
                how = hows[0] if hows else ""
                final = step.final_observation[i].tolist()
                if not how:
                    assert step.observation[i].tolist() == final
                entry = (acted_on[i].tolist(), final, float(step.task_reward[i]), how)
                transitions[i].append(entry)
            else:
                invalid += 1
                assert not hows
        observation = step.observation
    return transitions, invalid


@pytest.mark.parametrize("telling", ["always", "successes"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("kind", "keep", "horizon"),
    [
        ("sync", True, 9),
        ("sync", False, 9),
        ("async", True, 9),
        ("async", False, 9),
        ("opaque", False, OWN_LIMIT),
    ],
)
def test_transitions_match_a_loop_over_single_environments(
    kind: str, keep: bool, horizon: int, mode: AutoresetMode, telling: str
) -> None:
    n, steps = (3, 40) if kind == "async" else (25, 60)
    vector = worlds(kind, n, mode, telling)
    environment = GymnasiumEnvironment(
        vector, success="success", horizon=horizon, interval=0.1, keep_configuration=keep
    )
    resettable = kind != "opaque" or mode is AutoresetMode.DISABLED
    used = torch.arange(n) % horizon
    observation = environment.reset(4, used)
    if not resettable:
        used[:] = 0
    seeds = [heard[0] for heard in vector.get_attr("seeds")]
    transitions, invalid = drive(environment, observation, steps)

    ends = set()
    for world in range(n):
        count = len(transitions[world])
        expected = loop(seeds[world], world, count, horizon, int(used[world]), keep)
        ends |= {how for *_, how in expected}
        for got, wanted in zip(transitions[world], expected, strict=True):
            assert got[0] == pytest.approx(wanted[0], abs=1e-5)
            assert got[1] == pytest.approx(wanted[1], abs=1e-5)
            assert got[2:] == wanted[2:]
    if kind != "async":
        assert ends == {"", "success", "failure", "timeout"}

    # Where nothing is invalid, that was right; where much is, it is said.
    assert invalid == n * steps - sum(map(len, transitions))
    if mode is AutoresetMode.DISABLED or (resettable and (keep or mode is AutoresetMode.SAME_STEP)):
        assert invalid == 0
    else:
        assert invalid > 0
    if resettable:
        assert environment.counters()["idle_steps"] == 0
    elif mode is AutoresetMode.SAME_STEP:
        assert environment.counters()["idle_steps"] == invalid
    else:
        assert 0 < environment.counters()["idle_steps"] < invalid
    environment.close()


def counting(n: int = 2, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **options: Any) -> Any:
    options = {"horizon": 9, "interval": 0.1, **options}
    return GymnasiumEnvironment(worlds("sync", n, mode), **options)


def coast(environment: GymnasiumEnvironment, steps: int) -> None:
    for _ in range(steps):
        environment.step(torch.zeros(environment.num_environments, environment.action_size))


def test_it_is_an_environment() -> None:
    environment = counting(3)
    assert isinstance(environment, Environment)
    assert (environment.observation_size, environment.action_size) == (3, 2)
    observation = environment.reset(0)
    assert observation.shape == (3, 3)
    assert observation.dtype == torch.float32
    step = environment.step(torch.zeros(3, 2))
    assert step.task_reward.shape == (3,)
    assert step.task_reward.dtype == torch.float32


def test_seeds_are_reproducible_and_do_not_overlap() -> None:
    environment = counting(200)
    first = environment.reset(0).clone()
    next_door = environment.reset(1).clone()
    assert torch.equal(environment.reset(0), first)
    # Gymnasium's own seed + i would share 199 of these 200 configurations.
    shared = set(first[:, 0].tolist()) & set(next_door[:, 0].tolist())
    assert len(shared) < 20


@pytest.mark.parametrize("keep", [True, False])
def test_restore_begins_new_episodes_and_keeps_only_what_is_kept(keep: bool) -> None:
    environment = counting(20, keep_configuration=keep)
    start = environment.reset(0).clone()
    coast(environment, 4)
    assert not environment.resumable
    other = counting(20, keep_configuration=keep)
    restored = other.restore(environment.state())
    assert torch.equal(restored, start) == keep
    assert other.counters()["restarts"] == 1
    again = counting(20, keep_configuration=keep)
    assert torch.equal(again.restore(other.state()), start) == keep
    with pytest.raises(ValueError, match="state is one of 20 worlds; this environment has 2"):
        counting(2).restore(environment.state())


def test_success_may_be_a_function_of_the_step() -> None:
    environment = counting(30, AutoresetMode.SAME_STEP, success=lambda step: step.terminated)
    environment.reset(0)
    successes = 0
    for _ in range(20):
        step = environment.step(torch.zeros(30, 2))
        assert step.failure is not None
        assert not step.failure.any()
        successes += int(step.success.sum())
    assert successes > 0


def test_the_function_sees_what_the_step_led_to() -> None:
    seen = []

    def never(step: VectorStep) -> np.ndarray:
        seen.append(torch.tensor(step.observation).float().flatten(1))
        return np.zeros(5)

    environment = counting(5, AutoresetMode.SAME_STEP, success=never)
    environment.reset(0)
    for _ in range(15):
        step = environment.step(torch.zeros(5, 2))
        assert torch.equal(seen[-1], step.final_observation)


class Titled(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Renames the entry of ``info``, in a type of choice."""

    def __init__(self, key: str, convert: Callable[[bool], Any]) -> None:
        super().__init__(Counting())
        self.key, self.convert = key, convert

    def step(self, action: Any) -> Any:
        *said, info = self.env.step(action)
        return *said, {self.key: self.convert(info["success"]), "other": 1}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("key", "convert"),
    [
        ("success", bool),
        ("is_success", float),
        ("is_success", np.float32),
        ("success", lambda x: x or None),
    ],
)
def test_the_usual_keys_are_found_in_any_type(
    mode: AutoresetMode, key: str, convert: Callable[[bool], Any]
) -> None:
    plain = counting(6, mode)
    titled = GymnasiumEnvironment(
        SyncVectorEnv([lambda: Titled(key, convert)] * 6, autoreset_mode=mode),
        horizon=9,
        interval=0.1,
    )
    plain.reset(0)
    titled.reset(0)
    for _ in range(30):
        expected, got = plain.step(torch.zeros(6, 2)), titled.step(torch.zeros(6, 2))
        assert torch.equal(expected.success, got.success)


@pytest.mark.parametrize("mode", MODES)
def test_an_environment_that_never_tells_is_refused_at_its_first_end(mode: AutoresetMode) -> None:
    vector = SyncVectorEnv([lambda: Titled("solved", bool)] * 4, autoreset_mode=mode)
    environment = GymnasiumEnvironment(vector, horizon=20, interval=0.1)
    environment.reset(0)
    with pytest.raises(ValueError, match=r"holds 'solved', 'other'\); name the key"):
        coast(environment, OWN_LIMIT)


def test_a_world_that_cannot_be_reset_and_never_ends_is_reported() -> None:
    class Endless(Counting):
        def step(self, action: Any) -> Any:
            observation, reward, _, _, _ = super().step(action)
            return observation, reward, False, False, {"success": True}

    vector = Opaque(SyncVectorEnv([Endless]))
    environment = GymnasiumEnvironment(vector, horizon=5, interval=0.1, keep_configuration=False)
    environment.reset(0)
    with pytest.raises(RuntimeError, match=r"World 0 .* more than 5 steps"):
        coast(environment, 10)


def test_horizon_and_interval_are_read_where_they_stand() -> None:
    for vector in (
        gymnasium.make_vec("Pendulum-v1", 2, max_episode_steps=30),
        RecordEpisodeStatistics(gymnasium.make_vec("Pendulum-v1", 2, max_episode_steps=30)),
        SyncVectorEnv([lambda: gymnasium.make("Pendulum-v1", max_episode_steps=30)] * 2),
        gymnasium.make_vec("Pendulum-v1", 2, "async", max_episode_steps=30),
    ):
        environment = GymnasiumEnvironment(vector)
        assert environment.horizon == 30
        assert environment.interval == pytest.approx(1 / 30)
        environment.close()
    environment = GymnasiumEnvironment(
        gymnasium.make_vec("Pendulum-v1", 2), horizon=7, interval=0.05
    )
    assert (environment.horizon, environment.interval) == (7, 0.05)


def test_a_registered_environment_runs() -> None:
    environment = GymnasiumEnvironment(
        gymnasium.make_vec("MountainCarContinuous-v0", 4), success=lambda step: step.terminated
    )
    observation = environment.reset(0)
    start, ends = observation.clone(), 0
    for _ in range(300):
        # Pushing along the velocity climbs out of the valley.
        step = environment.step(observation[:, 1:].sign())
        observation = step.observation
        ends += int(step.success.sum())
        assert torch.equal(observation[step.success], start[step.success])
    assert ends >= 8


def renamed(**spaces: Any) -> Any:
    """A vector environment of ``Counting`` worlds with other spaces."""
    changed = type("Changed", (Counting,), spaces)
    return SyncVectorEnv([changed])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: GymnasiumEnvironment(renamed(action_space=Discrete(2))),
            r"Actions are Discrete\(2\); only Box",
        ),
        (
            lambda: GymnasiumEnvironment(renamed(observation_space=Dict({"a": Box(0, 1)}))),
            r"Observations are Dict\(.*FlattenObservation",
        ),
        (
            lambda: GymnasiumEnvironment(renamed(action_space=Box(0, np.inf, (2,)))),
            "finite bounds",
        ),
        (
            lambda: GymnasiumEnvironment(renamed(action_space=Box(0, 4, (2,), np.int64))),
            "real numbers",
        ),
        (lambda: counting(horizon=None), "does not tell its horizon; pass horizon="),
        (lambda: counting(horizon=0), "horizon is 0; it must be positive"),
        (lambda: counting(interval=None), "does not tell its interval"),
        (lambda: counting(interval=-0.1), "interval is -0.1"),
        (
            lambda: GymnasiumEnvironment(
                Opaque(SyncVectorEnv([Counting])), horizon=9, interval=0.1
            ),
            "pass keep_configuration=False",
        ),
        (
            lambda: GymnasiumEnvironment(
                AsyncVectorEnv([Counting], shared_memory=False), horizon=9, interval=0.1
            ),
            "use shared_memory=True",
        ),
        (lambda: GymnasiumEnvironment(undeclared(), horizon=9, interval=0.1), "how it resets"),
        (lambda: stepped(success=lambda step: True), r"success of a step has shape \(\)"),
        (lambda: stepped(success="shaped"), r"info\['shaped'\] has shape \(2, 2\)"),
    ],
)
def test_what_cannot_be_wrapped_is_refused_in_a_sentence(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def undeclared() -> Any:
    vector = SyncVectorEnv([Counting])
    del vector.metadata["autoreset_mode"]
    return vector


def stepped(success: Any) -> None:
    vector = SyncVectorEnv([lambda: Titled("shaped", lambda x: np.zeros(2))] * 2)
    environment = GymnasiumEnvironment(vector, success=success, horizon=9, interval=0.1)
    environment.reset(0)
    environment.step(torch.zeros(2, 2))


def test_a_same_step_environment_must_show_how_episodes_ended() -> None:
    class Secretive(Opaque):
        def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
            return *super().step(actions)[:4], {}

    vector = Secretive(SyncVectorEnv([Counting] * 4, autoreset_mode=AutoresetMode.SAME_STEP))
    environment = GymnasiumEnvironment(
        vector, success="success", horizon=12, interval=0.1, keep_configuration=False
    )
    environment.reset(0)
    with pytest.raises(ValueError, match="final_obs"):
        coast(environment, OWN_LIMIT)
