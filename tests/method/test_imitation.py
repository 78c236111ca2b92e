"""Relabelling, sampling and L_SI, against loops over stored episodes and plain autograd."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tsil.method.configuration import Imitation
from tsil.method.imitation import Replay, Stored, imitation_loss

GAMMA, HORIZON = 0.93, 11
LONGEST = HORIZON / 60


@pytest.fixture(scope="module")
def filled(tools):
    """A memory with successes, cut and failed episodes, under normalizers that do something."""
    script = tools.random_script(5, 30, HORIZON, seed=2, success=0.4)
    return fill(tools, [*script, [("failure", 6), ("timeout", HORIZON)]])


def fill(tools, script, rollouts=3, bonus=None, **settings):
    environment = tools.Scripted(script, HORIZON)
    settings = {"k": 3, "gamma": GAMMA, **settings}
    memory, recorder = tools.memory(environment, **settings), tools.Recorder(environment)
    if bonus is None:
        bonus = torch.full((len(script), HORIZON), 2.0)
    episodes = []
    for rollout in tools.rollouts(environment, 9, rollouts):
        memory.update(rollout, rollout.task_reward, bonus)
        episodes += [e for _, e in recorder.finished(lambda step: step["reward"])]
    policy = tools.policy(longest=LONGEST)
    numbers = np.random.default_rng(3)
    policy.observations.update(torch.from_numpy(numbers.normal(1.5, 2.5, (200, 3))).float())
    policy.values.update(torch.from_numpy(numbers.normal(4.0, 3.0, (200, 1))).float())
    by_action = {tuple(e.actions[0]): e for e in episodes}
    stored = []
    for i, world in enumerate(tools.contents(memory)):
        for x in world:
            episode = by_action[tuple(x["actions"][0])]
            stored.append(SimpleNamespace(world=i, slot=x["slot"], episode=episode))
    return SimpleNamespace(memory=memory, policy=policy, stored=stored, worlds=len(script))


def replay_of(filled, tools, unit="trajectory", weighted=True, seed=0, scale=3.7, bonus=None):
    """B̂ under random targets; and the targets and bonuses as arrays."""
    numbers = np.random.default_rng(seed)
    target = numbers.uniform(0.02, LONGEST, filled.worlds).astype(np.float32)
    if bonus is None:
        bonus = numbers.uniform(0.0, 50.0, (filled.worlds, HORIZON)).astype(np.float32)
    replay = Replay(
        filled.memory, filled.policy, torch.from_numpy(target), torch.from_numpy(bonus),
        torch.tensor(scale), tools.interval, unit, weighted,
    )  # fmt: skip
    return replay, target, bonus


def slow_input(policy, observation, elapsed, target):
    """ô: running statistics for the physical part, T^max for the times."""
    mean, variance = policy.observations.mean.numpy(), policy.observations.variance.numpy()
    x = (observation - mean) / np.sqrt(variance)
    times = [elapsed / LONGEST, target / LONGEST]
    return torch.from_numpy(np.concatenate((x, times))).float()


def slow_value(policy, x):
    """V in units of scaled reward."""
    std, mean = float(policy.values.variance.sqrt()), float(policy.values.mean)
    return policy.critic(x[None]).item() * std + mean


@pytest.mark.parametrize("weighted", [True, False])
def test_relabelled_transitions_match_a_loop(filled, tools, weighted):
    policy, scale = filled.policy, 3.7
    kinds = Counter(s.episode.how for s in filled.stored)
    assert set(kinds) == {"success", "timeout", "failure"}
    for seed in (0, 1):  # the same memory under other targets and bonuses
        replay, target, bonus = replay_of(filled, tools, weighted=weighted, seed=seed)
        for s in filled.stored:
            e, d = s.episode, float(target[s.world])
            succeeded, length = e.how == "success", len(e)
            paid = bonus[s.world, length - 1] * succeeded
            final = slow_input(policy, e.final, length / 60, d)
            tail = slow_value(policy, final) * (e.how == "timeout")
            ghat = e.returns(GAMMA, paid, tail, scale)
            std, mean = float(policy.values.variance.sqrt()), float(policy.values.mean)
            weight = 1 + succeeded * min(d / (length / 60), 1) if weighted else 1

            steps = torch.arange(length)
            got = replay.transitions(torch.full((length,), s.slot), steps)
            np.testing.assert_allclose(
                got.returns.detach(), [(g - mean) / std for g in ghat], rtol=1e-4, atol=1e-4
            )
            np.testing.assert_allclose(got.weight, [weight] * length, rtol=1e-5)
            np.testing.assert_array_equal(got.action, e.actions)
            expected = [slow_input(policy, o, t / 60, d) for t, o in enumerate(e.observations)]
            torch.testing.assert_close(got.augmented, torch.stack(expected), rtol=1e-4, atol=1e-5)


def places(filled, batch):
    """(slot, step) of each sampled transition, found by its action."""
    where = {tuple(a): (s.slot, t) for s in filled.stored for t, a in enumerate(s.episode.actions)}
    return [where[tuple(a)] for a in batch.action.numpy()]


def test_trajectories_are_laid_end_to_end_up_to_the_budget(filled, tools):
    replay, *_ = replay_of(filled, tools)
    length = {s.slot: len(s.episode) for s in filled.stored}
    generator = torch.Generator().manual_seed(0)
    for budget in (1, 7, 64, 500):
        found = places(filled, replay.sample(budget, generator))
        assert len(found) == budget
        expected_next = None
        for slot, step in found:
            assert (slot, step) == expected_next or (expected_next is None and step == 0)
            expected_next = (slot, step + 1) if step + 1 < length[slot] else None


def starts(filled, replay, budget=4000, draws=5):
    generator = torch.Generator().manual_seed(0)
    found = [x for _ in range(draws) for x in places(filled, replay.sample(budget, generator))]
    return Counter(slot for slot, step in found if step == 0), Counter(found)


def assert_even(counts, among):
    """Counts as of ``among`` equally likely things: Pearson's χ² within 5 standard deviations."""
    assert set(counts) <= set(among)
    seen = np.array([counts[x] for x in among], float)
    chi = ((seen - seen.mean()) ** 2 / seen.mean()).sum()
    degrees = len(seen) - 1
    assert abs(chi - degrees) < 5 * np.sqrt(2 * degrees), (chi, degrees)


