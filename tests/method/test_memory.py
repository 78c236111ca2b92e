"""B(φ): ranking, pools, pages and precision, against a memory of plain lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tsil.method.memory import PAGE

# Rewards, bonuses and this discount are powers of two, so that discounted sums are exact in
# float32 and float64 alike: ties in return are ties in both.
GAMMA = 0.5
REWARDS = (0.0, 0.25, 0.5, 1.0)
HORIZON = 18


def assert_same(memory, reference, tools, tolerance=1e-5):
    """Every slot holds the reference's episode, step by step, and nothing else is held."""
    for stored, expected in zip(tools.contents(memory), reference.kept, strict=True):
        assert len(stored) == len(expected)
        for got, episode in zip(stored, expected, strict=True):
            assert got["how"] == episode.how
            np.testing.assert_array_equal(got["actions"], episode.actions)
            np.testing.assert_allclose(got["observations"], episode.observations, atol=tolerance)
            np.testing.assert_allclose(got["final"], episode.final, atol=tolerance)
            np.testing.assert_allclose(got["rewards"], episode.rewards, rtol=1e-6)
            np.testing.assert_allclose(
                got["returns"], episode.returns(reference.gamma), rtol=1e-5, atol=1e-6
            )


def assert_pools(memory, reference, bonus, tools):
    fast, rest = memory.pools(torch.from_numpy(bonus.astype(np.float32)))
    for i, stored in enumerate(tools.contents(memory)):
        wanted = reference.pools(i, bonus[i])
        for got, want in zip((fast, rest), wanted, strict=True):
            chosen = [x for x in stored if got.flatten()[x["slot"]]]
            assert len(chosen) == len(want)
            first_actions = sorted(tuple(x["actions"][0]) for x in chosen)
            assert first_actions == sorted(tuple(e.actions[0]) for e in want)


