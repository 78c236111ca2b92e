"""Charts as inline SVG: no library, no network, crisp at any size, one colour variable a line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from tsil.analysis.report.data import Curve

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 12, 40


@dataclass(frozen=True, slots=True)
class Line:
    """A curve with, perhaps, a band around it."""

    label: str
    colour: str
    """Name of a colour of the page, such as ink0."""
    values: Curve
    low: Curve | None = None
    high: Curve | None = None
    dash: str = ""
    faint: bool = False
    """A band only: no line of its own."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What the values are, and which of them must be in view."""

    title: str
    unit: str = ""
    percent: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over environment steps."""

    title: str
    note: str
    steps: Curve
    lines: Sequence[Line]
    axis: Axis
    small: bool = False
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    """Values with a name, drawn as horizontal lines."""

    def html(self) -> str:
        """A figure with heading, drawing and what the pointer shows."""
        height = 210 if self.small else HEIGHT
        drawing = _Drawing(self, height)
        legend = "".join(
            f'<li><svg width="26" height="10" aria-hidden="true"><line x1="1" x2="25" y1="5" y2="5"'
            f' stroke="var(--{line.colour})" stroke-width="3"'
            f' stroke-dasharray="{line.dash}"/></svg>{escape(line.label)}</li>'
            for line in self.lines
            if not line.faint
        )
        keyed = f'<ul class="legend">{legend}</ul>' if len(self.lines) > 1 else ""
        size = "small" if self.small else "chart"
        return (
            f'<figure class="{size}"><figcaption><b>{escape(self.title)}</b>'
            f"<span>{escape(self.note)}</span></figcaption>{drawing.svg()}{keyed}</figure>"
        )


class _Drawing:
    """A chart at a height, with its scales."""

    def __init__(self, chart: Chart, height: int) -> None:
        self.chart, self.height = chart, height
        self.end = float(chart.steps[-1])
        low, high = _range(chart)
        self.ticks = ticks(low, high, 4 if chart.small else 5)
        self.low, self.high = min(low, self.ticks[0]), max(high, self.ticks[-1])

    def x(self, steps: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * steps / self.end

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.height - BOTTOM - (self.height - TOP - BOTTOM) * share

    def svg(self) -> str:
        parts = [
            *self._grid(),
            *map(self._band, self.chart.lines),
            *map(self._line, self.chart.lines),
        ]
        data = {
            "x": [round(float(x)) for x in self.chart.steps],
            "left": LEFT,
            "right": WIDTH - RIGHT,
            "percent": self.chart.axis.percent,
            "unit": self.chart.axis.unit,
            "lines": [
                {"label": line.label, "colour": line.colour, "y": _rounded(line.values)}
                for line in self.chart.lines
            ],
        }
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img"'
            f' aria-label="{escape(self.chart.title)}"'
            f' data-chart="{escape(json.dumps(data, allow_nan=False))}">'
            + "".join(parts)
            + f'<line class="cursor" y1="{TOP}" y2="{self.height - BOTTOM}"/></svg>'
        )

    def _grid(self) -> list[str]:
        bottom = self.height - BOTTOM
        parts = []
        for tick in self.ticks:
            y = self.y(tick)
            parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            label = f"{tick:.0%}" if self.chart.axis.percent else f"{tick:g}{self.chart.axis.unit}"
            parts.append(f'<text class="tick end" x="{LEFT - 8}" y="{y + 4.5:.1f}">{label}</text>')
        for tick in ticks(0.0, self.end, 5):
            if tick <= self.end * 1.001:
                x = self.x(tick)
                parts.append(
                    f'<text class="tick mid" x="{x:.1f}" y="{bottom + 18}">{short(tick)}</text>'
                )
        parts.append(
            f'<text class="tick mid" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{bottom + 35}">'
            "environment steps</text>"
        )
        for value, name in self.chart.marks:
            y = self.y(value)
            parts.append(
                f'<line class="mark" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                f'<text class="tick end" x="{WIDTH - RIGHT - 2}" y="{y - 5:.1f}">'
                f"{escape(name)}</text>"
            )
        return parts

    def _band(self, line: Line) -> str:
        if line.low is None or line.high is None:
            return ""
        pieces = []
        for run in _stretches(line.low + line.high):
            upper = [self._point(i, float(line.high[i])) for i in run]
            lower = [self._point(i, float(line.low[i])) for i in reversed(run)]
            pieces.append("M" + "L".join(upper + lower) + "Z")
        return f'<path class="band" fill="var(--{line.colour})" d="{"".join(pieces)}"/>'

    def _line(self, line: Line) -> str:
        if line.faint:
            return ""
        pieces = []
        dots = []
        for run in _stretches(line.values):
            points = [self._point(i, float(line.values[i])) for i in run]
            if len(points) == 1:
                x, y = points[0].split(",")
                dots.append(f'<circle cx="{x}" cy="{y}" r="2.4" fill="var(--{line.colour})"/>')
            else:
                pieces.append("M" + "L".join(points))
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        path = f'<path class="line" stroke="var(--{line.colour})"{dash} d="{"".join(pieces)}"/>'
        return path + "".join(dots)

    def _point(self, index: int, value: float) -> str:
        return f"{self.x(float(self.chart.steps[index])):.1f},{self.y(value):.1f}"


def _range(chart: Chart) -> tuple[float, float]:
    """Lowest and highest value in view."""
    axis = chart.axis
    seen = [value for value, _ in chart.marks]
    for line in chart.lines:
        for curve in (line.values, line.low, line.high):
            if curve is not None:
                seen += [float(v) for v in curve if math.isfinite(v)]
    low = min(seen, default=0.0) if axis.low is None else axis.low
    high = max(seen, default=1.0) if axis.high is None else axis.high
    if high - low < 1e-12:
        low, high = low - 0.5 * max(abs(low), 1e-6), high + 0.5 * max(abs(high), 1e-6)
    return low, high


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers from ``low`` or a little below to ``high`` or a little above."""
    raw = (high - low) / about
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def short(value: float) -> str:
    """1500000 as 1.5M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _stretches(values: Curve) -> list[list[int]]:
    """Indices of consecutive finite values."""
    runs: list[list[int]] = []
    for index, value in enumerate(values):
        if not math.isfinite(value):
            continue
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def _rounded(values: Curve) -> list[float | None]:
    return [float(f"{v:.4g}") if math.isfinite(v) else None for v in values]