def test_trajectory_sampling_draws_every_stored_trajectory_alike(filled, tools):
    """Fast successes and fallback together, whatever their length."""
    replay, *_ = replay_of(filled, tools)
    trajectories, transitions = starts(filled, replay)
    assert_even(trajectories, [s.slot for s in filled.stored])
    # A step of a long trajectory is as likely as one of a short one.
    assert len(transitions) == sum(len(s.episode) for s in filled.stored)


def test_transition_sampling_draws_every_stored_transition_alike(filled, tools):
    replay, *_ = replay_of(filled, tools, unit="transition")
    _, transitions = starts(filled, replay)
    every = [(s.slot, t) for s in filled.stored for t in range(len(s.episode))]
    assert_even(transitions, every)


def test_an_empty_memory_gives_nothing(tools):
    filled = fill(tools, [[("timeout", HORIZON)]], rollouts=1)  # 9 of 11 steps
    assert filled.stored == []
    replay, *_ = replay_of(filled, tools)
    assert replay.sample(8, torch.Generator().manual_seed(0)) is None


S, F = "success", "failure"


@pytest.mark.parametrize(
    ("script", "budget", "share"),
    [
        # Two worlds, k = 3; a success is 2 steps, so 12 steps of successes are stored.
        ([(S, 2), (F, 9)] * 3, 100, 12),  # never more than are stored
        ([(S, 2), (F, 9)] * 3, 10, 5),  # at most half
        ([(S, 2), (F, 9)] * 3, 400, 20),  # never under a twentieth
        ([(F, 9), (F, 8)] * 3, 100, 0),  # no success
    ],
)
def test_split_shares(tools, script, budget, share):
    """The authors' rule. Failures return more than successes here, so the pools are disjoint."""
    nothing = torch.zeros(2, HORIZON)

    class Paying(tools.Scripted):
        """Pays 1 a step, so that long failures return most."""

        def step(self, action):
            out = super().step(action)
            out.task_reward.fill_(1.0)
            return out

    environment = Paying([list(script)] * 2, HORIZON)
    memory = tools.memory(environment, k=3, gamma=1.0, pool="split")
    recorder, episodes = tools.Recorder(environment), []
    for rollout in tools.rollouts(environment, 33, 1):
        memory.update(rollout, rollout.task_reward, nothing)
        episodes += [e for _, e in recorder.finished(lambda step: step["reward"])]
    how = {tuple(a): e.how for e in episodes for a in e.actions}
    filled = SimpleNamespace(memory=memory, policy=tools.policy(longest=LONGEST), worlds=2)
    replay, *_ = replay_of(filled, tools, bonus=nothing.numpy())
    batch = replay.sample(budget, torch.Generator().manual_seed(0))
    drawn = Counter(how[tuple(a)] for a in batch.action.numpy())
    assert drawn.total() == budget
    assert drawn["success"] == share


