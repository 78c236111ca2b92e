"""One page about one or more runs: a single file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from tsil.analysis.report.data import Report, read_report
from tsil.analysis.report.sections import SECTIONS
from tsil.runs.files import write_bytes


def write_report(runs: Sequence[Path], out: Path, title: str | None = None) -> Report:
    """Write the page about ``runs`` to ``out``; returns what it is made of."""
    report = read_report(runs, title)
    write_bytes(out, page(report).encode())
    return report


def page(report: Report) -> str:
    """The page as HTML."""
    body = "\n".join(part for section in SECTIONS if (part := section(report)))
    parts = {
        "title": escape(report.title),
        "light": _inks(report, "light") + "--simulation:#0072b2;--learning:#e69f00;",
        "dark": _inks(report, "dark") + "--simulation:#4aa8e8;--learning:#f0b942;",
        "body": body,
    }
    frame = files("tsil.analysis.report").joinpath("page.html").read_text(encoding="utf-8")
    # The body comes last: nothing inside it can be taken for a place to fill.
    for name, content in parts.items():
        frame = frame.replace(f"{{{name}}}", content, 1)
    return frame


def _inks(report: Report, shade: str) -> str:
    inks = {group.key: getattr(group.ink, shade) for group in report.groups}
    return "".join(f"--{key}:{colour};" for key, colour in inks.items())
