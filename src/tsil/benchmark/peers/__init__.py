"""Other people's libraries, doing the same work.

They live in virtual environments of their own, made on first use: their pins and ours do not go
together. The learners borrow our torch, so that both are measured with the same one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tsil.benchmark.process import Subject

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Home:
    """A virtual environment for some peers."""

    name: str
    packages: tuple[str, ...]
    borrows: bool
    """Whether it finds what else it needs among our packages, and pip adds nothing to the list."""

    def python(self) -> str:
        """Its interpreter; the environment is made if it is not there."""
        place = _cache() / self.name
        interpreter, finished = place / "bin" / "python", place / "finished"
        wanted = "\n".join((*self.packages, sys.version, sysconfig.get_path("purelib")))
        if not finished.is_file() or finished.read_text() != wanted:
            shutil.rmtree(place, ignore_errors=True)
            print(f"making a virtual environment for {self.name} …", file=sys.stderr)
            _run(sys.executable, "-m", "venv", str(place))
            options = ("--no-deps",) if self.borrows else ()
            _run(str(interpreter), "-m", "pip", "install", "--quiet", *options, *self.packages)
            if self.borrows:
                self._borrow(place)
            finished.write_text(wanted)
        return str(interpreter)

    def _borrow(self, place: Path) -> None:
        """Let it see our packages, after its own."""
        (own,) = place.glob("lib/python*/site-packages")
        paths = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
        (own / "borrowed.pth").write_text("\n".join(paths) + "\n")


LEARNERS = Home(
    "learners",
    (
        "stable-baselines3==2.9.0",
        "pandas==3.1.1",
        "rsl-rl-lib==5.5.0",
        "tensordict==0.15.3",
        "pyvers==0.2.3",
        "GitPython==3.2.1",
        "gitdb==4.0.12",
        "smmap==5.0.3",
    ),
    borrows=True,
)
METAWORLD = Home("metaworld", ("metaworld==3.1.1", "packaging==26.3"), borrows=False)


def peers(task: str, worlds: int, rollout: int, epochs: int, minibatch: int) -> list[Subject]:
    """Everybody there is to compare with."""
    training = {
        "worlds": worlds,
        "rollout": rollout,
        "epochs": epochs,
        "minibatches": sorted({minibatch, 4096, 8192}),
    }
    return [
        Subject("sb3_ppo", HERE / "sb3_ppo.py", training, LEARNERS.python()),
        Subject("rsl_rl_ppo", HERE / "rsl_rl_ppo.py", training, LEARNERS.python()),
        Subject("metaworld_async", HERE / "metaworld_async.py", {"task": task}, METAWORLD.python()),
    ]


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "tsil" / "peers"


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = [*done.stderr.strip().splitlines(), ""][0]
        raise OSError(f"{' '.join(command[-3:])} failed: {last}")
