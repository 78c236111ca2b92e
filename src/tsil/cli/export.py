"""``tsil export``: a policy as an ONNX file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from tsil.cli import threads as cores
from tsil.cli.arguments import parse


@dataclass(frozen=True)
class Arguments:
    """Write a policy as an ONNX file, with its normalization inside, and check that file.

    It maps raw observations, elapsed time and target (seconds) to the mean action.
    """

    run: Annotated[Path, Positional, arg(metavar="RUN")]
    """A run directory."""
    onnx: Annotated[Path, arg(metavar="FILE.onnx")]
    """Where to write it."""
    policy: str = "best"
    """best, last, early, or a number of steps: which of the run's policies."""


def run(arguments: list[str]) -> int:
    """Export."""
    asked = parse(Arguments, "export", arguments)
    if asked.onnx.suffix.lower() != ".onnx":
        raise ValueError(f"--onnx is {str(asked.onnx)!r}: it must end in .onnx")
    for package in ("onnx", "onnxscript", "onnxruntime"):
        if find_spec(package) is None:
            raise ModuleNotFoundError(name="tsil[onnx]")
    cores.use(1)
    from tsil.runs.directory import RunDirectory
    from tsil.runs.export import export_onnx
    from tsil.runs.policies import load_policy

    policy, _ = load_policy(RunDirectory(asked.run).policy(asked.policy))
    difference = export_onnx(policy, asked.onnx)
    inputs = "observation, elapsed, target" if policy.sees_time else "observation"
    print(f"Wrote {asked.onnx}: {inputs} → action")
    print(f"Checked with onnxruntime: within {difference:.1e} of the policy in float32")
    return 0
