"""What the paper's robustness experiments do to training."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import torch
from torch import Generator, Tensor
from torch.nn import Parameter

from tsil.method import parallel
from tsil.method.configuration import PPO, Disturbances


def disturbed(settings: PPO, disturbances: Disturbances) -> PPO:
    """PPO's settings under the disturbances that only change settings.

    Gradient noise is as large as the gradients times a factor of 5 to 20: a norm clip on top
    would scale the signal away, so it is lifted, as in the authors' code.
    """
    changes: dict[str, float | None] = {}
    if disturbances.clip_ratio is not None:
        changes["clip"] = disturbances.clip_ratio
    if disturbances.learning_rate is not None:
        changes["learning_rate"] = disturbances.learning_rate
    if disturbances.gradient_noise > 0.0:
        changes["gradient_clip"] = None
    return dataclasses.replace(settings, **changes)  # type: ignore[arg-type]


@torch.no_grad()
def gradient_rms(parameters: Iterable[Parameter]) -> list[Tensor]:
    """Root mean square of each parameter's gradient: () each."""
    return [p.grad.square().mean().sqrt() for p in parameters if p.grad is not None]


@torch.no_grad()
def add_gradient_noise(
    parameters: Iterable[Parameter], rms: list[Tensor], scale: float, generator: Generator
) -> None:
    """Add N(0, (scale x RMS)²) to each parameter's gradient."""
    graded = [p for p in parameters if p.grad is not None]
    for parameter, size in zip(graded, rms, strict=True):
        assert parameter.grad is not None
        noise = torch.randn(parameter.shape, generator=generator, device=parameter.device)
        parameter.grad.add_(noise * (scale * size))


class RewardDropout:
    """Drops the dense task reward of whole episodes, each with probability p."""

    kept: Tensor
    """(n,) bool: whether the episode under way keeps its dense reward."""

    def __init__(
        self, probability: float, environments: int, generator: Generator, device: torch.device
    ) -> None:
        self.probability = probability
        self.generator = generator
        self.kept = self._draw(environments, 1, device).squeeze(1)

    def _draw(self, worlds: int, episodes: int, device: torch.device) -> Tensor:
        """Masks of episodes: (worlds, episodes) bool. Drawn for the worlds of all processes."""
        everyone = torch.rand(
            worlds * parallel.count(), episodes, generator=self.generator, device=device
        )
        return parallel.share(everyone) >= self.probability

    def mask(self, ended: Tensor) -> Tensor:
        """Which steps keep their dense reward: (T, n) bool.

        ended: (T, n) bool. A world's mask is drawn anew after each step that ends an episode.
        """
        out = torch.empty_like(ended)
        drawn = self._draw(ended.shape[1], ended.shape[0], ended.device)
        for t in range(len(ended)):
            out[t] = self.kept
            self.kept = torch.where(ended[t], drawn[:, t], self.kept)
        return out
