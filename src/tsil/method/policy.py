"""The policy: what a run leaves behind. Normalization lives inside it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from tsil.method import parallel
from tsil.method.configuration import Network
from tsil.method.normalize import RunningMoments

LOG_ROOT_TAU = 0.5 * math.log(2.0 * math.pi)


class MLP(nn.Module):
    """Linear, LayerNorm, tanh for each hidden layer, then one Linear.

    Weights are float32. Hidden layers compute in ``dtype``; the last layer in float32, because
    means, log-likelihoods and values are compared at a finer grain than bfloat16 resolves.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        hidden: tuple[int, ...],
        gain: float,
        dtype: torch.dtype,
        generator: Generator,
    ) -> None:
        super().__init__()
        self.dtype = dtype
        sizes = (inputs, *hidden)
        self.linears = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        self.norms = nn.ModuleList(nn.LayerNorm(b) for b in hidden)
        self.last = nn.Linear(hidden[-1], outputs)
        for linear in self.linears:
            _initialize(linear, math.sqrt(2.0), generator)
        _initialize(self.last, gain, generator)

    def forward(self, x: Tensor) -> Tensor:
        """x: (m, inputs) float32 → (m, outputs) float32."""
        dtype = self.dtype
        x = x.to(dtype)
        for linear, norm in zip(self.linears, self.norms, strict=True):
            assert isinstance(linear, nn.Linear)
            assert isinstance(norm, nn.LayerNorm)
            x = F.linear(x, linear.weight.to(dtype), linear.bias.to(dtype))
            x = F.layer_norm(x, (x.shape[1],), norm.weight.to(dtype), norm.bias.to(dtype))
            x = tanh(x)
        out: Tensor = self.last(x.to(torch.float32))
        return out


def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent. On a CPU it is taken as 2σ(2x) - 1 in float32, which torch computes
    two (bfloat16) to five (float32) times as fast."""
    if x.device.type != "cpu":
        return torch.tanh(x)
    return cast(Tensor, _CpuTanh.apply(x))  # type: ignore[no-untyped-call]


class _CpuTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        wide = x.to(torch.float32, copy=True)
        out = wide.add_(wide).sigmoid_().mul_(2.0).sub_(1.0).to(x.dtype)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (out,) = ctx.saved_tensors
        gradient: Tensor = torch.ops.aten.tanh_backward(gradients[0], out)
        return gradient


def _initialize(linear: nn.Module, gain: float, generator: Generator) -> None:
    assert isinstance(linear, nn.Linear)
    nn.init.orthogonal_(linear.weight, gain, generator=generator)
    nn.init.zeros_(linear.bias)


class Policy(nn.Module):
    """π_θ and V_ψ over õ = (o, T_used, D), with the normalizers that belong to them."""

    usual_target: Tensor
    """() float32: median of the targets it was last trained under, seconds. What to show it as D
    for a configuration that has no target of its own."""

    def __init__(
        self,
        observation_size: int,
        action_size: int,
        longest: float,
        sees_time: bool,
        network: Network,
        seed: int = 0,
    ) -> None:
        """longest: T^max in seconds, the unit of the temporal features."""
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        inputs = observation_size + 2 * sees_time
        dtype = getattr(torch, network.precision)
        self.observation_size = observation_size
        self.action_size = action_size
        self.longest = longest
        self.sees_time = sees_time
        self.actor = MLP(inputs, action_size, network.hidden, network.actor_gain, dtype, generator)
        self.critic = MLP(inputs, 1, network.hidden, 1.0, dtype, generator)
        self.log_std = nn.Parameter(torch.full((action_size,), network.log_std))
        self.observations = RunningMoments(observation_size)
        self.values = RunningMoments(1)
        self.register_buffer("usual_target", torch.tensor(longest))

    def augment(self, observation: Tensor, elapsed: Tensor, target: Tensor) -> Tensor:
        """õ as the networks see it: physical features by running statistics, times by T^max.

        observation: (m, observation_size). elapsed, target: (m,) seconds.
        """
        moments = self.observations
        x = ((observation - moments.center) / moments.std).clamp(-10.0, 10.0)
        if not self.sees_time:
            return x
        times = torch.stack((elapsed, target), dim=1) / self.longest
        return torch.cat((x, times), dim=1)

    def mean(self, augmented: Tensor) -> Tensor:
        """μ_θ(õ): (m, action_size)."""
        out: Tensor = self.actor(augmented)
        return out

    def value(self, augmented: Tensor) -> Tensor:
        """V_ψ(õ) in the running normalized space: (m,)."""
        out: Tensor = self.critic(augmented)
        return out.squeeze(1)

    def normalize_value(self, value: Tensor) -> Tensor:
        """From units of scaled reward into the critic's space."""
        return (value - self.values.center) / self.values.std

    def denormalize_value(self, value: Tensor) -> Tensor:
        """From the critic's space into units of scaled reward."""
        return value * self.values.std + self.values.center

    def log_likelihood(self, mean: Tensor, action: Tensor) -> Tensor:
        """log π(a | õ) for a Gaussian around ``mean``: (m,)."""
        z = (action - mean) * torch.exp(-self.log_std)
        return -(0.5 * z.square() + self.log_std + LOG_ROOT_TAU).sum(dim=1)

    def entropy(self) -> Tensor:
        """H(π(· | õ)), the same everywhere because the covariance is: ()."""
        return (self.log_std + 0.5 + LOG_ROOT_TAU).sum()

    @torch.no_grad()
    def act(
        self,
        observation: Tensor,
        elapsed: Tensor,
        target: Tensor,
        generator: Generator | None = None,
    ) -> Tensor:
        """Actions, (m, action_size): drawn with ``generator``, or the mean without one."""
        mean = self.mean(self.augment(observation, elapsed, target))
        return mean if generator is None else self.draw(mean, generator)

    def draw(self, mean: Tensor, generator: Generator) -> Tensor:
        """One action around each row of ``mean``."""
        noise = parallel.randn(len(mean), mean.shape[1], generator, mean.device)
        return mean + noise * self.log_std.exp()