def assert_no_page_is_lost_or_shared(memory):
    """Stored trajectories, episodes under way and the free list are a partition of the arena."""
    used = [table[table >= 0] for table in (memory.slots.pages, memory.open)]
    pages = torch.cat((*used, memory.free)).tolist()
    assert sorted(pages) == list(range(memory.capacity))
    filled = (memory.slots.pages >= 0).sum(2)
    assert torch.equal(filled, -(-memory.slots.length // PAGE))


def stream(tools, script, resets_cost_a_step, rollout_length, rollouts, seed, **memory_settings):
    """Random episodes through both memories; yields after every rollout."""
    environment = tools.Scripted(
        script, HORIZON, resets_cost_a_step=resets_cost_a_step, rewards=REWARDS
    )
    memory = tools.memory(environment, gamma=GAMMA, **memory_settings)
    reference = tools.ListMemory(len(script), memory.k, memory.ranking, memory.pool, GAMMA)
    recorder = tools.Recorder(environment)
    numbers = np.random.default_rng(seed)
    # Bonuses fall with completion time, and change from one iteration to the next.
    for rollout in tools.rollouts(environment, rollout_length, rollouts, seed=seed):
        bonus = numbers.choice([0.25, 0.5, 1.0, 2.0], (len(script), HORIZON))
        bonus = -np.sort(-bonus, axis=1)
        memory.update(rollout, rollout.task_reward, torch.from_numpy(bonus.astype(np.float32)))
        for i, episode in recorder.finished(lambda step: step["reward"]):
            reference.offer(i, episode, bonus[i])
        yield memory, reference, bonus


ends = st.one_of(
    st.tuples(st.sampled_from(["success", "failure"]), st.integers(1, HORIZON)),
    st.just(("timeout", HORIZON)),
    st.tuples(st.just("timeout"), st.integers(1, HORIZON)),  # cut early: physics diverged
)
scripts = st.lists(st.lists(ends, min_size=1, max_size=6), min_size=1, max_size=4)


@settings(max_examples=150)
@given(
    script=scripts,
    resets_cost_a_step=st.booleans(),
    rollout_length=st.integers(1, 23),
    k=st.integers(1, 3),
    how=st.sampled_from([("fast", "fill"), ("fast", "split"), ("return", "fill")]),
    seed=st.integers(0, 1000),
)
def test_any_stream_of_episodes_is_kept_as_by_a_list(
    tools, script, resets_cost_a_step, rollout_length, k, how, seed
):
    ranking, pool = how
    rollouts = 2 + 80 // rollout_length
    for memory, reference, bonus in stream(
        tools, script, resets_cost_a_step, rollout_length, min(rollouts, 12), seed,
        k=k, ranking=ranking, pool=pool,
    ):  # fmt: skip
        assert_same(memory, reference, tools)
        assert_pools(memory, reference, bonus, tools)
        assert_no_page_is_lost_or_shared(memory)


@pytest.mark.parametrize("how", [("fast", "fill"), ("fast", "split"), ("return", "fill")])
def test_a_long_stream_over_many_worlds_grows_and_compacts(tools, how):
    """Long failures first, then short successes: the arena must grow and then shrink."""
    ranking, pool = how
    worlds = 12
    script = [
        [("timeout", HORIZON)] * 4 + tools.random_script(1, 30, 9, seed, success=0.9)[0]
        for seed in range(worlds)
    ]
    capacities = []
    for memory, reference, bonus in stream(
        tools, script, False, 10, 25, 0, k=3, ranking=ranking, pool=pool
    ):
        assert_same(memory, reference, tools)
        assert_pools(memory, reference, bonus, tools)
        assert_no_page_is_lost_or_shared(memory)
        capacities.append(memory.capacity)
    changes = np.sign(np.diff(capacities))
    assert 1 in changes  # grew
    assert -1 in changes  # compacted


def kept_lengths(tools, script, rollouts=1, rollout_length=40, **changes):
    """What one world keeps of a script: (how, length) in order of arrival."""
    *_, (memory, _, _) = stream(tools, [script], False, rollout_length, rollouts, 0, k=2, **changes)
    return [(x["how"], len(x["actions"])) for x in tools.contents(memory)[0]], memory


def test_the_fastest_successes_stay(tools):
    script = [("success", x) for x in (9, 4, 7, 5, 8, 7)]
    assert kept_lengths(tools, script)[0] == [("success", 4), ("success", 5)]


def test_ties_in_completion_time_keep_the_older(tools):
    script = [("success", 5)] * 8
    environment = tools.Scripted([script], HORIZON)
    memory, recorder = tools.memory(environment), tools.Recorder(environment)
    (rollout,) = tools.rollouts(environment, 40, 1)
    memory.update(rollout, rollout.task_reward, torch.ones(1, HORIZON))
    oldest = [episode for _, episode in recorder.finished(lambda s: s["reward"])][:2]
    for got, want in zip(tools.contents(memory)[0], oldest, strict=True):
        np.testing.assert_array_equal(got["actions"], want.actions)


def test_the_fallback_fills_only_what_successes_leave_empty(tools):
    script = [("timeout", 18), ("failure", 3), ("success", 12)]
    # 33 steps: two failures fill both slots, then a success takes the worse one's place.
    kept, memory = kept_lengths(tools, script, rollout_length=33)
    assert ("success", 12) in kept
    assert len(kept) == 2
    # 66 steps: the second success fills the memory. Failures are gone, however they return.
    kept, memory = kept_lengths(tools, script, rollout_length=66)
    assert kept == [("success", 12)] * 2
    assert int(memory.pools(torch.ones(1, HORIZON))[1].sum()) == 0


def test_split_shares_trajectories_that_stand_in_both_pools(tools):
    """With successes that also return most, ten places need five trajectories' room."""
    script = [("success", 4), ("success", 5), ("timeout", 18)]
    environment = tools.Scripted([script], HORIZON, rewards=(0.0,))
    memory = tools.memory(environment, pool="split")
    bonus = torch.full((1, HORIZON), 10.0)
    for rollout in tools.rollouts(environment, 30, 3):
        memory.update(rollout, rollout.task_reward, bonus)
    fast, rest = memory.pools(bonus)
    assert int((fast & rest).sum()) == 2
    assert int((memory.slots.length > 0).sum()) == 2


def test_a_return_memory_ranks_by_return_not_by_speed(tools):
    """Reward-rich failures stay, fast successes without a bonus go: what TSIL argues against."""
    environment = tools.Scripted(
        [[("success", 2), ("timeout", 18), ("failure", 15)]], HORIZON, rewards=(1.0,)
    )
    memory = tools.memory(environment, ranking="return", gamma=1.0)
    (rollout,) = tools.rollouts(environment, 35, 1)
    memory.update(rollout, rollout.task_reward, torch.full((1, HORIZON), 0.5))
    assert [x["how"] for x in tools.contents(memory)[0]] == ["timeout", "failure"]
    memory = tools.memory(environment, ranking="return", gamma=1.0)
    memory.update(rollout, rollout.task_reward, torch.full((1, HORIZON), 100.0))
    assert [x["how"] for x in tools.contents(memory)[0]] == ["success", "timeout"]


def test_rewards_are_kept_before_any_scale_or_bonus(tools):
    environment = tools.Scripted([[("success", 3)]], HORIZON)
    memory = tools.memory(environment)
    (rollout,) = tools.rollouts(environment, 3, 1)
    counted = rollout.task_reward * 0.1 - 0.01
    memory.update(rollout, counted, torch.full((1, HORIZON), 1e6))
    (stored,) = tools.contents(memory)[0]
    np.testing.assert_array_equal(stored["rewards"], counted[:, 0])


def test_half_precision_changes_observations_by_less_than_their_noise(tools):
    """Stored in 16 bits, an observation is off by under 0.1 % of its feature's spread, and the
    likelihoods and values computed from it by under 0.2 % of theirs."""
    worlds, horizon, size = 40, 60, 39
    script = tools.random_script(worlds, 8, horizon, seed=3)
    # Features as MT15 has them: metres around a place away from zero, quaternions, constants.
    place = np.random.default_rng(0).uniform(-1.0, 1.0, size).astype(np.float32)
    spread = np.geomspace(1e-3, 1.0, size).astype(np.float32)
    spread[7] = 0.0

    class Placed(tools.Scripted):
        def _numbers(self, salt):
            base = super()._numbers(salt)

            class Numbers:
                choice, uniform = base.choice, base.uniform

                @staticmethod
                def normal(_mean, _std, shape):
                    return place + spread * base.normal(0.0, 1.0, shape)

            return Numbers()

    held = {}
    for half in (False, True):
        environment = Placed(script, horizon, size, 4)
        memory = tools.memory(environment, k=5, half_precision=half)
        for rollout in tools.rollouts(environment, 32, 6):
            memory.update(rollout, rollout.task_reward, torch.ones(worlds, horizon))
        held[half] = list(itertools.chain.from_iterable(tools.contents(memory)))
    assert len(held[True]) == len(held[False]) > 100
    full, half = (
        torch.from_numpy(np.concatenate([x["observations"] for x in held[h]]))
        for h in (False, True)
    )
    assert not torch.equal(full, half)
    actions = torch.from_numpy(np.concatenate([x["actions"] for x in held[False]]))

    policy = tools.policy(size, 4, sees_time=False, hidden=(64, 32))
    policy.observations.update(full)
    zero = torch.zeros(len(full))
    exact, near = policy.augment(full, zero, zero), policy.augment(half, zero, zero)
    assert (near - exact).abs().max() < 0.004  # far out in a feature's distribution
    assert (near - exact).square().mean().sqrt() < 0.001
    with torch.no_grad():
        for output in (
            lambda x: policy.log_likelihood(policy.mean(x), actions),
            policy.value,
        ):
            error = (output(near) - output(exact)).square().mean().sqrt()
            assert error / output(exact).std() < 0.002


def test_half_precision_bears_values_beyond_its_range(tools):
    """An observation too large for 16 bits reads as the clip of the normalized one, not as NaN."""
    policy = tools.policy(1, sees_time=False)
    environment = tools.Scripted([[("success", 4)]], HORIZON, observation_size=1)
    memory = tools.memory(environment, half_precision=True)
    (rollout,) = tools.rollouts(environment, 8, 1)
    rollout.observation[5] = 1e6
    memory.update(rollout, rollout.task_reward, torch.ones(1, HORIZON))
    stored = np.concatenate([x["observations"] for x in tools.contents(memory)[0]])
    x = policy.augment(torch.from_numpy(stored), torch.zeros(8), torch.zeros(8))
    assert bool(x.isfinite().all())


@pytest.mark.parametrize("pool", ["fill", "split"])
def test_memory_of_the_papers_size_stays_under_400_megabytes(tools, pool):
    """6 400 worlds, k = 5, 39 observations, 4 actions, 150 steps; stored successes last 0.7 s on
    average. A tenth of the worlds, times ten, everything held counted after every rollout."""
    worlds, k, horizon, size, actions = 640, 5, 150, 39, 4
    numbers = np.random.default_rng(0)
    # Five that stay, then slower ones that come and go.
    fast, slow = numbers.integers(18, 67, (worlds, k)), numbers.integers(67, 100, (worlds, 6))
    script = [[("success", int(x)) for x in row] for row in np.concatenate((fast, slow), axis=1)]
    environment = tools.Scripted(script, horizon, size, actions)
    memory = tools.memory(environment, k=k, gamma=0.995, pool=pool, half_precision=True)
    seen = []
    bonus = torch.full((worlds, horizon), 200.0)
    for rollout in tools.rollouts(environment, 32, 14):
        memory.update(rollout, rollout.task_reward * 0.1, bonus)
        seen.append(10 * memory.nbytes())
    length = memory.slots.length[memory.fast_successes()].float()
    assert len(length) == k * worlds
    assert length.mean() / 60 == pytest.approx(0.7, abs=0.02)
    # Both pools, each of k padded float32 trajectories: observation, action, reward, return.
    padded = 4 * 10 * worlds * 2 * k * horizon * (size + actions + 2)
    assert max(seen) <= 400e6
    assert max(seen) <= 0.25 * padded


def test_memory_holds_every_byte_that_it_counts(tools):
    environment = tools.Scripted(tools.random_script(6, 20, HORIZON), HORIZON)
    memory = tools.memory(environment)
    for rollout in tools.rollouts(environment, 11, 5):
        memory.update(rollout, rollout.task_reward, torch.ones(6, HORIZON))

    def tensors(thing):
        names = getattr(thing, "__slots__", None) or vars(thing)
        for name in names:
            value = getattr(thing, name)
            if isinstance(value, torch.Tensor):
                yield value.untyped_storage()
            elif hasattr(value, "__slots__"):
                yield from tensors(value)

    held = {storage.data_ptr(): storage.nbytes() for storage in tensors(memory) if storage.nbytes()}
    assert memory.nbytes() == sum(held.values())


@pytest.mark.parametrize("pool", ["fill", "split"])
def test_a_restored_memory_goes_on_bit_for_bit(tools, pool):
    script = tools.random_script(5, 20, HORIZON, seed=4)

    def run(stop_at):
        environment = tools.Scripted(script, HORIZON)
        memory = tools.memory(environment, pool=pool, half_precision=True)
        for number, rollout in enumerate(tools.rollouts(environment, 9, 10)):
            if number == stop_at:
                state = memory.state()
                memory.update(rollout, rollout.task_reward, torch.ones(5, HORIZON))  # thrown away
                memory = tools.memory(environment, pool=pool, half_precision=True)
                memory.restore(state)
                for tensor in state.values():
                    tensor.zero_()  # a state is a copy, on the way out and on the way in
            memory.update(rollout, rollout.task_reward, torch.ones(5, HORIZON))
        return memory.state()

    through, stopped, early = run(None), run(5), run(0)
    for again in (stopped, early):
        assert through.keys() == again.keys()
        assert all(torch.equal(through[name], again[name]) for name in through)


def test_restoring_an_earlier_state_forgets_what_came_since(tools):
    environment = tools.Scripted(tools.random_script(3, 9, HORIZON), HORIZON)
    memory = tools.memory(environment)
    empty = memory.state()
    (rollout,) = tools.rollouts(environment, 30, 1)
    memory.update(rollout, rollout.task_reward, torch.ones(3, HORIZON))
    memory.restore(empty)
    again = memory.state()
    assert again.keys() == empty.keys()
    assert all(torch.equal(again[name], empty[name]) for name in empty)
