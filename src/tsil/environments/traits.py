"""What a Gymnasium vector environment says about itself, or a sentence on what it lacks."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from gymnasium.spaces import Box, Space
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

Number = TypeVar("Number", int, float)


def box(space: Space[Any], what: str) -> Box:
    """``space`` if it is a Box."""
    if not isinstance(space, Box):
        raise ValueError(
            f"{what} are {space}; only Box spaces are understood "
            f"(gymnasium.wrappers.FlattenObservation makes one of composed observations)."
        )
    return space


def bounded(space: Box) -> Box:
    """``space`` if [-1, 1] can be scaled to it."""
    if not space.is_bounded() or not np.issubdtype(space.dtype, np.floating):
        raise ValueError(
            f"Actions are {space}; they must be real numbers with finite bounds, to which [-1, 1] "
            f"is scaled (gymnasium.wrappers.TransformAction can give them some)."
        )
    return space


def autoreset_mode(vector: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    """When ``vector`` resets worlds whose episode has ended."""
    if "autoreset_mode" not in vector.metadata:
        raise ValueError(
            f"{vector} does not say how it resets; set its metadata['autoreset_mode'] to one of "
            f"{', '.join(str(mode) for mode in AutoresetMode)}."
        )
    mode = AutoresetMode(vector.metadata["autoreset_mode"])
    base = vector.unwrapped
    if (
        mode is AutoresetMode.NEXT_STEP
        and isinstance(base, AsyncVectorEnv)
        and not base.shared_memory
    ):
        raise ValueError(
            f"{vector} without shared memory forgets that it was reset and resets again in the "
            f"next step; use shared_memory=True or autoreset_mode=AutoresetMode.SAME_STEP."
        )
    return mode


def time_limit(vector: VectorEnv[Any, Any, Any]) -> int | None:
    """Control steps after which ``vector`` truncates an episode, if it says."""
    base = vector.unwrapped
    spec = base.envs[0].spec if isinstance(base, SyncVectorEnv) else vector.spec
    if spec is None:
        return None
    limit: int | None = spec.kwargs.get("max_episode_steps", spec.max_episode_steps)
    return limit


def positive(name: str, given: Number | None, found: Number | None) -> Number:
    """``given``, or else what the environment says of itself."""
    value = found if given is None else given
    if value is None:
        raise ValueError(f"The environment does not tell its {name}; pass {name}=….")
    if value <= 0:
        raise ValueError(f"{name} is {value}; it must be positive.")
    return value
