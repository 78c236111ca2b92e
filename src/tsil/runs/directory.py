"""A run directory: everything about one training, readable without us."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from tsil.method.configuration import Configuration, flatten
from tsil.runs.files import read_json, write_bytes, write_json


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


class RunDirectory:
    """Paths and contents of one run.

    config.json      method, task and every setting: enough to run it again
    machine.json     versions and hardware it ran on
    metrics.jsonl    one line per iteration
    checkpoint.safetensors            everything, to go on from
    policies/last.safetensors         the latest policy
    policies/best.safetensors         best training success rate in the final 10 % of the budget
    policies/at-<steps>.safetensors   on the way
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.machine = self.path / "machine.json"
        self.metrics = self.path / "metrics.jsonl"
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.policies = self.path / "policies"
        self.last = self.policies / "last.safetensors"
        self.best = self.policies / "best.safetensors"

    def create(self, configuration: Configuration, setup: Setup) -> None:
        """Start an empty run; a directory that holds anything is left alone."""
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            hint = ": go on with --resume, or choose another" if self.config.exists() else ""
            raise ValueError(f"{self.path} exists and is not empty{hint}")
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.machine, facts())
        settings = {"tsil": _version("tsil"), **_setup(setup), **flatten(configuration)}
        write_json(self.config, settings)

    def read(self) -> tuple[Configuration, Setup]:
        """The settings of an existing run."""
        if not self.config.is_file():
            raise ValueError(f"{self.path} is not a run: there is no {self.config.name} in it")
        values = dict(read_json(self.config))
        values.pop("tsil", None)
        try:
            setup = Setup(**{name: values.pop(name) for name in _setup(Setup())})
        except KeyError as error:
            raise ValueError(f"{self.config} lacks the field {error}") from None
        return Configuration.from_flat(values), setup

    def append(self, line: dict[str, Any]) -> None:
        """Add one line of metrics; a kill can cost the line under way, nothing else."""
        with open(self.metrics, "a") as file:
            file.write(json.dumps(_finite(line)) + "\n")

    def lines(self) -> Iterator[dict[str, Any]]:
        """The metrics so far. A last line cut short by a kill is passed over."""
        if not self.metrics.is_file():
            return
        text = self.metrics.read_text(errors="replace").splitlines()
        for number, raw in enumerate(text, start=1):
            try:
                line = json.loads(raw)
            except json.JSONDecodeError:
                if number == len(text):
                    return
                raise ValueError(f"{self.metrics} is damaged at line {number}") from None
            yield line

    def rewind(self, iteration: int) -> None:
        """Forget metrics after ``iteration``: training goes on from there."""
        kept = [line for line in self.lines() if line["iteration"] <= iteration]
        write_bytes(self.metrics, "".join(json.dumps(line) + "\n" for line in kept).encode())


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


def _setup(setup: Setup) -> dict[str, Any]:
    return flatten(setup)


def _finite(line: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN: what is not a number is null."""
    return {
        k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()
    }
