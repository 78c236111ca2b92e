"""``tsil report``: one page about one or more runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from tsil.cli.arguments import parse


@dataclass(frozen=True)
class Arguments:
    """Write one self-contained HTML page about one or more runs.

    Runs that differ in nothing but their seed are drawn as one line with its standard error.
    """

    runs: Annotated[tuple[Path, ...], Positional, arg(metavar="RUN …")]
    """Run directories."""
    out: Annotated[Path, arg(metavar="FILE.html")] = Path("report.html")
    """Where to write the page."""
    title: str | None = None
    """Heading of the page; by default the names of the tasks."""


def run(arguments: list[str]) -> int:
    """Write the page."""
    asked = parse(Arguments, "report", arguments)
    if not asked.runs:
        raise ValueError("name at least one run directory (tsil report --help says more)")
    if asked.out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--out is {str(asked.out)!r}: it must end in .html")
    from tsil.analysis.report import write_report

    write_report(asked.runs, asked.out, asked.title)
    size = asked.out.stat().st_size / 2**20
    print(f"The report is at {asked.out.resolve()} ({size:.1f} MiB; open it in a browser)")
    return 0
