"""Self-imitation: B̂_i, the memory seen under the current targets, and the loss of Eq. 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Generator, Tensor

from tsil.method.configuration import Imitation
from tsil.method.memory import Memory
from tsil.method.policy import Policy

ROUND = 128
"""Batches with a gradient are filled up to multiples of this many rows: every new matrix shape
costs the CPU's kernel library a new kernel."""


@dataclass(slots=True)
class Stored:
    """m replayed transitions."""

    augmented: Tensor
    """(m, inputs): ô_t, normalized, with the current target."""
    action: Tensor
    """(m, action_size)."""
    returns: Tensor
    """(m,): Ĝ_t in the critic's space."""
    weight: Tensor
    """(m,): w."""


class Replay:
    """B̂_i: the memory relabelled under D_i and the normalizers of one iteration."""

    def __init__(
        self,
        memory: Memory,
        policy: Policy,
        target: Tensor,
        bonus: Tensor,
        reward_scale: Tensor,
        interval: float,
        unit: Literal["trajectory", "transition"],
        speed_weighted: bool,
    ) -> None:
        """target: (n,) seconds. bonus: (n, horizon) raw r_succ of a completion at step 1 ….

        reward_scale: () what raw rewards are divided by.
        """
        self.memory, self.policy, self.unit = memory, policy, unit
        self.interval, self.scale = interval, reward_scale
        slots = memory.slots
        per_world = slots.length.shape[1]
        self.target = target.repeat_interleave(per_world)
        self.length = slots.length.flatten()
        self.success = slots.success.flatten()
        fast, rest = memory.pools(bonus)
        self.fast = fast.flatten().nonzero().squeeze(1)
        """Numbers, through the (n, S) slots, of the fast successes."""
        self.rest = rest.flatten().nonzero().squeeze(1)
        """Numbers of the other trajectories that replay draws from."""
        last = (slots.length - 1).clamp(min=0)
        self.bonus = (bonus.gather(1, last) * slots.success).flatten()
        self.completion = self.length * interval
        speed = (self.target / self.completion.clamp(min=interval)).clamp(max=1.0)
        self.weight = 1.0 + self.success * speed if speed_weighted else torch.ones_like(speed)
        self.tail = self._bootstrap(slots.cut.flatten())

    @torch.no_grad()
    def _bootstrap(self, cut: Tensor) -> Tensor:
        """V of the final observation of cut trajectories, in units of scaled reward: (n S,)."""
        tail = torch.zeros(len(cut), device=cut.device)
        chosen = (cut & (self.length > 0)).nonzero().squeeze(1)
        if len(chosen) > 0:
            padded = _pad(chosen)
            augmented = self.policy.augment(
                self.memory.final_observations(padded),
                self.completion[padded],
                self.target[padded],
            )
            value = self.policy.denormalize_value(self.policy.value(augmented))
            tail[chosen] = value[: len(chosen)]
        return tail

    def returns(self, trajectory: Tensor, step: Tensor, row: Tensor) -> Tensor:
        """Ĝ_t in units of scaled reward: (m,)."""
        gamma = self.memory.gamma
        ahead = (self.length[trajectory] - step).to(torch.float32)
        paid = self.memory.task_return[row] + gamma ** (ahead - 1.0) * self.bonus[trajectory]
        return paid / self.scale + gamma**ahead * self.tail[trajectory]

    def transitions(self, trajectory: Tensor, step: Tensor) -> Stored:
        """Chosen steps of chosen trajectories, relabelled: (m,) each."""
        row = self.memory.rows(trajectory, step)
        augmented = self.policy.augment(
            self.memory.observations(row), step * self.interval, self.target[trajectory]
        )
        returns = self.policy.normalize_value(self.returns(trajectory, step, row))
        return Stored(augmented, self.memory.action[row], returns, self.weight[trajectory])

    def sample(self, budget: int, generator: Generator) -> Stored | None:
        """One replay batch of ``budget`` transitions, or None while the memory is empty."""
        if len(self.fast) + len(self.rest) == 0:
            return None
        trajectory, step = self._choose(budget, generator)
        return self.transitions(trajectory, step)

    def _choose(self, budget: int, generator: Generator) -> tuple[Tensor, Tensor]:
        if self.memory.pool == "fill":
            return self._draw(torch.cat((self.fast, self.rest)), budget, generator)
        # The authors' split: at most half of the batch from successes, never more of their steps
        # than are stored, never under a twentieth once there is one.
        stored = int(self.length[self.fast].sum())
        fast = min(budget // 2, max(stored, budget // 20)) if stored > 0 else 0
        parts = [
            self._draw(pool, share, generator)
            for pool, share in ((self.fast, fast), (self.rest, budget - fast))
            if share > 0
        ]
        return torch.cat([t for t, _ in parts]), torch.cat([s for _, s in parts])

    def _draw(self, pool: Tensor, budget: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """``budget`` steps from the trajectories in ``pool``: their numbers and steps.

        By trajectory: trajectories are drawn evenly and laid end to end until the budget is
        full. By transition: every stored transition is as likely as any other.
        """
        device = pool.device
        if self.unit == "trajectory":
            pick = torch.randint(len(pool), (budget,), generator=generator, device=device)
            pool = pool[pick]
            place = torch.arange(budget, device=device)
        ends = self.length[pool].cumsum(0)
        if self.unit == "transition":
            place = torch.rand(
                budget, generator=generator, device=device, dtype=torch.float64
            ).mul_(ends[-1])
            place = place.to(torch.int64)
        which = torch.searchsorted(ends, place, right=True)
        trajectory = pool[which]
        return trajectory, place - (ends[which] - self.length[trajectory])


@dataclass(slots=True)
class ImitationTerms:
    """L_SI and what it is made of, each a ()."""

    loss: Tensor
    policy: Tensor
    value: Tensor
    positive: Tensor
    """Share of the batch whose gap is positive."""
    gap: Tensor
    """Mean gap A⁺, in the critic's space."""


def imitation_loss(policy: Policy, batch: Stored, settings: Imitation) -> ImitationTerms:
    """L_SI = E[ -w A⁺ log π(a | ô) + (λ_V,SI / 2) (A⁺)² ] over the replay batch (Eq. 3).

    A⁺ = [Ĝ - V]₊ is a constant in the first term and trains the critic in the second. Where it
    is zero, both terms and their gradients are, so only the rest goes through the networks with
    gradients.
    """
    size = len(batch.returns)
    with torch.no_grad():
        gap = (batch.returns - policy.value(batch.augmented)).clamp(min=0.0)
        spread = gap.std(correction=0) if settings.scale_gap else None
    positive = (gap > 0.0).nonzero().squeeze(1)
    chosen = _pad(positive)
    if len(positive) == 0:
        zero = gap.new_zeros(())
        return ImitationTerms(zero, zero, zero, zero, zero)
    inside = torch.arange(len(chosen), device=gap.device) < len(positive)
    augmented = batch.augmented[chosen]
    live_gap = (batch.returns[chosen] - policy.value(augmented)).clamp(min=0.0) * inside
    push = live_gap.detach()
    if spread is not None:
        push = (push / (spread + 1e-8)).clamp(max=1.0)
    log_likelihood = policy.log_likelihood(policy.mean(augmented), batch.action[chosen])
    policy_term = -(batch.weight[chosen] * push * log_likelihood).sum() / size
    value_term = 0.5 * live_gap.square().sum() / size
    return ImitationTerms(
        loss=policy_term + settings.value_coefficient * value_term,
        policy=policy_term.detach(),
        value=value_term.detach(),
        positive=(gap > 0.0).float().mean(),
        gap=gap.mean(),
    )


def _pad(index: Tensor) -> Tensor:
    """``index`` filled up with its first entry (or 0) to a multiple of ``ROUND``."""
    short = -len(index) % ROUND
    return torch.cat((index, index[:1].expand(short))) if len(index) else index
