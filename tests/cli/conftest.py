"""One small trained run that command-line tests look at, and copies of it that they may spoil."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from tsil.cli import main

TINY = (
    *("--envs", "16", "--rollout", "8", "--steps", "1536", "--network.hidden", "16", "8"),
    *("--ppo.epochs", "1", "--threads", "1", "--checkpoint-every", "4"),
)
"""Options of a training of a second."""


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; look, but do not touch."""
    path = tmp_path_factory.mktemp("trained") / "run"
    assert main(["train", "practice", *TINY, "--out", str(path)]) == 0
    return path


@pytest.fixture
def run_copy(trained: Path, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    return Path(shutil.copytree(trained, tmp_path / "copy"))


@pytest.fixture
def tsil(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in an empty directory: exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str | Path) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(word) for word in words])
        return code, *capfd.readouterr()

    return call


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Commands choose their own number of threads; other tests want one."""
    yield
    torch.set_num_threads(1)
