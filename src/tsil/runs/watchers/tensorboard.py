"""The run for TensorBoard."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tsil.method.learner import Record

if TYPE_CHECKING:
    from tsil.runs.training import Timing

GROUPS = {
    "success": ("success_rate", "completion_time", "total_successes", "episodes", "task_reward"),
    "target": ("target_mean",),
    "memory": ("memory_successes", "memory_fallback", "memory_bytes", "buffer_time"),
    "ppo": (
        "surrogate_loss",
        "value_loss",
        "entropy",
        "kl",
        "clipped",
        "gradient_norm",
        "action_std",
    ),
    "imitation": (
        "imitation_policy_loss",
        "imitation_value_loss",
        "positive_gap_share",
        "mean_gap",
    ),
}
"""Which fields of a record are shown together."""


def scalars(record: Record, timing: Timing, counters: dict[str, int]) -> dict[str, float]:
    """What a record says, as grouped numbers; what is not a number is left out."""
    values = asdict(record)
    named = {f"{group}/{name}": values[name] for group, names in GROUPS.items() for name in names}
    named["time/simulation_seconds"] = timing.simulation
    named["time/learning_seconds"] = timing.learning
    named.update({f"environment/{name}": count for name, count in counters.items()})
    return {name: float(value) for name, value in named.items() if math.isfinite(value)}


class TensorBoardWatcher:
    """Writes event files."""

    def __init__(self, folder: Path, steps: int) -> None:
        """steps: environment steps so far; a resumed run hides events that came after them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of TensorBoard's own dependencies
            from torch.utils.tensorboard import SummaryWriter
        purge = steps + 1 if steps else None
        self.writer = SummaryWriter(str(folder), purge_step=purge)

    def watch(self, record: Record, timing: Timing, counters: dict[str, int]) -> None:
        """Take an iteration in."""
        for name, value in scalars(record, timing, counters).items():
            self.writer.add_scalar(name, value, record.steps)

    def close(self) -> None:
        """Finish the file."""
        self.writer.close()
