"""The run for TensorBoard."""

from __future__ import annotations

import math
import os
import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from tsil.method.learner import Record
from tsil.runs.files import named

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
    grouped = {f"{group}/{name}": values[name] for group, names in GROUPS.items() for name in names}
    grouped["time/simulation_seconds"] = timing.simulation
    grouped["time/learning_seconds"] = timing.learning
    grouped.update({f"environment/{name}": count for name, count in counters.items()})
    return {name: float(value) for name, value in grouped.items() if math.isfinite(value)}


class TensorBoardWatcher:
    """Writes an event file, iteration by iteration, so that a kill costs at most the last."""

    def __init__(self, folder: Path, steps: int) -> None:
        """steps: environment steps so far; a resumed run hides events that came after them."""
        self.path = folder / f"events.out.tfevents.{time.time_ns()}.{platform.node()}.{os.getpid()}"
        with named(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "wb")  # noqa: SIM115
            self._records = RecordWriter(self._file)
            self._write(Event(file_version="brain.Event:2"))
            if steps:
                start = SessionLog(status=SessionLog.START)
                self._write(Event(step=steps + 1, session_log=start))

    def watch(self, record: Record, timing: Timing, counters: dict[str, int]) -> None:
        """Take an iteration in."""
        values = [
            Summary.Value(tag=name, simple_value=value)
            for name, value in scalars(record, timing, counters).items()
        ]
        with named(self.path):
            self._write(Event(step=record.steps, summary=Summary(value=values)))

    def _write(self, event: Event) -> None:
        event.wall_time = time.time()
        self._records.write(event.SerializeToString())
        self._file.flush()

    def close(self) -> None:
        """Finish the file."""
        with named(self.path):
            self._file.close()
