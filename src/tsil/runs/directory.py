"""A run directory: everything about one training, readable without us."""

from __future__ import annotations

import fcntl
import json
import math
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import torch

from tsil.method.configuration import Configuration, flatten
from tsil.runs.files import named, read_json, write_bytes, write_json

EXPLANATION = """\
# A training run of tsil

| file | holds |
|---|---|
| config.json | task, method and every setting: enough to run it again |
| machine.json | versions and hardware, one entry per sitting |
| metrics.jsonl | one JSON line per iteration |
| checkpoint.safetensors | everything, to go on from |
| checkpoint-N.safetensors | the same of process N, where several trained together |
| nonfinite.safetensors | the same, where numbers stopped being finite, if they did |
| policies/last.safetensors | the latest policy |
| policies/best.safetensors | best training success rate in the final 10 %; of equals the later |
| policies/at-N.safetensors | policies on the way, after N environment steps |
| events/ | the metrics for TensorBoard |
| evaluations.jsonl | one line per `tsil eval` |
| videos/ | what `tsil play` recorded |

    tsil train --resume DIRECTORY     go on where it stopped
    tsil train --like DIRECTORY       begin again with the same settings, and others on top
    tsil eval DIRECTORY               judge the policy on fresh configurations
    tsil play DIRECTORY               watch it
    tsil report DIRECTORY             one page with everything
"""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run needs besides the method's configuration."""

    task: str | None = None
    """Name of the task; None for an environment that the caller brings."""
    threads: int = 0
    """CPU threads for simulation and learning; 0 is one per core. Part of what determines a
    run bit for bit."""
    device: str = "cpu"
    """cpu or cuda."""
    checkpoint_every: int = 10
    """Iterations between checkpoints."""

    def __post_init__(self) -> None:
        for name, least in (("threads", 0), ("checkpoint_every", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} is {value!r}: it must be a whole number, {least} or more")
        for name, value in (("task", self.task or ""), ("device", self.device)):
            if not isinstance(value, str):
                raise ValueError(f"{name} is {value!r}: it must be a name")
        if self.device.partition(":")[0] not in ("cpu", "cuda"):
            raise ValueError(f"device is {self.device!r}: it must be cpu or cuda")


class RunDirectory:
    """Paths and contents of one run; ``EXPLANATION`` says what is what."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.machine = self.path / "machine.json"
        self.metrics = self.path / "metrics.jsonl"
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.nonfinite = self.path / "nonfinite.safetensors"
        self.policies = self.path / "policies"
        self.last = self.policies / "last.safetensors"
        self.best = self.policies / "best.safetensors"
        self.events = self.path / "events"
        self.evaluations = self.path / "evaluations.jsonl"
        self.videos = self.path / "videos"
        self._lock: IO[str] | None = None

    def own_checkpoint(self, rank: int) -> Path:
        """The checkpoint of one of several processes that train together."""
        return self.checkpoint.with_stem(f"checkpoint-{rank}") if rank else self.checkpoint

    # ------------------------------------------------------------------------------ settings

    def check_free(self) -> None:
        """Refuse a directory that holds anything."""
        if self.path.exists() and not (self.path.is_dir() and self._empty()):
            hint = ": go on with --resume, or choose another" if self.config.exists() else ""
            raise ValueError(f"{self.path} exists and is not empty{hint}")

    def create(self, configuration: Configuration, setup: Setup) -> None:
        """Start an empty run; a directory that holds anything is left alone."""
        self.check_free()
        self.path.mkdir(parents=True, exist_ok=True)
        settings = {"tsil": _version("tsil"), **flatten(setup), **flatten(configuration)}
        write_json(self.config, settings)  # first: with it alone a killed run can go on

    def _empty(self) -> bool:
        """Whether there is nothing but what a kill left behind."""
        return all(x.name.startswith(".") and x.suffix == ".tmp" for x in self.path.iterdir())

    def read(self) -> tuple[Configuration, Setup]:
        """The settings of an existing run."""
        if not self.config.is_file():
            raise ValueError(f"{self.path} is not a run: there is no {self.config.name} in it")
        values = read_json(self.config)
        if not isinstance(values, dict):
            raise ValueError(f"{self.config} must hold the settings of a run by name")
        values.pop("tsil", None)
        expected = {**flatten(Configuration()), **flatten(Setup())}
        missing = sorted(expected.keys() - values.keys())
        if missing:
            raise ValueError(f"{self.config} lacks the field {missing[0]!r}")
        try:
            setup = Setup(**{name: values.pop(name) for name in flatten(Setup())})
            return Configuration.from_flat(values), setup
        except (TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{self.config}: {error}") from None

    # ------------------------------------------------------------------------------- sittings

    def open(self) -> None:
        """Begin a sitting: nobody else may train here, and leftovers of a kill go."""
        self._lock = open(self.path / ".lock", "w")  # noqa: SIM115
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ValueError(f"{self.path} is in use: somebody is training there") from None
        for leftover in (*self.path.glob(".*.tmp"), *self.policies.glob(".*.tmp")):
            leftover.unlink(missing_ok=True)
        (self.path / "README.md").write_text(EXPLANATION)
        sittings = read_json(self.machine) if self.machine.is_file() else []
        if not isinstance(sittings, list):
            raise ValueError(f"{self.machine} must hold a list of sittings")
        write_json(self.machine, [*sittings, facts()])

    def close(self) -> None:
        """End a sitting."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # -------------------------------------------------------------------------------- metrics

    def append(self, line: dict[str, Any]) -> None:
        """Add one line of metrics; a kill can cost the line under way, nothing else."""
        _append(self.metrics, line)

    def lines(self) -> Iterator[dict[str, Any]]:
        """The metrics so far. A last line cut short by a kill is passed over."""
        return _lines(self.metrics, "iteration")

    def rewind(self, iteration: int) -> None:
        """Forget metrics after ``iteration``: training goes on from there."""
        kept = [line for line in self.lines() if line["iteration"] <= iteration]
        write_bytes(self.metrics, "".join(json.dumps(line) + "\n" for line in kept).encode())

    # ---------------------------------------------------------------- policies and evaluations

    def policy(self, name: str = "best") -> Path:
        """The policy file called ``name``: best, last, early or a number of steps.

        A run that has not come to its last 10 % has no best policy yet; the last one stands in.
        ``early`` is the first one kept.
        """
        if name == "best":
            found = self.best if self.best.is_file() else self.last
        elif name == "early":
            found = min(self.snapshots(), key=snapshot_steps, default=self.last)
        else:
            stem = f"at-{name}" if name.isdigit() else name
            found = self.policies / f"{stem}.safetensors"
        if found.is_file():
            return found
        if not self.config.is_file():
            raise ValueError(f"{self.path} is not a run: there is no {self.config.name} in it")
        stored = sorted(file.stem for file in self.policies.glob("*.safetensors"))
        raise ValueError(
            f"{self.path} has no policy {name!r}: "
            + (f"there are {', '.join(stored)}" if stored else "nothing has been saved yet")
        )

    def snapshots(self) -> list[Path]:
        """The policies kept on the way, earliest first."""
        files = [x for x in self.policies.glob("at-*.safetensors") if x.stem[3:].isdigit()]
        return sorted(files, key=snapshot_steps)

    def record_evaluation(self, line: dict[str, Any]) -> None:
        """Keep the outcome of an evaluation with the run."""
        _append(self.evaluations, line)

    def evaluated(self) -> Iterator[dict[str, Any]]:
        """The evaluations so far."""
        return _lines(self.evaluations, "success_rate")


def snapshot_steps(path: Path) -> int:
    """Environment steps behind a policy kept on the way."""
    return int(path.stem.removeprefix("at-"))


def facts() -> dict[str, Any]:
    """Versions and hardware."""
    packages = ("tsil", "torch", "numpy", "mujoco", "mujoco-warp", "gymnasium")
    return {
        "packages": {name: found for name in packages if (found := _version(name))},
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _append(path: Path, line: dict[str, Any]) -> None:
    with named(path), open(path, "a") as file:
        file.write(json.dumps(_finite(line)) + "\n")


def _lines(path: Path, key: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of ``path``, each of which must have a number called ``key``."""
    if not path.is_file():
        return
    text = path.read_text(errors="replace").splitlines()
    for number, raw in enumerate(text, start=1):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
            if number == len(text):
                return
        if not isinstance(line, dict) or not isinstance(line.get(key), int | float):
            raise ValueError(f"{path} is damaged at line {number}")
        yield line


def _finite(line: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN: what is not a number is null."""
    return {
        k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()
    }
