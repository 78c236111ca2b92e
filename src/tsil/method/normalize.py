"""Running statistics. They change between iterations only, never inside one."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tsil.method import parallel


class RunningMoments(nn.Module):
    """Mean and variance of everything seen so far, per feature (Chan et al.'s update)."""

    mean: Tensor
    """(features,) float64."""
    variance: Tensor
    """(features,) float64."""
    count: Tensor
    """() float64: samples seen."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(features, dtype=torch.float64))
        self.register_buffer("variance", torch.ones(features, dtype=torch.float64))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    @torch.no_grad()
    def update(self, samples: Tensor) -> None:
        """samples: (m, features)."""
        m, mean, variance = parallel.mean_and_variance(samples.to(torch.float64))
        if m == 0:
            return
        total = self.count + m
        delta = mean - self.mean
        spread = self.variance * self.count + variance * m + delta**2 * (self.count * m / total)
        self.mean += delta * (m / total)
        self.variance = spread / total
        self.count = total

    @property
    def std(self) -> Tensor:
        """(features,) float32, never zero."""
        return (self.variance + 1e-8).sqrt().to(torch.float32)

    @property
    def center(self) -> Tensor:
        """(features,) float32."""
        return self.mean.to(torch.float32)


class ReturnScale(nn.Module):
    """Divides rewards by the running std of their discounted return.

    The current scale serves rollouts and replay alike, so the memory can store raw rewards.
    """

    running: Tensor
    """(n,) float32: each world's discounted return so far, reset when its episode ends."""

    def __init__(self, environments: int, gamma: float) -> None:
        super().__init__()
        self.gamma = gamma
        self.moments = RunningMoments(1)
        self.register_buffer("running", torch.zeros(environments))

    @torch.no_grad()
    def update(self, reward: Tensor, ended: Tensor, valid: Tensor) -> None:
        """reward: (T, n), unscaled. ended, valid: (T, n) bool."""
        returns = torch.empty_like(reward)
        running = self.running
        for t in range(len(reward)):
            # A step that is no transition must not leak its reward into the episode after it.
            running = torch.where(valid[t], self.gamma * running + reward[t], running)
            returns[t] = running
            running = running.masked_fill(ended[t], 0.0)
        self.running = running
        self.moments.update(returns[valid].unsqueeze(1))

    @property
    def scale(self) -> Tensor:
        """() float32: what rewards are divided by."""
        return self.moments.std[0]
