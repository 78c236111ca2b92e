"""The CPU engine: ``mujoco.batch``, float64, zero-copy."""

from __future__ import annotations

import warnings
from typing import Any

import mujoco
import numpy as np
import torch
from mujoco.batch import Batch, SimulationError
from torch import Tensor


def _view(array: np.ndarray[Any, Any]) -> Tensor:
    with warnings.catch_warnings():
        # Torch has no read-only tensors; the contract of ``field`` says what may be written.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


class CpuEngine:
    """n worlds stepped by ``threads`` threads; the same to the bit for any number of them."""

    def __init__(self, model: mujoco.MjModel, num_worlds: int, threads: int) -> None:
        self.model = model
        self.num_worlds = num_worlds
        self.device = torch.device("cpu")
        self.diverged = torch.zeros(num_worlds, dtype=torch.bool)
        self._batch = Batch(model, num_worlds, threads)
        self._rows = _view(self._batch.state)  # (n, state size) float64, live
        self._marked = self._rows.clone()
        self._model_fields: dict[str, Tensor] = {}
        # Warnings that MuJoCo has counted so far, (n, kinds) int32: live, and as of the last step.
        self._warnings = self._batch.warning[:, :, 1]
        self._warnings_seen = self._warnings.copy()

    def field(self, name: str) -> Tensor:
        return _view(self._batch.bind(name))

    def model_field(self, name: str) -> Tensor:
        if name not in self._model_fields:
            self._model_fields[name] = _view(self._batch.expand(name))
        return self._model_fields[name]

    def step(self, substeps: int) -> None:
        failed: np.ndarray[Any, Any] | None = None
        try:
            self._batch.step(nstep=substeps)
        except SimulationError as error:
            failed = error.ids
        warned = self._warnings != self._warnings_seen
        if failed is None and not warned.any():
            self.diverged.zero_()
            return
        np.copyto(self.diverged.numpy(), warned.any(axis=1))
        np.copyto(self._warnings_seen, self._warnings)
        if failed is not None:
            self.diverged.numpy()[failed] = True

    def forward(self) -> None:
        self._batch.forward()

    def clear(self) -> None:
        self._batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE.value)

    def mark(self) -> None:
        self._marked.copy_(self._rows)

    def rewind(self, worlds: Tensor) -> None:
        self._rows[worlds] = self._marked[worlds]

    def state(self) -> dict[str, Tensor]:
        fields = {f"model.{name}": field.clone() for name, field in self._model_fields.items()}
        return {"rows": self._rows.clone(), "marked": self._marked.clone(), **fields}

    def restore(self, state: dict[str, Tensor]) -> None:
        self._rows.copy_(state["rows"])
        self._marked.copy_(state["marked"])
        for name in state:
            if name.startswith("model."):
                self.model_field(name.removeprefix("model.")).copy_(state[name])

    def close(self) -> None:
        del self._batch
