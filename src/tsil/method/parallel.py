"""Several processes that train one policy, one per device, each with worlds of its own.

``torch.distributed`` is the only state: a process that never joined a group is alone, and every
function here is then the identity. Statistics and gradients are summed over the group, while
targets and memory stay with the worlds they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Generator, Tensor, distributed
from torch.nn import Parameter


def count() -> int:
    """Processes that train together."""
    return distributed.get_world_size() if _joined() else 1


def rank() -> int:
    """This process's number among them, from 0."""
    return distributed.get_rank() if _joined() else 0


def _joined() -> bool:
    return distributed.is_available() and distributed.is_initialized()


def total(x: Tensor) -> Tensor:
    """The sum of ``x`` over the processes."""
    if count() > 1:
        x = x.clone()
        distributed.all_reduce(x)
    return x


def gathered(x: Tensor) -> Tensor:
    """Every process's ``x``, of equal shapes, one after the other."""
    if count() == 1:
        return x
    parts = [torch.empty_like(x) for _ in range(count())]
    distributed.all_gather(parts, x.contiguous())
    return torch.cat(parts)


def share(x: Tensor) -> Tensor:
    """This process's rows of something that all drew for the worlds of all."""
    own = len(x) // count()
    return x[rank() * own : (rank() + 1) * own]


def randn(rows: int, columns: int, generator: Generator, device: torch.device) -> Tensor:
    """Standard normal numbers for this process's worlds: (rows, columns).

    Every process draws for the worlds of all, so that the same worlds meet the same chance
    however many processes share them.
    """
    return share(torch.randn(rows * count(), columns, generator=generator, device=device))


def any_of(flag: bool, device: torch.device) -> bool:
    """Whether any process says so."""
    return flag if count() == 1 else bool(total(torch.tensor(float(flag), device=device)) > 0)


def wait() -> None:
    """Wait for the other processes to come here."""
    if count() > 1:
        distributed.barrier()


def average_gradients(parameters: Iterable[Parameter]) -> None:
    """Replace each gradient by its mean over the processes."""
    if count() == 1:
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    joined = torch.cat([gradient.flatten() for gradient in gradients])
    distributed.all_reduce(joined)
    joined /= count()
    parts = joined.split([gradient.numel() for gradient in gradients])
    for gradient, part in zip(gradients, parts, strict=True):
        gradient.copy_(part.view_as(gradient))


def mean_and_variance(samples: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Number of rows of all processes, and their mean and variance: (), (k,), (k,).

    samples: (m, k) of this process, in a floating type wide enough to sum in.
    """
    number = total(samples.new_tensor(len(samples)))
    mean = total(samples.sum(dim=0)) / number.clamp(min=1)
    variance = total((samples - mean).square().sum(dim=0)) / number.clamp(min=1)
    return number, mean, variance
