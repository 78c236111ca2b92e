"""Named float32 columns of n worlds that are marked and rewound together."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Columns:
    """One buffer of (rows, n) float32, world index last, with a named view per quantity.

    The world index is last because the quantities of a world are few and the worlds many: sums
    over joints or axes then run along whole vectors of worlds.
    """

    def __init__(
        self, shapes: dict[str, tuple[int, ...]], num_worlds: int, device: torch.device
    ) -> None:
        sizes = {name: math.prod(shape) for name, shape in shapes.items()}
        self._now = torch.zeros(sum(sizes.values()), num_worlds, device=device)
        self._marked = torch.zeros_like(self._now)
        self._rows: dict[str, tuple[slice, tuple[int, ...]]] = {}
        first = 0
        for name, shape in shapes.items():
            self._rows[name] = (slice(first, first + sizes[name]), (*shape, num_worlds))
            first += sizes[name]

    def __getitem__(self, name: str) -> Tensor:
        """The live view (*shape, n) of a quantity."""
        rows, shape = self._rows[name]
        return self._now[rows].view(shape)

    def rows(self, first: str, last: str) -> Tensor:
        """The live view (rows, n) of neighbouring quantities, both ends included."""
        return self._now[self._rows[first][0].start : self._rows[last][0].stop]

    def marked(self, name: str) -> Tensor:
        """The view (*shape, n) of a quantity's marked values."""
        rows, shape = self._rows[name]
        return self._marked[rows].view(shape)

    def clear(self) -> None:
        """Zero everything."""
        self._now.zero_()
        self._marked.zero_()

    def mark(self) -> None:
        """Remember the present values of every world for ``rewind``."""
        self._marked.copy_(self._now)

    def rewind(self, worlds: Tensor) -> None:
        """Put the chosen worlds, (n,) bool, back to their marked values."""
        torch.where(worlds, self._marked, self._now, out=self._now)

    def state(self) -> dict[str, Tensor]:
        """Copies of the present and the marked values."""
        return {"now": self._now.clone(), "marked": self._marked.clone()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go back to what ``state`` returned."""
        self._now.copy_(state["now"])
        self._marked.copy_(state["marked"])
