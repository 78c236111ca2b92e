"""``tsil tasks``: what can be trained."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tsil.cli.arguments import parse
from tsil.tasks import TASKS


@dataclass(frozen=True)
class Arguments:
    """List the tasks: number, name, what varies between configurations, and what success is."""

    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> int:
    """Print the list."""
    asked = parse(Arguments, "tasks", arguments)
    tasks = [facts.summary() for facts in TASKS.values()]
    if asked.json:
        print(json.dumps(tasks, indent=2, ensure_ascii=False))
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("id", justify="right")
    table.add_column("name", style="bold", no_wrap=True)
    for heading in ("what varies", "success", "status"):
        table.add_column(heading)
    for task in tasks:
        row = [task["number"], task["name"], task["varies"], task["success"], task["status"]]
        table.add_row(*("–" if cell is None else str(cell) for cell in row))
    Console().print(table)
    return 0
