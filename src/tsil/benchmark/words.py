"""What was measured, as tables for a person."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tsil.benchmark.run import MEMORY_RATIO, RATIOS

TITLES = {
    "physics": "bare physics",
    "environment": "whole environment",
    "inference": "policy inference",
    "ppo": "PPO training",
    "tsil": "TSIL training",
    "sb3_ppo": "SB3, PPO on free worlds",
    "rsl_rl_ppo": "rsl_rl, PPO on free worlds",
    "metaworld_async": "Meta-World, AsyncVectorEnv",
}


def show(result: dict[str, Any], console: Console) -> None:
    """Print all of it."""
    parts: list[RenderableType] = [
        _machine(result), Text(), _speeds(result), Text(), _ratios(result), Text(), _parts(result),
    ]  # fmt: skip
    if "operators" in result:
        parts += [Text(), _operators(result)]
    console.print(Group(*parts))


def _machine(result: dict[str, Any]) -> Text:
    machine = result["machine"]
    busy = max(machine["load_before"] - 0.5, 0.0) / machine["cores"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    lines = [
        f"{result['task']}, {result['worlds']} worlds, minibatches of {result['minibatch']}",
        f"{machine['processor']}, {machine['threads']} of {machine['cores']} cores",
        f"Python {machine['python']}, {versions}",
        f"load {machine['load_before']:.1f} before, {machine['load_after']:.1f} after",
    ]
    if busy > 0.25:
        lines.append("The machine was busy with other things: the figures are too low and uneven.")
    return Text("\n".join(lines))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table


def _speeds(result: dict[str, Any]) -> Table:
    table = _table("", "steps/s", "lowest", "highest", "core µs/step")
    for name, figures in result["measured"].items():
        rates = figures["repeats"]
        used = "–" if name == "metaworld_async" else f"{_core(figures):.1f}"
        chosen = ", ".join(f"{k} {v}" for k, v in figures.get("settings", {}).items())
        title = TITLES[name] + (f" ({chosen})" if chosen else "")
        speeds = (figures["steps_per_second"], min(rates), max(rates))
        table.add_row(title, *(f"{speed:,.0f}" for speed in speeds), used)
    return table


def _core(figures: dict[str, Any]) -> float:
    cost: float = figures["processor_microseconds_per_step"]
    return cost


def _ratios(result: dict[str, Any]) -> Table:
    table = _table("ratio", "measured", "goal")
    for key, (_, _, goal) in RATIOS.items():
        if key in result:
            table.add_row(key, f"{result[key]:.2f}", f"≥ {goal:g}")
    key, goal = MEMORY_RATIO
    memory = result["memory"]
    size = f"{memory['memory_bytes'] / 1e6:.0f} of {memory['padded_bytes'] / 1e6:.0f} MB"
    table.add_row(f"{key} ({size})", f"{result[key]:.2f}", f"≤ {goal:g}")
    return table


def _parts(result: dict[str, Any]) -> RenderableType:
    table = _table("one TSIL iteration", "ms", "share")
    for part in result["parts"]:
        table.add_row(part["part"], f"{part['seconds'] * 1e3:.0f}", f"{part['share']:.0%}")
    if "operators" not in result:
        return table
    advice = [Text(), Text("Where that is, and what changes it, the largest first", style="bold")]
    for part in sorted(result["parts"], key=lambda part: -part["seconds"]):
        advice.append(Text(f"{part['part']} ({part['share']:.0%}), in src/tsil/{part['where']}"))
        advice.append(Text(f"    {part['lever']}"))
    return Group(table, *advice)


def _operators(result: dict[str, Any]) -> Table:
    table = _table("torch's operators in it", "ms", "share", "calls")
    for kind in result["operators"]:
        table.add_row(
            kind["kind"], f"{kind['seconds'] * 1e3:.0f}", f"{kind['share']:.0%}", str(kind["calls"])
        )
    return table
