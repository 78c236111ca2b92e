"""What the benchmark asks of a physics engine: many worlds of one compiled model.

A *world* is one simulation. Everything an engine shows is a tensor over worlds on its device, in
the engine's own dtype; readers cast as they copy. Two engines implement this:
``tsil.mt15.engine.cpu`` on ``mujoco.batch`` and one on ``mujoco_warp``.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor


class Engine(Protocol):
    """n worlds of one model."""

    model: Any
    """The compiled ``mujoco.MjModel`` all worlds share, but for their own model fields."""
    num_worlds: int
    device: torch.device
    diverged: Tensor
    """(n,) bool: worlds whose physics broke down in the latest ``step`` (not finite, a warning or
    an error of the engine). What they hold is meaningless until they are rewound."""

    def field(self, name: str) -> Tensor:
        """A live view (n, ...) of an ``MjData`` field, of the same name and shape per world.

        State fields (qpos, qvel, ctrl) are current and may be written. Derived fields (xpos,
        site_xpos, xaxis, ...) may only be read. After ``step`` they describe the state before the
        last substep, as ``mj_step`` leaves them; after ``forward`` the present one; a rewound
        world's are stale until its next ``step``.
        """
        ...

    def model_field(self, name: str) -> Tensor:
        """A live, writable view (n, ...) of an ``MjModel`` field with a value for each world."""
        ...

    def step(self, substeps: int) -> None:
        """Advance every world by ``substeps`` time steps of the model."""
        ...

    def forward(self) -> None:
        """Make the derived fields of every world describe its present state."""
        ...

    def clear(self) -> None:
        """Put the state of every world back to the model's defaults; model fields stay."""
        ...

    def mark(self) -> None:
        """Remember the present state of every world for ``rewind``."""
        ...

    def rewind(self, worlds: Tensor) -> None:
        """Put the chosen worlds, (n,) bool, back into the state they were marked in."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Copies of all that decides what happens next, marked states and model fields included."""
        ...

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go back to what ``state`` returned; derived fields are stale until the next call."""
        ...

    def close(self) -> None:
        """Give back threads and memory."""
        ...
