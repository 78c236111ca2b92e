"""The side that gives the orders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to be timed."""

    name: str
    script: Path
    settings: dict[str, Any]
    python: str = sys.executable


class Worker:
    """A running subject."""

    def __init__(self, subject: Subject, threads: int) -> None:
        """Start it. threads: cores that it may use; nothing of its spins while others work."""
        self.subject = subject
        cores = str(threads)
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": cores,
            "MKL_NUM_THREADS": cores,
            "OPENBLAS_NUM_THREADS": "1",
            "GOMP_SPINCOUNT": "10000",
        }
        self._complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115, closed by __exit__
        self._process = subprocess.Popen(
            [
                subject.python,
                "-P",
                str(HERE / "worker.py"),
                str(subject.script),
                json.dumps({**subject.settings, "threads": threads}),
            ],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )

    def wait_ready(self) -> None:
        """Return once it has warmed up."""
        self._answer()

    def order(self, name: str) -> dict[str, Any]:
        """Have one order carried out: ``value``, ``seconds`` and ``processor_seconds``."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OSError(f"measuring {self.subject.name} failed: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._complaints.seek(0)
        lines = self._complaints.read().strip().splitlines()
        return lines[-1] if lines else f"it ended with code {self._process.returncode}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._process.kill()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._complaints.close()
