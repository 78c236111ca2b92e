"""The practice environment against a loop in plain Python, and what its routes are worth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tsil.environments.practice import PracticeEnvironment, PracticeSettings
from tsil.method.environment import Environment, Step

SETTINGS = PracticeSettings()
GAMMA = 0.995


class LoopWorld:
    """One world of the practice environment, one float at a time."""

    def __init__(self, environment: PracticeEnvironment, world: int, used: int) -> None:
        self.settings = environment.settings
        self.start = environment.start[world].tolist()
        self.goal = environment.goal[world].tolist()
        self.staging = environment.staging[world].tolist()
        self.hand = list(self.start)
        self.left = self.settings.horizon - used

    def observation(self) -> list[float]:
        to_goal = [g - h for g, h in zip(self.goal, self.hand, strict=True)]
        to_staging = [g - h for g, h in zip(self.staging, self.hand, strict=True)]
        return [*self.hand, *to_goal, *to_staging, math.hypot(*to_goal), math.hypot(*to_staging)]

    def step(self, action: list[float]) -> tuple[list[float], list[float], float, bool, bool]:
        s = self.settings
        for axis in range(2):
            moved = self.hand[axis] + s.stride * min(1.0, max(-1.0, action[axis]))
            self.hand[axis] = min(s.workspace, max(-s.workspace, moved))
        final = self.observation()
        to_goal, to_staging = final[6], final[7]
        inside = 1 / (1 + math.exp((to_staging - s.staging_radius) / s.staging_edge))
        reward = s.approach_pay * math.exp(-to_goal / s.approach_reach) + s.staging_pay * inside
        success = to_goal <= s.goal_radius
        self.left -= 1
        timeout = not success and self.left == 0
        if success:
            reward = s.arrival_reward
        if success or timeout:
            self.hand, self.left = list(self.start), s.horizon
        return self.observation(), final, reward, success, timeout


def test_it_is_an_environment() -> None:
    assert isinstance(PracticeEnvironment(1), Environment)


def test_steps_match_a_loop_over_worlds() -> None:
    # A short horizon and half the hands sent to their goals: both kinds of end, several times.
    n, settings = 6, replace(SETTINGS, horizon=37)
    environment = PracticeEnvironment(n, settings)
    used = torch.tensor([0, 5, 36, 0, 11, 20])
    environment.reset(3, used)
    loops = [LoopWorld(environment, world, int(used[world])) for world in range(n)]
    generator = torch.Generator().manual_seed(0)
    successes = timeouts = 0
    for _ in range(120):
        action = 3 * torch.randn(n, 2, generator=generator)
        action[:3] = (environment.goal - environment.hand)[:3] / settings.stride
        step = environment.step(action)
        for world, loop in enumerate(loops):
            observation, final, reward, success, timeout = loop.step(action[world].tolist())
            assert step.observation[world].tolist() == pytest.approx(observation, abs=1e-5)
            assert step.final_observation[world].tolist() == pytest.approx(final, abs=1e-5)
            assert float(step.task_reward[world]) == pytest.approx(reward, abs=1e-3)
            assert (bool(step.success[world]), bool(step.timeout[world])) == (success, timeout)
            successes, timeouts = successes + success, timeouts + timeout
    assert successes >= 6
    assert timeouts >= 6


def test_configurations_are_drawn_within_their_ranges_and_never_done() -> None:
    environment = PracticeEnvironment(2000)
    observation = environment.reset(0)
    start, goal, staging = environment.start, environment.goal, environment.staging
    from_goal, aside = start - goal, staging - goal
    assert goal.abs().max() <= SETTINGS.goal_spread
    for offset, (low, high) in (
        (from_goal, SETTINGS.start_distance),
        (aside, SETTINGS.staging_distance),
    ):
        distance = offset.norm(dim=1)
        assert low - 1e-5 <= float(distance.min()) < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < float(distance.max()) <= high + 1e-5
    bearing = torch.nn.functional.cosine_similarity(from_goal, aside).acos()
    low, high = SETTINGS.staging_bearing
    assert low - 1e-3 <= float(bearing.min())
    assert float(bearing.max()) <= high + 1e-3
    left = from_goal[:, 0] * aside[:, 1] > from_goal[:, 1] * aside[:, 0]
    assert 0.45 < float(left.float().mean()) < 0.55
    assert observation[:, 6].min() > SETTINGS.goal_radius
    assert start.abs().max() < SETTINGS.workspace


def test_a_seed_determines_the_worlds_and_only_reset_redraws_them() -> None:
    first, second = PracticeEnvironment(8), PracticeEnvironment(8)
    start = first.reset(1)
    assert torch.equal(start, second.reset(1))
    assert not torch.equal(start, second.reset(2))
    for _ in range(SETTINGS.horizon):
        step = first.step(torch.zeros(8, 2))
    assert step.timeout.all()
    assert torch.equal(step.observation, start)


def test_a_restored_environment_goes_on_bit_for_bit() -> None:
    generator = torch.Generator().manual_seed(0)
    actions = 2 * torch.randn(150, 16, 2, generator=generator)
    environment = PracticeEnvironment(16)
    environment.reset(5, torch.arange(16))
    for action in actions[:60]:
        step = environment.step(action)
    saved, observation = environment.state(), step.observation
    untouched = {name: value.clone() for name, value in saved.items()}
    expected = [environment.step(action) for action in actions[60:]]

    other = PracticeEnvironment(16)
    other.reset(99)
    assert torch.equal(other.restore(saved), observation)
    for action, reference in zip(actions[60:], expected, strict=True):
        assert_equal(other.step(action), reference)
    assert all(torch.equal(saved[name], value) for name, value in untouched.items())


def assert_equal(step: Step, reference: Step) -> None:
    for name in ("observation", "final_observation", "task_reward", "success", "timeout"):
        assert torch.equal(getattr(step, name), getattr(reference, name)), name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PracticeEnvironment(0), "num_environments is 0"),
        (lambda: PracticeEnvironment(1, PracticeSettings(horizon=0)), "horizon is 0"),
        (lambda: PracticeEnvironment(1).restore({}), "The state holds nothing"),
        (lambda: PracticeEnvironment(1).restore(started(2).state()), "2 worlds"),
    ],
)
def test_bad_input_is_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def started(n: int) -> PracticeEnvironment:
    environment = PracticeEnvironment(n)
    environment.reset(0)
    return environment


# What the three routes are worth: the numbers behind "the methods really differ on it".

Route = Callable[[PracticeEnvironment, Tensor], Tensor]
"""The point, (n, 2), to head for, given which hands, (n,) bool, have been in the staging area."""


def direct(environment: PracticeEnvironment, staged: Tensor) -> Tensor:
    return environment.goal


def detour(environment: PracticeEnvironment, staged: Tensor) -> Tensor:
    return torch.where(staged[:, None], environment.goal, environment.staging)


def waiting(environment: PracticeEnvironment, staged: Tensor) -> Tensor:
    return environment.staging


def follow(route: Route) -> tuple[Tensor, Tensor]:
    """First episode of 500 worlds along ``route``.

    Returns K, (500,), with 0 for no success, and the discounted task reward × 0.1, (500,), of an
    episode that is bootstrapped at the horizon as if its last reward went on for ever.
    """
    environment = PracticeEnvironment(500)
    environment.reset(7)
    completion = torch.zeros(500)
    running, staged = torch.ones(500), torch.zeros(500, dtype=torch.bool)
    dense = torch.zeros(500)
    for t in range(SETTINGS.horizon):
        staged |= (environment.staging - environment.hand).norm(dim=1) < 0.02
        way = (route(environment, staged) - environment.hand) / SETTINGS.stride
        step = environment.step(way / way.abs().amax(dim=1, keepdim=True).clamp(min=1))
        reward = 0.1 * step.task_reward
        dense += running * GAMMA**t * reward
        completion += running * step.success * (t + 1)
        running *= ~step.success
    return completion, dense + running * GAMMA**SETTINGS.horizon * reward / (1 - GAMMA)


def test_the_best_route_depends_on_the_bonus() -> None:
    (fast, dense_fast), (slow, dense_slow) = follow(direct), follow(detour)
    never, dense_waiting = follow(waiting)
    assert (fast > 0).all()
    assert (slow >= fast).all()
    assert float((slow - fast).mean()) > 8
    assert (never == 0).all()
    wait = float(dense_waiting.mean())

    def worth(dense: Tensor, completion: Tensor, bonus: Tensor | float) -> float:
        return float((dense + GAMMA ** (completion - 1) * bonus).mean())

    # `ih`: 100 for a success is far less than staying.
    assert wait > 1.5 * max(worth(dense_fast, fast, 100), worth(dense_slow, slow, 100))
    # `fttl`: 200 makes going worth a little more than staying, if it is through the staging area.
    fixed_fast, fixed_slow = worth(dense_fast, fast, 200), worth(dense_slow, slow, 200)
    assert fixed_slow > max(fixed_fast, wait) + 2
    # `tsil`, once the target has met the direct route: Eq. 2 with D = K of that route.
    adaptive_fast = worth(dense_fast, fast, 100 * (1 + 1))
    adaptive_slow = worth(dense_slow, slow, 100 * (1 + fast / slow))
    assert adaptive_fast > adaptive_slow + 10
    # A dense reward never tops that of arriving.
    assert SETTINGS.staging_pay + SETTINGS.approach_pay <= SETTINGS.arrival_reward
