"""Several processes of one run, as torchrun starts them: one per device."""

from __future__ import annotations

import os

import torch
from torch import distributed


def size() -> int:
    """Processes that torchrun started for this run; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def leads() -> bool:
    """Whether this process writes the run's files and speaks for it."""
    return int(os.environ.get("RANK", "0")) == 0


def own_device(device: str) -> str:
    """The device of this process: each takes a CUDA card of its own."""
    return (
        f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if size() > 1 and device == "cuda" else device
    )


def own_threads(threads: int, cores: int) -> int:
    """CPU threads of this process: asked for, or an even share of the machine's."""
    return threads or max(1, cores // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def join(device: str) -> None:
    """Join the other processes, where there are any."""
    if size() == 1 or distributed.is_initialized():
        return
    if device.startswith("cuda"):
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.startswith("cuda") else "gloo")


def leave() -> None:
    """Part from the other processes."""
    if distributed.is_initialized():
        distributed.destroy_process_group()
