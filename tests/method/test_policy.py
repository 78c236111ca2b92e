"""The network and the Gaussian around it, against NumPy and torch.distributions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tsil.method.configuration import Network
from tsil.method.policy import Policy


def test_likelihood_and_entropy_are_those_of_a_diagonal_gaussian(tools):
    policy = tools.policy()
    policy.log_std.data = torch.tensor([-0.7, 0.4])
    mean, action = torch.randn(2, 50, 2, generator=torch.Generator().manual_seed(0))
    normal = torch.distributions.Normal(mean, policy.log_std.exp())
    likelihood = policy.log_likelihood(mean, action)
    torch.testing.assert_close(likelihood, normal.log_prob(action).sum(1))
    torch.testing.assert_close(policy.entropy(), normal.entropy()[0].sum())


def test_drawn_actions_have_the_policys_mean_and_spread(tools):
    policy = tools.policy()
    policy.log_std.data = torch.tensor([-1.0, 0.5])
    mean = torch.tensor([[0.3, -2.0]]).expand(20_000, 2)
    actions = policy.draw(mean, torch.Generator().manual_seed(0)).detach()
    np.testing.assert_allclose(actions.mean(0), [0.3, -2.0], atol=0.05)
    np.testing.assert_allclose(actions.std(0), np.exp([-1.0, 0.5]), rtol=0.03)


def test_acting_without_a_generator_is_the_mean(tools):
    policy = tools.policy()
    observation, elapsed, target = torch.randn(4, 3), torch.zeros(4), torch.ones(4)
    mean = policy.mean(policy.augment(observation, elapsed, target))
    assert torch.equal(policy.act(observation, elapsed, target), mean)


def numpy_mlp(mlp, x):
    """Linear, LayerNorm, tanh for each hidden layer, then one Linear."""
    w = {name: p.detach().numpy().astype(np.float64) for name, p in mlp.named_parameters()}
    layer = 0
    while f"linears.{layer}.weight" in w:
        x = x @ w[f"linears.{layer}.weight"].T + w[f"linears.{layer}.bias"]
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
        x = np.tanh(x * w[f"norms.{layer}.weight"] + w[f"norms.{layer}.bias"])
        layer += 1
    return x @ w["last.weight"].T + w["last.bias"], layer


def test_networks_are_what_the_paper_says(tools):
    policy = tools.policy(hidden=(16, 12, 8))
    for parameter in policy.parameters():  # biases and norms start where they would not be seen
        parameter.data += 0.1 * torch.randn(
            parameter.shape, generator=torch.Generator().manual_seed(1)
        )
    x = torch.randn(9, 5, generator=torch.Generator().manual_seed(0))
    for network, got in ((policy.actor, policy.mean(x)), (policy.critic, policy.value(x)[:, None])):
        expected, layers = numpy_mlp(network, x.numpy().astype(np.float64))
        assert layers == 3
        np.testing.assert_allclose(got.detach(), expected, rtol=1e-4, atol=1e-5)


def test_the_default_network_is_the_papers():
    policy = Policy(39, 4, 2.5, True, Network())
    sizes = [linear.out_features for linear in policy.actor.linears]
    assert sizes == [linear.out_features for linear in policy.critic.linears]
    assert sizes == [512, 256, 128, 64, 32]
    assert policy.actor.linears[0].in_features == 41
    assert policy.log_std.tolist() == [0.0] * 4
    # The last layer starts small: a fresh policy's mean is near zero everywhere.
    mean = policy.mean(torch.randn(500, 41, generator=torch.Generator().manual_seed(0)))
    assert mean.abs().max() < 0.1
    assert not {p.data_ptr() for p in policy.actor.parameters()} & {
        p.data_ptr() for p in policy.critic.parameters()
    }


def test_one_seed_one_policy(tools):
    first, again, other = (tools.policy(seed=s).state_dict() for s in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["actor.linears.0.weight"], other["actor.linears.0.weight"])


def test_inputs_are_normalized_features_then_time_and_target_over_the_longest(tools):
    policy = tools.policy(longest=2.5)
    seen = np.random.default_rng(0).normal([1, 2, 30], [0.1, 5, 9], (400, 3)).astype(np.float32)
    policy.observations.update(torch.from_numpy(seen))
    elapsed, target = np.float32([0.0, 1.0, 2.5]), np.float32([2.5, 0.7, 0.7])
    got = policy.augment(*(torch.from_numpy(x) for x in (seen[:3], elapsed, target)))
    wide = seen.astype(np.float64)
    np.testing.assert_allclose(got[:, :3], (wide[:3] - wide.mean(0)) / wide.std(0), rtol=1e-4)
    np.testing.assert_allclose(got[:, 3:], np.stack((elapsed, target), 1) / 2.5, rtol=1e-6)


def test_a_policy_without_time_does_not_see_it(tools):
    policy = tools.policy(sees_time=False)
    observation = torch.randn(4, 3)
    early = policy.augment(observation, torch.zeros(4), torch.ones(4))
    late = policy.augment(observation, torch.ones(4), torch.zeros(4))
    assert early.shape == (4, 3)
    assert torch.equal(early, late)


def test_values_map_into_the_critics_space_and_back(tools):
    policy = tools.policy()
    returns = np.random.default_rng(0).normal(40.0, 7.0, 300).astype(np.float32)
    policy.values.update(torch.from_numpy(returns)[:, None])
    wide = returns.astype(np.float64)
    mapped = policy.normalize_value(torch.from_numpy(returns))
    np.testing.assert_allclose(mapped, (wide - wide.mean()) / wide.std(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(policy.denormalize_value(mapped), returns, rtol=1e-6)


@pytest.mark.parametrize("what", ["mean", "value"])
def test_bfloat16_layers_stay_close_to_float32(what):
    """Half precision in the hidden layers moves outputs by under 3 % of their spread."""
    x = torch.randn(2000, 41, generator=torch.Generator().manual_seed(0))
    fine, coarse = (
        Policy(39, 4, 2.5, True, Network(precision=precision, actor_gain=1.0), seed=1)
        for precision in ("float32", "bfloat16")
    )
    with torch.no_grad():
        exact, near = getattr(fine, what)(x), getattr(coarse, what)(x)
    assert near.dtype == torch.float32
    error = (near - exact).square().mean().sqrt() / exact.std()
    assert 0.0 < error < 0.03
