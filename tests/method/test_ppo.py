"""Advantages and the clipped loss, against loops over episodes and plain autograd."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tsil.method.configuration import PPO
from tsil.method.ppo import Fresh, advantages, normalize_advantages, ppo_loss

GAMMA, LAM = 0.97, 0.9


def slow_advantages(reward, value, after, final, how, valid):
    """Σ (γλ)^l δ_{t+l}, summed forward from every step to its episode's (or the rollout's) end.

    how: (T, n) of "", "success", "failure", "timeout". after: V of the next observation.
    final: V of the observation an episode ended in.
    """
    length, n = reward.shape
    out = np.zeros((length, n))
    for i in range(n):
        for t in range(length):
            weight = 1.0
            for s in range(t, length):
                if not valid[s, i]:
                    break
                following = {"": after[s, i], "timeout": final[s, i]}.get(how[s, i], 0.0)
                out[t, i] += weight * (reward[s, i] + GAMMA * following - value[s, i])
                weight *= GAMMA * LAM
                if how[s, i]:
                    break
    return out


@pytest.mark.parametrize("seed", range(5))
def test_advantages_match_the_sum_over_each_episode(seed):
    numbers = np.random.default_rng(seed)
    length, n = 13, 7
    how = numbers.choice(["", "success", "failure", "timeout"], (length, n), p=[0.7, 0.1, 0.1, 0.1])
    valid = np.ones((length, n), bool)
    # Under next-step autoreset the step after an end is no transition.
    for t in range(length - 1):
        wasted = (how[t] != "") & valid[t] & (numbers.random(n) < 0.5)
        valid[t + 1] = ~wasted
        how[t + 1][wasted] = ""
    reward, value, after, final = (numbers.normal(size=(length, n)) for _ in range(4))
    after[:-1] = value[1:]
    expected = slow_advantages(reward, value, after, final, how, valid)

    following = np.where(how == "", after, np.where(how == "timeout", final, 0.0))
    got = advantages(
        *(torch.from_numpy(x) for x in (reward, value, following, how != "")), GAMMA, LAM
    )
    np.testing.assert_allclose(got.numpy()[valid], expected[valid], rtol=1e-12, atol=1e-12)


def test_undiscounted_advantages_with_lambda_1_are_returns_minus_values():
    reward = torch.ones(4, 1)
    value = torch.tensor([[3.0], [1.0], [4.0], [1.0]])
    following = torch.tensor([[1.0], [4.0], [1.0], [10.0]])
    ended = torch.tensor([[False], [False], [False], [True]])
    got = advantages(reward, value, following, ended, 1.0, 1.0)
    assert (got + value).flatten().tolist() == [14.0, 13.0, 12.0, 11.0]


def test_advantages_are_normalized_over_the_valid_transitions():
    numbers = np.random.default_rng(0)
    advantage = numbers.normal(3.0, 5.0, (6, 4)).astype(np.float32)
    valid = numbers.random((6, 4)) < 0.7
    advantage[~valid] = 1e6  # must not be felt
    chosen = advantage[valid].astype(np.float64)
    got = normalize_advantages(torch.from_numpy(advantage), torch.from_numpy(valid)).numpy()[valid]
    np.testing.assert_allclose(got, (chosen - chosen.mean()) / chosen.std(), rtol=1e-4, atol=1e-5)


def test_equal_advantages_normalize_to_zero():
    got = normalize_advantages(torch.full((3, 2), 7.0), torch.ones(3, 2, dtype=torch.bool))
    assert torch.equal(got, torch.zeros(3, 2))


def batch_for(policy, size=64, seed=0):
    """Transitions whose ratios leave the clip range on both sides, for both signs of A."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    augmented, action = normal(size, 5), normal(size, 2)
    with torch.no_grad():
        now = policy.log_likelihood(policy.mean(augmented), action)
    return Fresh(augmented, action, now + 0.3 * normal(size), normal(size), normal(size))


def slow_loss(policy, batch, settings):
    """L_PPO, transition by transition (paper, appendix: Eq. of the PPO loss)."""
    std = policy.log_std.exp()
    total = torch.zeros(())
    for x, a, old, advantage, g in zip(
        batch.augmented, batch.action, batch.log_likelihood, batch.advantage, batch.returns,
        strict=True,
    ):  # fmt: skip
        normal = torch.distributions.Normal(policy.actor(x[None])[0], std)
        rho = torch.exp(normal.log_prob(a).sum() - old)
        clipped = min(max(rho, 1 - settings.clip), 1 + settings.clip)
        surrogate = -min(rho * advantage, clipped * advantage)
        value = settings.value_coefficient / 2 * (policy.critic(x[None])[0, 0] - g) ** 2
        total = total + surrogate + value - settings.entropy_coefficient * normal.entropy().sum()
    return total / len(batch.returns)


def gradients(policy, loss):
    return torch.autograd.grad(loss, list(policy.parameters()), allow_unused=True)


@pytest.mark.parametrize("clip", [0.2, 0.7])
def test_ppo_loss_and_gradients_match_a_loop_over_transitions(tools, clip):
    policy, settings = (
        tools.policy(),
        PPO(clip=clip, value_coefficient=3.0, entropy_coefficient=0.1),
    )
    batch = batch_for(policy)
    terms, expected = ppo_loss(policy, batch, settings), slow_loss(policy, batch, settings)
    assert terms.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for got, want in zip(gradients(policy, terms.loss), gradients(policy, expected), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-6)


def test_ppo_terms_report_kl_and_clipping(tools):
    policy, settings = tools.policy(), PPO()
    batch = batch_for(policy)
    terms = ppo_loss(policy, batch, settings)
    with torch.no_grad():
        log_ratio = policy.log_likelihood(policy.mean(batch.augmented), batch.action)
        log_ratio = (log_ratio - batch.log_likelihood).numpy().astype(np.float64)
    outside = [math.exp(x) < 0.8 or math.exp(x) > 1.2 for x in log_ratio]
    assert 0.1 < np.mean(outside) < 0.9
    assert terms.clipped.item() == pytest.approx(np.mean(outside))
    assert terms.kl.item() == pytest.approx(np.mean([math.expm1(x) - x for x in log_ratio]), 1e-4)
