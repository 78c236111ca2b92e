"""PPO: advantages and the clipped loss."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tsil.method import parallel
from tsil.method.configuration import PPO
from tsil.method.policy import Policy


def advantages(
    reward: Tensor, value: Tensor, next_value: Tensor, ended: Tensor, gamma: float, lam: float
) -> Tensor:
    """Generalized advantage estimates Â_t: (T, n).

    All arguments are (T, n). ``ended`` marks where the estimate ends: at the end of an episode, and
    before a step that is no transition. ``next_value`` is V of what followed the step: of the next
    observation inside an episode, of the *final* observation where the episode was cut, and 0
    where it ended for good, by success or failure.
    """
    out = torch.empty_like(reward)
    residual = reward + gamma * next_value - value
    decay = (gamma * lam) * (~ended).to(reward.dtype)
    running = torch.zeros_like(reward[0])
    for t in reversed(range(len(reward))):
        running = residual[t] + decay[t] * running
        out[t] = running
    return out


def normalize_advantages(advantage: Tensor, valid: Tensor) -> Tensor:
    """Zero mean and unit variance over the task's valid transitions: (T, n)."""
    _, mean, variance = parallel.mean_and_variance(advantage[valid].unsqueeze(1))
    return (advantage - mean) / (variance.sqrt() + 1e-8)


@dataclass(slots=True)
class Fresh:
    """m transitions of the current rollout, as a minibatch sees them."""

    augmented: Tensor
    """(m, inputs): õ_t, normalized."""
    action: Tensor
    """(m, action_size)."""
    log_likelihood: Tensor
    """(m,): log π_θold(a_t | õ_t)."""
    advantage: Tensor
    """(m,): A_t, normalized."""
    returns: Tensor
    """(m,): G_t in the critic's space."""

    def chosen(self, index: Tensor) -> Fresh:
        """The transitions that ``index``, numbers or flags, picks."""
        return Fresh(*(getattr(self, name)[index] for name in self.__slots__))


@dataclass(slots=True)
class PPOTerms:
    """L_PPO and what it is made of, each a ()."""

    loss: Tensor
    surrogate: Tensor
    value: Tensor
    kl: Tensor
    """Approximate KL(θ_old ‖ θ)."""
    clipped: Tensor
    """Share of transitions whose ratio left the clip range."""


def ppo_loss(policy: Policy, batch: Fresh, settings: PPO) -> PPOTerms:
    """L_PPO over one minibatch."""
    log_likelihood = policy.log_likelihood(policy.mean(batch.augmented), batch.action)
    log_ratio = log_likelihood - batch.log_likelihood
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1.0 - settings.clip, 1.0 + settings.clip)
    surrogate = -torch.minimum(ratio * batch.advantage, clipped * batch.advantage).mean()
    value = 0.5 * (policy.value(batch.augmented) - batch.returns).square().mean()
    loss = (
        surrogate
        + settings.value_coefficient * value
        - settings.entropy_coefficient * policy.entropy()
    )
    with torch.no_grad():
        kl = (ratio - 1.0 - log_ratio).mean()
        outside = (ratio != clipped).float().mean()
    return PPOTerms(loss, surrogate.detach(), value.detach(), kl, outside)
