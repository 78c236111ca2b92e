"""A run that is killed at any moment ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import torch
from safetensors import safe_open

PROGRAM = Path(__file__).with_name("killed_training.py")
TIMES = ("seconds", "simulation_seconds", "learning_seconds")


def train(path: Path, kills: int) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, str(PROGRAM), str(path), str(kills), "7"],
        check=True,
        timeout=1200,
        env=environment,
    )


def contents(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    with safe_open(path, "pt") as file:
        facts = json.loads(file.metadata()["tsil"])
        facts.pop("seconds", None)
        return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118


def metrics(path: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in TIMES} for line in lines]


def test_a_run_killed_22_times_ends_like_one_that_was_not(tmp_path: Path) -> None:
    train(tmp_path / "whole", kills=0)
    train(tmp_path / "killed", kills=22)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    files = sorted(file.relative_to(whole) for file in whole.rglob("*.safetensors"))
    assert files == sorted(file.relative_to(killed) for file in killed.rglob("*.safetensors"))
    assert len(files) >= 7
    for file in files:
        (ours, facts), (theirs, their_facts) = contents(whole / file), contents(killed / file)
        assert facts == their_facts
        assert ours.keys() == theirs.keys()
        assert [name for name in ours if not torch.equal(ours[name], theirs[name])] == []
    assert metrics(whole) == metrics(killed)
    assert len(metrics(killed)) == 100
    assert list(killed.rglob("*.tmp")) == []
