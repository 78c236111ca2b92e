"""The paper's own numbers: Tables 1, 2 and 3."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Reported:
    """A mean and its standard deviation over tasks and seeds."""

    mean: float
    std: float


@cache
def tables() -> dict[str, Any]:
    """All three, as stored."""
    stored: dict[str, Any] = json.loads(
        files("tsil.analysis").joinpath("paper.json").read_text(encoding="utf-8")
    )
    return stored


def reported(
    method: str, disturbances: Mapping[str, float | None] | None = None
) -> dict[str, Reported]:
    """Results of a method by metric, empty where the paper has none.

    disturbances: by the configuration's field names. Under a single one it is Table 2, which
    averages over that disturbance's three levels; under several the paper has nothing.
    """
    active = [name for name, value in (disturbances or {}).items() if value]
    if not active:
        rows = tables()["main"]
    elif len(active) == 1:
        rows = tables()["robustness"].get(active[0].replace("_", "-"), {})
    else:
        rows = {}
    values = rows.get(method, [])
    return {
        name: Reported(*value) for name, value in zip(tables()["metrics"], values, strict=False)
    }
