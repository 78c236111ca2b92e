"""The run for Weights & Biases (extra ``wandb``)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tsil.method.configuration import Configuration, flatten
from tsil.method.learner import Record
from tsil.runs.watchers.tensorboard import scalars

if TYPE_CHECKING:
    from tsil.runs.training import Timing


class WandbWatcher:
    """Logs to a project; offline unless WANDB_MODE says otherwise."""

    def __init__(self, folder: Path, name: str, configuration: Configuration) -> None:
        """folder: where offline files go. name: of the run, which a resumed one keeps."""
        import wandb

        self.run = wandb.init(
            project="tsil",
            name=name,
            dir=str(folder),
            config=flatten(configuration),
            settings=wandb.Settings(silent=True),  # the live view has the screen
            mode="online" if os.environ.get("WANDB_MODE") == "online" else "offline",
        )

    def watch(self, record: Record, timing: Timing, counters: dict[str, int]) -> None:
        """Take an iteration in."""
        self.run.log(scalars(record, timing, counters), step=record.steps)

    def close(self) -> None:
        """Finish the run."""
        self.run.finish()
