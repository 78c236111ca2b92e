"""How far training is, and how well its episodes end."""

from __future__ import annotations

import torch
from torch import Tensor

from tsil.method import parallel
from tsil.method.rollout import Rollout


class Progress:
    """Counters over all iterations."""

    latest: Tensor
    """(n,) bool: whether each world's latest finished episode succeeded; False before any."""

    _COUNTS = ("iterations", "steps", "episodes", "successes", "dropped", "skipped")

    def __init__(self, environments: int, device: torch.device) -> None:
        self.iterations = 0
        self.steps = 0
        self.episodes = 0
        self.successes = 0
        self.dropped = 0
        """Episodes given up because a number in them was not finite."""
        self.skipped = 0
        """Gradient steps not taken because the gradient was not finite."""
        self.latest = torch.zeros(environments, dtype=torch.bool, device=device)

    def count(self, rollout: Rollout) -> None:
        """Take an iteration's episodes in."""
        ended, success = rollout.ended, rollout.success
        self.iterations += 1
        self.steps += ended.numel() * parallel.count()
        self.episodes += int(parallel.total(ended.sum()))
        self.successes += int(parallel.total(success.sum()))
        self.dropped += int(parallel.total(rollout.dropped.sum()))
        order = torch.arange(1, len(ended) + 1, device=ended.device).unsqueeze(1)
        when, last = (ended * order).max(dim=0)
        outcome = success.gather(0, last.unsqueeze(0)).squeeze(0)
        self.latest = torch.where(when > 0, outcome, self.latest)

    @property
    def success_rate(self) -> float:
        """Share of worlds whose latest finished episode was a success.

        A rate over the episodes that happen to end early in training is biased: until the
        horizon has passed once, only successes can end. Counted per world, a world that has
        finished nothing is a world that has not succeeded.
        """
        return float(parallel.gathered(self.latest).float().mean())

    def state(self) -> dict[str, Tensor]:
        """Everything ``restore`` needs."""
        counts = [getattr(self, name) for name in self._COUNTS]
        return {"counts": torch.tensor(counts), "latest": self.latest.clone()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from the state of an equal run."""
        for name, count in zip(self._COUNTS, state["counts"].tolist(), strict=True):
            setattr(self, name, count)
        self.latest = state["latest"].to(self.latest.device, copy=True)
