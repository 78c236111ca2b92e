"""The run in the terminal: a live panel, or plain lines where there is no terminal."""

from __future__ import annotations

import math
import time
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tsil.method.configuration import Configuration
from tsil.method.learner import Record
from tsil.runs.health import warnings

if TYPE_CHECKING:
    from tsil.runs.training import Timing

BARS = "▁▂▃▄▅▆▇█"
RECENT = 20
"""Iterations over which speed is averaged."""
PAUSE = 10.0
"""Seconds between two plain lines."""


class ConsoleWatcher:
    """Shows progress, success, times, memory, speed and warnings."""

    def __init__(
        self,
        title: str,
        configuration: Configuration,
        longest: float,
        place: str | None = None,
        console: Console | None = None,
    ) -> None:
        """title: what is trained. longest: T^max, seconds. place: where the run is kept."""
        self.title, self.place = title, place
        self.configuration = configuration
        self.longest = longest
        self.console = console or Console()
        self.note = ""
        """What the person at the keyboard should know just now."""
        self.rates: list[float] = []
        """Success rate of every iteration."""
        self._times: deque[tuple[int, float, float]] = deque(maxlen=RECENT)
        self._latest: tuple[Record, dict[str, int]] | None = None
        self._printed = -math.inf
        self._live: Live | None = None
        if self.console.is_terminal:
            self._live = Live(self._panel(), console=self.console, refresh_per_second=4)
            self._live.start()

    def watch(self, record: Record, timing: Timing, counters: dict[str, int]) -> None:
        """Take an iteration in."""
        self.rates.append(record.success_rate)
        self._latest = (record, counters)
        self._times.append((self._fresh_steps, timing.total, timing.simulation))
        if self._live is not None:
            self._live.update(self._panel())
        elif time.monotonic() - self._printed >= PAUSE or record.steps >= self.configuration.steps:
            self._printed = time.monotonic()
            self.console.print(self._line(record), highlight=False, soft_wrap=True)
            for warning in warnings(record, counters):
                self.console.print(f"  warning: {warning}", highlight=False, soft_wrap=True)

    def tell(self, note: str) -> None:
        """Show a message beside the figures."""
        self.note = note
        if self._live is not None:
            self._live.update(self._panel(), refresh=True)
        else:
            self.console.print(note, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Leave the last state on the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    # ------------------------------------------------------------------------------- figures

    @property
    def _fresh_steps(self) -> int:
        return self.configuration.environments * self.configuration.rollout

    def _speed(self) -> tuple[float, float]:
        """Environment steps per second, and the share of time spent simulating."""
        total = sum(seconds for _, seconds, _ in self._times)
        if total == 0.0:
            return 0.0, 0.0
        steps = sum(count for count, _, _ in self._times)
        return steps / total, sum(simulating for _, _, simulating in self._times) / total

    def _left(self, record: Record) -> float:
        speed, _ = self._speed()
        return max(0, self.configuration.steps - record.steps) / speed if speed else math.nan

    def _memory(self, record: Record) -> str:
        if record.memory_bytes == 0:
            return "this method keeps none"
        room = self.configuration.environments * self.configuration.imitation.k
        return (
            f"{record.memory_successes / room:.0%} full of successes"
            f" · {record.memory_bytes / 2**20:.0f} MiB"
        )

    def _line(self, record: Record) -> str:
        speed, share = self._speed()
        return (
            f"{amount(record.steps):>7} / {amount(self.configuration.steps)} steps"
            f"  success {record.success_rate:6.1%}"
            f"  completion {seconds(record.completion_time)}"
            f"  target {seconds(record.target_mean)}"
            f"  memory {record.memory_successes}"
            f"  {amount(speed)} steps/s ({share:.0%} simulation)"
            f"  {clock(self._left(record))} left"
        )

    # --------------------------------------------------------------------------------- panel

    def _panel(self) -> Panel:
        if self._latest is None:
            body: Group | Text = Text("The worlds are being set up …", style="dim")
        else:
            body = self._figures(*self._latest)
        return Panel(
            body,
            title=f"[bold]{self.title}",
            title_align="left",
            subtitle=None if self.place is None else f"[dim]{self.place}",
            subtitle_align="left",
            width=min(self.console.width, 88),
            padding=(0, 2),
        )

    def _figures(self, record: Record, counters: dict[str, int]) -> Group:
        speed, share = self._speed()
        budget = self.configuration.steps
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(no_wrap=True, min_width=9)
        grid.add_column(overflow="ellipsis", no_wrap=True, style="dim")
        grid.add_row(
            "success rate",
            Text(f"{record.success_rate:.1%}", style="bold green"),
            Text(curve(self.rates, 36), style="green"),
        )
        grid.add_row(
            "completion time",
            Text(seconds(record.completion_time), style="bold"),
            f"of at most {self.longest:.2f} s",
        )
        shortest, median = record.target_quantiles[0], record.target_quantiles[3]
        grid.add_row(
            "mean target",
            seconds(record.target_mean),
            f"shortest {shortest:.2f} s, median {median:.2f} s",
        )
        grid.add_row("memory", f"{record.memory_successes:,}", self._memory(record))
        grid.add_row(
            "speed",
            f"{amount(speed)} steps/s",
            f"{share:.0%} simulation, {1 - share:.0%} learning",
        )
        head = Table.grid(padding=(0, 2))
        head.add_row(
            f"{amount(record.steps)} of {amount(budget)} steps",
            ProgressBar(total=budget, completed=min(budget, record.steps), width=34),
            Text(f"{clock(self._left(record))} left", style="bold"),
        )
        notes = [Text(f"! {warning}", style="yellow") for warning in warnings(record, counters)]
        if self.note:
            notes.append(Text(self.note, style="cyan"))
        return Group(head, Text(), grid, *notes)


def amount(value: float) -> str:
    """1234567 as 1.23M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            digits = 0 if value >= 100 * size else 1 if value >= 10 * size else 2
            return f"{value / size:.{digits}f}{unit}"
    return f"{value:.0f}"


def seconds(value: float) -> str:
    """Seconds of an episode."""
    return f"{value:.2f} s" if math.isfinite(value) else "–"


def clock(value: float) -> str:
    """Seconds of waiting."""
    if not math.isfinite(value):
        return "?"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def curve(values: list[float], width: int) -> str:
    """``values`` from 0 to 1 as a line of ``width`` bars at the most, the latest at the right."""
    if len(values) > width:
        edges = [round(i * len(values) / width) for i in range(width + 1)]
        values = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    return "".join(BARS[min(len(BARS) - 1, int(value * len(BARS)))] for value in values)
