"""Trains in a child process, kills it again and again, and lets the last one finish.

Run as a program: a fork is safe only where no other thread has begun.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import torch
import torch._dynamo  # the optimizer imports it: once here rather than in every child

from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Configuration
from tsil.runs.directory import RunDirectory, Setup
from tsil.runs.training import Run

WORLDS, ROLLOUT, ITERATIONS = 8, 8, 100


def train(path: Path) -> None:
    configuration = Configuration.preset(
        "desk",
        **{
            "environments": WORLDS,
            "rollout": ROLLOUT,
            "steps": ITERATIONS * WORLDS * ROLLOUT,
            "ppo.minibatch": 32,
            "ppo.epochs": 1,
            "network.hidden": (16, 8),
            "disturbances.reward_dropout": 0.2,
        },
    )
    setup = Setup("practice", threads=1, checkpoint_every=3)
    Run(PracticeEnvironment(WORLDS), configuration, setup, RunDirectory(path)).train()


def start(path: Path) -> int:
    """Train in a child; returns its process id."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            train(path)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    return child


def written(path: Path) -> int:
    """Bytes of metrics."""
    try:
        return (path / "metrics.jsonl").stat().st_size
    except FileNotFoundError:
        return 0


def kill_somewhere(child: int, path: Path, chance: random.Random) -> bool:
    """SIGKILL after a little time or a little progress; whether it was still running."""
    patience = time.monotonic() + 20.0
    if chance.random() < 0.4:
        time.sleep(chance.uniform(0.0, 0.1))
    else:
        changes, last = chance.randint(1, 4), written(path)
        while changes > 0 and time.monotonic() < patience:
            if (size := written(path)) != last:
                changes, last = changes - 1, size
            if os.waitpid(child, os.WNOHANG)[0]:
                return False
        time.sleep(chance.uniform(0.0, 0.02))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(path: Path, kills: int, seed: int) -> int:
    chance = random.Random(seed)
    for number in range(kills):
        if not kill_somewhere(start(path), path, chance):
            print(f"ended by itself before kill {number + 1}")
            return 1
    _, status = os.waitpid(start(path), 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
