"""Processor cores, divided before anybody takes them all."""

from __future__ import annotations

import os


def available() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use(threads: int) -> int:
    """Let torch have ``threads`` cores, all of them for 0; returns how many that is.

    Call it before anything imports NumPy: its OpenBLAS would start one spinning thread a core
    beside torch's and the physics' own, which costs up to a factor of 20. We need it for nothing.
    Torch's own threads spin only briefly before they sleep, unless the user wants it otherwise: on
    cores shared with anything else long spinning made an iteration 20 times as long, and on idle
    ones no spinning at all costs 40 % of the speed.
    """
    if threads < 0:
        raise ValueError(f"--threads is {threads}: it must be 0 (all cores) or more")
    count = threads or available()
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["MKL_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(count)
    import torch

    torch.set_num_threads(count)
    return count
