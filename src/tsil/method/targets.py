"""Temporal targets D(φ): Eq. 1."""

from __future__ import annotations

import torch
from torch import Tensor


class Targets:
    """The fastest completion known for each configuration; T^max until there is one."""

    seconds: Tensor
    """(n,) float32: D(φ)."""

    def __init__(self, environments: int, longest: float, device: torch.device) -> None:
        self.seconds = torch.full((environments,), longest, device=device)

    def tighten(self, success: Tensor, completion: Tensor) -> None:
        """D ← min(D, fastest T^succ of this iteration), per configuration (Eq. 1).

        success: (T, n) bool. completion: (T, n) seconds, read where ``success`` holds.
        """
        fastest = completion.masked_fill(~success, torch.inf).amin(dim=0)
        self.seconds = torch.minimum(self.seconds, fastest)