def test_split_of_successes_alone_is_a_full_batch(tools):
    filled = fill(tools, [[(S, 2), (S, 3)]] * 2, pool="split")
    replay, *_ = replay_of(filled, tools)
    assert len(replay.sample(101, torch.Generator().manual_seed(0)).returns) == 101


def replay_batch(policy, size, seed=0, shift=0.0):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    return Stored(
        normal(size, 5), normal(size, 2), normal(size) + shift,
        1.0 + torch.rand(size, generator=generator),
    )  # fmt: skip


def slow_imitation_loss(policy, batch, settings):
    """Eq. 3 over every transition, gradients through all of them."""
    v = policy.critic(batch.augmented)[:, 0]
    gap = torch.where(batch.returns > v, batch.returns - v, 0.0)
    push = gap.detach()
    if settings.scale_gap:
        push = torch.minimum(push / np.std(push.numpy()), torch.tensor(1.0))
    normal = torch.distributions.Normal(policy.actor(batch.augmented), policy.log_std.exp())
    likelihood = normal.log_prob(batch.action).sum(1)
    return (-batch.weight * push * likelihood + settings.value_coefficient / 2 * gap**2).mean()


@pytest.mark.parametrize("scale_gap", [False, True])
@pytest.mark.parametrize(("size", "shift"), [(5, 0.0), (300, 0.0), (512, 9.0), (1500, -1.0)])
def test_imitation_loss_and_gradients_match_the_plain_formula(tools, size, shift, scale_gap):
    policy = tools.policy()
    policy.log_std.data = torch.tensor([-0.4, 0.3])
    batch = replay_batch(policy, size, shift=shift)
    settings = Imitation(value_coefficient=0.3, scale_gap=scale_gap)
    terms = imitation_loss(policy, batch, settings)
    expected = slow_imitation_loss(policy, batch, settings)
    assert terms.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    parameters = list(policy.parameters())
    got = torch.autograd.grad(terms.loss, parameters)
    want = torch.autograd.grad(expected, parameters)
    for a, b in zip(got, want, strict=True):
        assert b.abs().max() > 0
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6 * float(b.abs().max()))
    with torch.no_grad():
        v = policy.critic(batch.augmented)[:, 0].numpy()
    gap = np.maximum(batch.returns.numpy() - v, 0)
    assert terms.gap.item() == pytest.approx(gap.mean(), rel=1e-4)
    assert terms.positive.item() == pytest.approx((gap > 0).mean())
    assert (terms.policy + 0.3 * terms.value).item() == pytest.approx(terms.loss.item(), rel=1e-5)


def test_nothing_to_imitate_is_a_loss_of_zero(tools):
    policy = tools.policy()
    batch = replay_batch(policy, 40, shift=-100.0)
    terms = imitation_loss(policy, batch, Imitation())
    values = [terms.loss, terms.policy, terms.value, terms.positive, terms.gap]
    assert [x.item() for x in values] == [0.0] * 5


def test_the_policys_term_does_not_move_the_critic(tools):
    """A⁺ is a constant where it weighs the likelihood."""
    policy = tools.policy()
    terms = imitation_loss(policy, replay_batch(policy, 60), Imitation(value_coefficient=0.0))
    for gradient in torch.autograd.grad(terms.loss, list(policy.critic.parameters())):
        assert torch.equal(gradient, torch.zeros_like(gradient))
