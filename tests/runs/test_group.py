"""A run of two processes, started by torchrun, killed and taken up again."""

import os
import signal
import subprocess
import sys
import time

import torch

from tsil.runs.directory import RunDirectory
from tsil.runs.files import read_tensors

START = ("practice", "--envs", "64", "--steps", "40k", "--network.hidden", "16", "16")


def torchrun(*words, **options):
    command = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        (*command, "--standalone", "-m", "tsil.cli", "train", *map(str, words)),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **options,
    )


def finished(process):
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    return out


def test_two_processes_killed_and_resumed_end_as_if_they_had_not_been(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    options = ("--checkpoint-every", "3", "--threads", "1")
    out = finished(torchrun(*START, *options, "--out", whole))
    assert out.count("Trained 41.0k steps") == 1  # one process speaks
    assert len(list(RunDirectory(whole).lines())) == 20

    process = torchrun(*START, *options, "--out", broken)
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and len(list(RunDirectory(broken).lines())) < 8:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    for leftover in _children(broken):
        os.kill(leftover, signal.SIGKILL)
    process.communicate()
    assert 8 <= len(list(RunDirectory(broken).lines())) < 20
    finished(torchrun("--resume", broken))

    for rank in range(2):
        one, _ = read_tensors(RunDirectory(whole).own_checkpoint(rank))
        other, _ = read_tensors(RunDirectory(broken).own_checkpoint(rank))
        assert one.keys() == other.keys()
        for name, x in one.items():
            assert torch.equal(x, other[name]), (rank, name)


def _children(directory):
    """Processes that still train in ``directory``: torchrun gives its own sessions of their own."""
    found = subprocess.run(
        ("pgrep", "-f", str(directory)), capture_output=True, text=True, check=False
    )
    return [int(word) for word in found.stdout.split() if int(word) != os.getpid()]


def test_several_processes_need_a_directory_named(tmp_path):
    process = torchrun(*START, cwd=tmp_path)
    out, _ = process.communicate(timeout=300)
    assert process.returncode != 0
    assert "--out is needed where several processes train together" in out
