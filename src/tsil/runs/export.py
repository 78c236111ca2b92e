"""A policy as an ONNX file: normalization inside, nothing of ours needed to run it."""

from __future__ import annotations

import copy
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from tsil.method.policy import Policy

TOLERANCE = 1e-4
"""Largest difference of an action, where actions are about 1."""
TRIED = 256
"""Inputs that the file is checked with."""


class Deterministic(nn.Module):
    """The mean action as a function of raw observations and seconds, in float32 throughout."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = copy.deepcopy(policy).eval()
        self.policy.actor.dtype = torch.float32

    def forward(self, observation: Tensor, elapsed: Tensor, target: Tensor) -> Tensor:
        """observation: (m, observation_size). elapsed, target: (m,) s → (m, action_size)."""
        return self.policy.mean(self.policy.augment(observation, elapsed, target))


class Untimed(nn.Module):
    """The same for a policy that sees no time."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.timed = Deterministic(policy)

    def forward(self, observation: Tensor) -> Tensor:
        """observation: (m, observation_size) → (m, action_size)."""
        zero = torch.zeros_like(observation[:, 0])
        out: Tensor = self.timed(observation, zero, zero)
        return out


def export_onnx(policy: Policy, path: Path) -> float:
    """Write ``path`` and run it; returns how far its actions are from the policy's in float32.

    Inputs: observation (m, observation_size) and, where the policy sees time, elapsed and target
    in seconds, (m,) each. Output: action (m, action_size), to be clipped to [-1, 1].
    """
    import onnxruntime

    module: nn.Module = Deterministic(policy) if policy.sees_time else Untimed(policy)
    names = ("observation", "elapsed", "target") if policy.sees_time else ("observation",)
    inputs = example(policy, TRIED)[: len(names)]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with _quiet():
            program = torch.onnx.export(
                module,
                inputs,
                input_names=list(names),
                output_names=["action"],
                dynamic_shapes=tuple({0: torch.export.Dim("m")} for _ in names),
                dynamo=True,
                verbose=False,
            )
        assert program is not None
        program.save(str(temporary), external_data=False)
        session = onnxruntime.InferenceSession(str(temporary), providers=["CPUExecutionProvider"])
        fed = {name: x.numpy() for name, x in zip(names, inputs, strict=True)}
        (theirs,) = session.run(["action"], fed)
        with torch.no_grad():
            ours = module(*inputs).numpy()
        difference = float(np.abs(ours - theirs).max())
        if not difference <= TOLERANCE:
            raise RuntimeError(f"the exported policy differs by {difference:.2g}: not written")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return difference


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's remarks about its own dependencies."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def example(policy: Policy, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Observations around those seen in training, elapsed times and targets: ``count`` of each."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(count, policy.observation_size, generator=generator)
    observation = policy.observations.center + noise * policy.observations.std
    elapsed, target = torch.rand(2, count, generator=generator) * policy.longest
    return observation, elapsed, target
