"""Our rewards beside Meta-World's own, on states recorded in Meta-World: the parity command.

``python -m tsil.mt15.parity`` makes a virtual environment with Meta-World in it (once), plays
every task there under Meta-World's scripted policy, the same with noise, and random actions, and
prints how far our reward and success are from what Meta-World gives for those states and for
others with hand and objects put elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import torch
import tyro
from torch import Tensor

from tsil.mt15.rewards import REWARDS, Outcome
from tsil.mt15.state import Initial, State

REQUIREMENTS = ("metaworld==3.1.1", "packaging")
"""``packaging`` is imported by Meta-World's Gymnasium without being asked for."""
LARGEST_DIFFERENCE = 1e-5
_RECORDER = Path(__file__).with_name("parity_recorder.py")


@dataclass(frozen=True, slots=True)
class Record:
    """Recorded states of one task, float64."""

    state: State
    meta_world: Outcome
    """What Meta-World gave for them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ours against Meta-World's on one task's record."""

    task: str
    states: int
    successes: int
    """States that Meta-World calls a success."""
    difference: float
    """Largest absolute difference in reward."""
    mismatches: int
    """States on which success differs."""

    @property
    def equal(self) -> bool:
        """Whether both agree as far as this project asks."""
        return self.difference <= LARGEST_DIFFERENCE and self.mismatches == 0


def state_of(columns: Mapping[str, Tensor]) -> State:
    """A state from its fields by name, those of ``Initial`` with the prefix ``initial_``."""
    initial = Initial(**{f.name: columns[f"initial_{f.name}"] for f in fields(Initial)})
    now = {f.name: columns[f.name] for f in fields(State) if f.name != "initial"}
    return State(**now, initial=initial)


def read_record(path: Path) -> Record:
    """Read what the recorder wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        columns = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    return Record(state_of(columns), Outcome(columns["reward"], columns["success"]))


def compare(task: str, record: Record) -> Comparison:
    """Evaluate our reward on a record."""
    ours, theirs = REWARDS[task](record.state), record.meta_world
    return Comparison(
        task=task,
        states=len(theirs.reward),
        successes=int(theirs.success.sum()),
        difference=float((ours.reward - theirs.reward).abs().max()),
        mismatches=int((ours.success != theirs.success).sum()),
    )


def make_environment(folder: Path) -> Path:
    """Python with Meta-World in a virtual environment, made in ``folder`` unless it is there."""
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        print(f"making a virtual environment with {REQUIREMENTS[0]} in {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        ready.touch()
    return python


def record(python: Path, folder: Path, states: int, tasks: Sequence[str]) -> None:
    """Record ``states`` states of each task into ``folder`` with Meta-World's Python."""
    # -I keeps this package's folder, where the script lies, from shadowing other modules.
    command = [str(python), "-I", "-W", "ignore", str(_RECORDER), str(folder), str(states), *tasks]
    subprocess.run(command, check=True, stdout=sys.stderr)


def table(comparisons: Sequence[Comparison]) -> str:
    """What the command prints."""
    lines = [
        f"{'task':<18}{'states':>7}{'successes':>11}{'largest difference':>20}{'mismatches':>12}"
    ]
    lines += [
        f"{c.task:<18}{c.states:>7}{c.successes:>11}{c.difference:>20.1e}{c.mismatches:>12}"
        for c in comparisons
    ]
    return "\n".join(lines)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tsil"


def main(
    tasks: tuple[str, ...] = tuple(REWARDS),
    states: int = 3000,
    environment: Path | None = None,
    records: Path | None = None,
) -> int:
    """Compare our rewards with Meta-World's on states recorded there; 0 when they are equal.

    Args:
        tasks: Names of the tasks to compare.
        states: How many states to keep of each task's episodes.
        environment: Folder of the virtual environment with Meta-World, made when it is not there;
            in the user's cache by default.
        records: Folder to keep the records in; they are thrown away by default.
    """
    for task in tasks:
        if task not in REWARDS:
            nearest = get_close_matches(task, REWARDS, n=1, cutoff=0.0)[0]
            known = ", ".join(REWARDS)
            raise ValueError(
                f"There is no task {task!r}; there are {known}; did you mean {nearest!r}?"
            )
    python = make_environment(environment or _cache() / "metaworld-3.1.1")
    with tempfile.TemporaryDirectory() as temporary:
        folder = records or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        record(python, folder.resolve(), states, tasks)
        comparisons = [compare(task, read_record(folder / f"{task}.npz")) for task in tasks]
    print(table(comparisons))
    return 0 if all(comparison.equal for comparison in comparisons) else 1


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(main))
    except (ValueError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
