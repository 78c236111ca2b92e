"""Who may use the processors when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch to the calling thread.

    The tensors of an environment step are too small to share out, and torch's helpers, which keep
    spinning for a while after their work, would take the processors from the physics' threads.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
