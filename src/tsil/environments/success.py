"""When a step of a Gymnasium vector environment counts as a success."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

USUAL_KEYS = ("success", "is_success")


@dataclass(frozen=True, slots=True)
class VectorStep:
    """What a vector environment said about one step of its n worlds."""

    observation: NDArray[Any]
    """(n, *shape): what the step led to, before any automatic reset."""
    reward: NDArray[Any]
    """(n,)"""
    terminated: NDArray[np.bool_]
    """(n,)"""
    truncated: NDArray[np.bool_]
    """(n,)"""
    info: dict[str, Any]
    """As Gymnasium gave it: under same-step autoreset, the worlds that ended here have theirs in
    ``info["final_info"]``, and what stands beside it is already of their next episode."""
    same_step: bool
    """Whether that is the autoreset mode."""

    @property
    def ended(self) -> NDArray[np.bool_]:
        """(n,): the environment's own episode ended here."""
        return self.terminated | self.truncated

    def entry(self, key: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The truth of ``info[key]`` at the end of the step, and where there is one; (n,) each."""
        value, given = _entry(self.info, key, len(self.reward))
        if self.same_step:
            final = _entry(self.info.get("final_info", {}), key, len(self.reward))
            value = np.where(self.ended, final[0], value)
            given = np.where(self.ended, final[1], given)
        return value, given


SuccessRule = Callable[[VectorStep], NDArray[Any]]
"""From a step, (n,) bool: which worlds have done their task."""


def named(key: str) -> SuccessRule:
    """Success is what ``info[key]`` says; False where a world's info does not hold it."""
    return lambda step: step.entry(key)[0]


def usual(step: VectorStep) -> NDArray[np.bool_]:
    """Success under whichever of the usual keys the environment has; an error if it has none."""
    for key in USUAL_KEYS:
        value, given = step.entry(key)
        if given.any():
            return value
    if step.ended.any():
        held = step.info.get("final_info", {}) if step.same_step else step.info
        keys = ", ".join(repr(key) for key in held if not key.startswith("_")) or "nothing"
        raise ValueError(
            f"An episode ended and its info says neither 'success' nor 'is_success' (it holds "
            f"{keys}); name the key with success='…', or pass a function of the step, such as "
            f"success=lambda step: step.terminated."
        )
    return np.zeros(len(step.reward), bool)


def _entry(info: dict[str, Any], key: str, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if key not in info:
        return np.zeros(n, bool), np.zeros(n, bool)
    value = np.asarray(info[key])
    if value.shape != (n,):
        raise ValueError(
            f"info[{key!r}] has shape {value.shape}; success is one number a world, shape ({n},)."
        )
    given = np.asarray(info.get(f"_{key}", np.ones(n, bool)), bool)
    # Worlds without an entry hold 0 or None, whatever the array's type: both are no success.
    return value.astype(bool) & given, given
