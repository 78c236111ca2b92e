"""MT15 as an environment, on drawer-open."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tsil.method.environment import Environment, Step
from tsil.mt15 import MT15Environment, make
from tsil.mt15.environment import FRAME

WORLDS = 24


def actions(steps: int, seed: int = 0) -> Tensor:
    return torch.randn(steps, WORLDS, 4, generator=torch.Generator().manual_seed(seed))


def made(threads: int = 2) -> MT15Environment:
    return make("drawer-open", WORLDS, threads=threads)


def copied(step: Step) -> list[Tensor]:
    return [
        part.clone()
        for part in (
            step.observation,
            step.final_observation,
            step.task_reward,
            step.success,
            step.timeout,
        )
    ]


def run(environment: MT15Environment, moves: Tensor) -> list[list[Tensor]]:
    return [copied(environment.step(move)) for move in moves]


def assert_equal(one: list[list[Tensor]], other: list[list[Tensor]]) -> None:
    for first, second in zip(one, other, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_it_is_an_environment() -> None:
    environment = made()
    assert isinstance(environment, Environment)
    assert (environment.horizon, environment.observation_size, environment.action_size) == (
        150,
        39,
        4,
    )
    assert environment.interval == 1 / 60
    assert environment.interval == pytest.approx(4 * environment.engine.model.opt.timestep)


def test_the_observation_is_two_moments_and_the_target() -> None:
    environment = made()
    first = environment.reset(seed=3).clone()
    state = environment.named_positions
    assert first.dtype == torch.float32
    torch.testing.assert_close(
        first[:, :3], torch.tensor([[0.0, 0.6, 0.2]]).expand(WORLDS, 3), atol=2e-3, rtol=0
    )
    handle = environment.configuration[:, :3] + torch.tensor([0.0, -0.17, 0.09])
    torch.testing.assert_close(first[:, 4:7], handle, atol=1e-3, rtol=0)
    assert torch.equal(first[:, 7:11], torch.tensor([[1.0, 0, 0, 0]]).expand(WORLDS, 4))
    assert (first[:, 11:18] == 0).all()
    assert torch.equal(first[:, FRAME : 2 * FRAME], first[:, :FRAME])
    assert torch.equal(first[:, 36:], state.target)
    second = environment.step(actions(1)[0]).observation
    assert torch.equal(second[:, FRAME : 2 * FRAME], first[:, :FRAME])
    assert not torch.equal(second[:, :3], first[:, :3])
    assert torch.equal(second[:, :3], state.hand)
    assert torch.equal(second[:, 3], state.openness)


def test_actions_are_clipped() -> None:
    one, other = made(), made()
    one.reset(seed=0)
    other.reset(seed=0)
    moves = 10 * actions(5)
    assert_equal(run(one, moves), run(other, moves.clamp(-1, 1)))


def test_a_seed_decides_the_configurations_whatever_the_threads() -> None:
    one, other = made(threads=1), made(threads=2)
    assert torch.equal(one.reset(seed=5), other.reset(seed=5))
    assert_equal(run(one, actions(20)), run(other, actions(20)))
    again = one.reset(seed=5).clone()
    assert torch.equal(again, other.reset(seed=5))
    assert not torch.equal(again, one.reset(seed=6))


def test_used_steps_shorten_the_first_episode_only() -> None:
    environment = made()
    used = torch.arange(WORLDS) * 6
    environment.reset(seed=0, used=used)
    ends = torch.zeros(WORLDS, 2, dtype=torch.int64)
    count = torch.zeros(WORLDS, dtype=torch.int64)
    for moment in range(1, 300):
        step = environment.step(torch.zeros(WORLDS, 4))
        assert not step.success.any()
        for world in step.timeout.nonzero()[:, 0].tolist():
            if count[world] < 2:
                ends[world, count[world]] = moment
            count[world] += 1
    assert torch.equal(ends[:, 0], 150 - used)
    assert torch.equal(ends[1:, 1], 300 - used[1:])


def test_an_ended_world_starts_again_in_its_own_configuration() -> None:
    environment = made()
    start = environment.reset(seed=0, used=torch.full((WORLDS,), 140)).clone()
    moves = actions(22)
    first = run(environment, moves[:10])
    observation, final, _, success, timeout = first[-1]
    assert timeout.all()
    assert not success.any()
    assert torch.equal(observation, start)
    assert not torch.equal(final, start)
    assert all(torch.equal(step[0], step[1]) for step in first[:-1])
    # A second life with the same actions is the same life.
    environment.reset(seed=0)
    second = run(environment, moves[:10])
    assert_equal(second[:9], first[:9])
    assert torch.equal(second[9][1], final)


def test_success_ends_an_episode_without_a_timeout() -> None:
    environment = made()
    start = environment.reset(seed=0).clone()
    succeeded = torch.zeros(WORLDS, dtype=torch.bool)
    for _ in range(150):
        step = environment.step(environment.task.script(environment.named_positions))
        assert not (step.success & step.timeout).any()
        assert torch.equal(step.observation[step.success], start[step.success])
        handle, target = step.final_observation[:, 4:7], step.final_observation[:, 36:]
        near = (handle - target).norm(dim=1) <= 0.03
        assert torch.equal(near, step.success)
        succeeded |= step.success
    assert succeeded.all()


def test_state_and_restore_go_on_to_the_bit() -> None:
    environment = made()
    environment.reset(seed=0, used=torch.arange(WORLDS) * 6)
    run(environment, actions(37))
    state = environment.state()
    expected = run(environment, actions(40, seed=1))
    other = made(threads=1)
    other.reset(seed=9)
    observation = other.restore(state)
    assert torch.equal(observation, state["observation"])
    assert_equal(run(other, actions(40, seed=1)), expected)
    assert all(
        torch.equal(value, other.state()[name]) for name, value in environment.state().items()
    )
    assert torch.equal(environment.restore(state), state["observation"])
    assert_equal(run(environment, actions(40, seed=1)), expected)


@pytest.mark.parametrize("value", [float("nan"), 1e30])
def test_a_diverged_world_ends_alone_as_a_timeout(value: float) -> None:
    broken, sound = made(), made()
    start = broken.reset(seed=0).clone()
    sound.reset(seed=0)
    moves = actions(30)
    run(broken, moves[:10])
    *_, last = run(sound, moves[:10])
    broken.engine.field("qvel")[7, 2] = value
    observation, final, reward, success, timeout = copied(broken.step(moves[10]))
    expected = copied(sound.step(moves[10]))
    assert timeout.nonzero().tolist() == [[7]]
    assert not success.any()
    assert torch.equal(observation[7], start[7])
    assert torch.equal(final[7], last[0][7])  # the last good observation
    assert reward[7] == 0.0
    others = torch.arange(WORLDS) != 7
    for mine, theirs in zip((observation, final, reward), expected, strict=False):
        assert torch.equal(mine[others], theirs[others])
    assert broken.counters() == {"diverged": 1}
    for mine, theirs in zip(run(broken, moves[11:]), run(sound, moves[11:]), strict=True):
        assert torch.equal(mine[0][others], theirs[0][others])
        assert torch.isfinite(mine[0]).all()
    assert broken.counters() == {"diverged": 1}
    broken.reset(seed=0)
    assert broken.counters() == {"diverged": 0}


def test_a_step_leaves_torchs_threads_as_they_were() -> None:
    environment = made()
    environment.reset(seed=0)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        environment.step(actions(1)[0])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("drawer-opne", 4, 1), "'drawer-opne'.*'drawer-open'"),
        (("drawer-open", 0, 1), "num_environments is 0"),
        (("drawer-open", 4, 0), "threads is 0"),
    ],
)
def test_bad_input_is_answered_with_one_clear_sentence(
    arguments: tuple[str, int, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make(*arguments)
