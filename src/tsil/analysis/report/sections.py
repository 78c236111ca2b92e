"""The parts of the page, from top to bottom. A section that has nothing to say is left out.

To add one, write a function from ``Report`` to HTML and list it in ``SECTIONS``.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from tsil.analysis.paper import reported
from tsil.analysis.report.charts import Axis, Chart, Line, short
from tsil.analysis.report.data import (
    Curve,
    Group,
    Report,
    RunData,
    mean_and_sem,
    resampled,
    shared_steps,
)
from tsil.method.configuration import flatten
from tsil.runs.watchers.console import clock
from tsil.tasks import TASKS

LARGEST_VIDEO = 12 * 2**20
"""Bytes of a film that is taken into the page."""


def heading(report: Report) -> str:
    """Title and what the page is about."""
    seeds = sorted({run.configuration.seed for run in report.runs})
    names = ", ".join(dict.fromkeys(group.label for group in report.groups))
    count = len(report.runs)
    return (
        f"<h1>{escape(report.title)}</h1>"
        f'<p class="soft">{escape(names)} · {count} run{"s" * (count > 1)} · '
        f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}</p>"
    )


# ------------------------------------------------------------------------------- headline


def headline(report: Report) -> str:
    """The numbers that people quote: as cards for one group, as a table for several."""
    if len(report.groups) == 1:
        facts = _facts(report.groups[0])
        return f'<div class="cards">{"".join(_card(*fact) for fact in facts)}</div>'
    rows = []
    for task, groups in report.tasks.items():
        for group in groups:
            cells = [
                f"<b>{escape(value)}</b><br><small>{escape(note)}</small>"
                for _, value, note in _facts(group)
            ]
            title = group.label if len(report.tasks) == 1 else f"{group.label} on {task}"
            rows.append([f"{_dot(group)}{escape(title)}", *cells])
    names = [name for name, _, _ in _facts(report.groups[0])]
    return _table(("Method", *names), rows, "lead")


def _card(name: str, value: str, note: str) -> str:
    return (
        f"<div class='card'><i>{escape(name)}</i><b>{escape(value)}</b>"
        f"<span>{escape(note)}</span></div>"
    )


def _facts(group: Group) -> list[tuple[str, str, str]]:
    """Name, value and explanation of each number."""
    runs = group.runs
    judged = [line for run in runs if (line := _headline_evaluation(run)) is not None]
    return [_success(judged), _completion(judged), _sample_efficiency(runs), _duration(runs)]


def _success(judged: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
    name = "Success, fresh configurations"
    if not judged:
        return name, "–", "not evaluated yet: run tsil eval"
    rates = _of(judged, "success_rate")
    trials = round(sum(_of(judged, "trials")))
    if len(judged) == 1:
        note = f"95 % interval {_interval(judged[0]['success_interval'], '{:.1%}')}"
    else:
        note = f"± {stdev(rates):.1%} over {len(judged)} seeds"
    return name, f"{fmean(rates):.1%}", f"{note}; {trials} trials"


def _completion(judged: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
    times = _of(judged, "completion_time")
    return (
        "Completion time",
        f"{fmean(times):.2f} s" if times else "–",
        "of successful trials" if times or not judged else "no trial succeeded",
    )


def _sample_efficiency(runs: Sequence[RunData]) -> tuple[str, str, str]:
    reached = [steps for run in runs if (steps := steps_to(run, 0.8)) is not None]
    note = f"{len(reached)} of {len(runs)} runs got there" if len(runs) > 1 else "in training"
    value = _amount(fmean(reached)) if reached else "not reached"
    return "Steps to 80 % success", value, note


def _duration(runs: Sequence[RunData]) -> tuple[str, str, str]:
    steps, spent = (fmean(run.last(name) for run in runs) for name in ("steps", "seconds"))
    speed = f", {_amount(steps / spent)} steps/s" if spent > 0 else ""
    return "Training time", clock(spent), f"{_amount(steps)} steps{speed}"


def _headline_evaluation(run: RunData) -> dict[str, Any] | None:
    """The latest evaluation under the usual target, of the best policy if there is one."""
    usual = [
        line
        for line in run.evaluations
        if line.get("asked") == "median" and isinstance(line.get("success_interval"), list)
    ]
    best = [line for line in usual if line.get("policy") == "best"]
    chosen = best or usual
    return chosen[-1] if chosen else None


def steps_to(run: RunData, rate: float) -> float | None:
    """Environment steps after which the training success rate first reached ``rate``."""
    reached = np.flatnonzero(run.column("success_rate") >= rate)
    return float(run.steps[reached[0]]) if len(reached) else None


# --------------------------------------------------------------------------------- curves


def curves(report: Report) -> str:
    """Success, completion time, targets and memory over training, task by task."""
    parts = ["<h2>Learning</h2>", _explanation(report)]
    for task, groups in report.tasks.items():
        if len(report.tasks) > 1:
            parts.append(f"<h3>{escape(task)}</h3>")
        runs = [run for group in groups for run in group.runs]
        steps = shared_steps(runs)
        timed = [g for g in groups if g.runs[0].configuration.record.target == "adaptive"]
        kept = [g for g in groups if g.runs[0].configuration.record.memory != "none"]
        charts = [
            _over_steps(
                "Success rate",
                "worlds whose latest episode succeeded",
                groups,
                steps,
                "success_rate",
                Axis("", percent=True, low=0.0, high=1.0),
            ),
            _over_steps(
                "Completion time",
                "of the successes in each iteration",
                groups,
                steps,
                "completion_time",
                Axis("", " s", low=0.0),
            ),
        ]
        if timed:
            charts.append(_targets(timed, steps))
        if kept:
            charts.append(_memory(kept, steps))
        parts.append(f'<div class="charts">{"".join(chart.html() for chart in charts)}</div>')
    return "".join(parts)


def _explanation(report: Report) -> str:
    several = max(len(group.runs) for group in report.groups) > 1
    band = " Lines are means over seeds, bands the standard error of the mean." if several else ""
    return f'<p class="soft">Point at a chart for its numbers.{band}</p>'


def _line(group: Group, steps: Curve, values: Sequence[Curve]) -> Line:
    """The mean over seeds of ``values``, one curve a run, with its standard error."""
    mean, sem = mean_and_sem(
        [resampled(run, curve, steps) for run, curve in zip(group.runs, values, strict=True)]
    )
    low, high = (mean - sem, mean + sem) if len(values) > 1 else (None, None)
    return Line(group.label, group.key, mean, low, high, group.ink.dash)


def _over_steps(
    title: str,
    note: str,
    groups: Sequence[Group],
    steps: Curve,
    name: str,
    axis: Axis,
    small: bool = False,
) -> Chart:
    lines = [_line(g, steps, [run.column(name) for run in g.runs]) for g in groups]
    return Chart(title, note, steps, lines, axis, small)


def _targets(groups: Sequence[Group], steps: Curve) -> Chart:
    """Median of D(φ) with the band that holds 80 % of the configurations."""
    lines = []
    for group in groups:
        low, median, high = (
            mean_and_sem(
                [resampled(run, run.column("target_quantiles", q), steps) for run in group.runs]
            )[0]
            for q in (1, 3, 5)
        )
        lines.append(Line(group.label, group.key, median, low, high, group.ink.dash))
    return Chart(
        "Temporal targets D(φ)",
        "median, and the band that holds 80 % of the configurations",
        steps,
        lines,
        Axis("", " s", low=0.0),
    )


def _memory(groups: Sequence[Group], steps: Curve) -> Chart:
    """Share of the memory's places that hold a fast success."""
    lines = []
    for group in groups:
        settings = group.runs[0].configuration
        room = settings.environments * settings.imitation.k
        stored = [run.column("memory_successes") / room for run in group.runs]
        lines.append(_line(group, steps, stored))
    return Chart(
        "Memory B(φ)",
        "share of its places that hold a success",
        steps,
        lines,
        Axis("", percent=True, low=0.0, high=1.0),
    )


HEALTH = (
    ("kl", "KL divergence", "mean over the gradient steps of an iteration"),
    ("value_loss", "Value loss", "in the critic's normalized space"),
    ("gradient_norm", "Gradient norm", "before clipping"),
    ("action_std", "Action noise", "mean standard deviation"),
    ("positive_gap_share", "Positive gaps", "replayed steps better than the critic expects"),
    ("imitation_policy_loss", "Imitation loss", "the policy's term of L_SI"),
)


def health(report: Report) -> str:
    """Losses and what else shows whether training is well."""
    parts = ["<h2>Health</h2>"]
    for task, groups in report.tasks.items():
        if len(report.tasks) > 1:
            parts.append(f"<h3>{escape(task)}</h3>")
        steps = shared_steps([run for group in groups for run in group.runs])
        charts = []
        for name, title, note in HEALTH:
            imitation = name in ("positive_gap_share", "imitation_policy_loss")
            shown = [g for g in groups if g.runs[0].configuration.record.imitates or not imitation]
            if shown:
                axis = Axis("", percent=name == "positive_gap_share", low=0.0)
                if name == "imitation_policy_loss":
                    axis = Axis("")
                charts.append(_over_steps(title, note, shown, steps, name, axis, small=True))
        drawn = "".join(chart.html() for chart in charts)
        parts.append(f'<div class="charts three">{drawn}</div>')
    for run in report.runs:
        counters = run.lines[-1].get("counters")
        for name, count in counters.items() if isinstance(counters, dict) else ():
            if count:
                parts.append(
                    f'<p class="warn">{escape(str(run.directory.path))}: '
                    f"{escape(str(name))} {escape(str(count))} times</p>"
                )
    return "".join(parts)


# ------------------------------------------------------------------------------------ time


def time_spent(report: Report) -> str:
    """Simulation and learning, as shares of the time."""
    rows = []
    for task, groups in report.tasks.items():
        for group in groups:
            simulation, learning = (
                sum(run.total(f"{name}_seconds") for run in group.runs)
                for name in ("simulation", "learning")
            )
            total = simulation + learning
            if total <= 0:
                continue
            steps = sum(run.last("steps") for run in group.runs)
            share = simulation / total
            rows.append(
                f"<figure><figcaption><b>{_dot(group)}{escape(group.label)} on {escape(task)}</b>"
                f"<span>{_amount(steps / total)} steps/s over {len(group.runs)} "
                f"run{'s' * (len(group.runs) > 1)}</span></figcaption>"
                f'<div class="stack" role="img" aria-label="{share:.0%} simulation">'
                f'<div style="width:{share:.2%};background:var(--simulation)"></div>'
                f'<div style="width:{1 - share:.2%};background:var(--learning)"></div></div>'
                '<ul class="legend"><li><span class="dot" style="background:var(--simulation)">'
                f"</span>simulation {share:.0%} ({clock(simulation)})</li>"
                '<li><span class="dot" style="background:var(--learning)"></span>'
                f"learning {1 - share:.0%} ({clock(learning)})</li></ul></figure>"
            )
    return f'<h2>Where the time went</h2><div class="charts">{"".join(rows)}</div>' if rows else ""


# -------------------------------------------------------------------------------- evaluation


def evaluations(report: Report) -> str:
    """Every evaluation, with its intervals."""
    rows = []
    for group in report.groups:
        for run in group.runs:
            rows += [_evaluation_row(group, run, line) for line in run.evaluations]
    if not rows:
        return ""
    names = (
        "Method",
        "Seed",
        "Policy",
        "Target",
        "Trials",
        "Success",
        "95 % interval",
        "Completion",
        "95 % interval",
    )
    return (
        "<h2>Evaluation</h2><p class='soft'>On freshly drawn configurations, with the policy's "
        "mean action. Intervals of rates are Wilson's.</p>" + _table(names, rows)
    )


def _evaluation_row(group: Group, run: RunData, line: dict[str, Any]) -> list[str]:
    completion = _value(line.get("completion_time"), "{:.3f} s")
    return [
        f"{_dot(group)}{escape(group.label)}",
        str(run.configuration.seed),
        escape(str(line.get("policy", "–"))),
        f"{_value(line.get('target'), '{:.2f} s')} ({escape(str(line.get('asked', '–')))})",
        escape(str(line.get("trials", "–"))),
        f"<b>{_value(line.get('success_rate'), '{:.1%}')}</b>",
        _interval(line.get("success_interval"), "{:.1%}"),
        completion,
        _interval(line.get("completion_interval"), "{:.3f} s"),
    ]


def beside_the_paper(report: Report) -> str:
    """Ours and the paper's, where it has a number."""
    parts = []
    for task, groups in report.tasks.items():
        rows = []
        for group in groups if task in TASKS and TASKS[task].number is not None else ():
            settings = flatten(group.runs[0].configuration.disturbances)
            theirs = reported(group.method, settings)
            if not theirs:
                continue
            ours = _ours(group)
            for name, title, pattern in PAPER_ROWS:
                mean, spread = ours[name]
                value = pattern.format(mean) if math.isfinite(mean) else "–"
                if math.isfinite(spread):
                    value += f" ± {pattern.format(spread)}"
                paper = f"{pattern.format(theirs[name].mean)} ± {pattern.format(theirs[name].std)}"
                rows.append(
                    [f"{_dot(group)}{escape(group.label)}", title, f"<b>{value}</b>", paper]
                )
        if rows:
            parts.append(f"<h3>{escape(task)}</h3>" if len(report.tasks) > 1 else "")
            parts.append(_table(("Method", "Metric", "Here", "Paper"), rows))
    if not parts:
        return ""
    return (
        "<h2>Beside the paper</h2><p class='soft'>The paper's numbers are averages over fifteen "
        "tasks with budgets of tens of millions of steps on another simulator; they tell what to "
        "expect of the order of the methods, not what one task must reach. Here: mean ± standard "
        "deviation over seeds.</p>" + "".join(parts)
    )


PAPER_ROWS = (
    ("success_rate", "Success rate", "{:.3f}"),
    ("auc", "Area under the success curve", "{:.3f}"),
    ("steps_to_80_millions", "Steps to 80 % success (M)", "{:.2f}"),
    ("completion_time_s", "Completion time (s)", "{:.3f}"),
    ("success_count_thousands", "Successful training episodes (k)", "{:.1f}"),
)


def _ours(group: Group) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation over seeds by the paper's metrics; NaN where unknown."""
    judged = [line for run in group.runs if (line := _headline_evaluation(run)) is not None]
    reached = [steps for run in group.runs if (steps := steps_to(run, 0.8)) is not None]
    everybody = len(reached) == len(group.runs)  # a mean over those who got there would flatter
    return {
        "success_rate": _spread(_of(judged, "success_rate")),
        "auc": _spread([_area(run) for run in group.runs]),
        "steps_to_80_millions": _spread([x / 1e6 for x in reached] if everybody else []),
        "completion_time_s": _spread(_of(judged, "completion_time")),
        "success_count_thousands": _spread([x.last("total_successes") / 1e3 for x in group.runs]),
    }


def _area(run: RunData) -> float:
    """Area under the training success rate over the whole budget."""
    steps = np.concatenate(([0.0], run.steps))
    rate = np.concatenate(([0.0], np.nan_to_num(run.column("success_rate"))))
    return float(np.trapezoid(rate, steps) / steps[-1])


def _spread(values: Sequence[float]) -> tuple[float, float]:
    mean = fmean(values) if values else math.nan
    return mean, stdev(values) if len(values) > 1 else math.nan


def _of(lines: Sequence[dict[str, Any]], name: str) -> list[float]:
    return [float(x) for line in lines if isinstance(x := line.get(name), int | float)]


# ---------------------------------------------------------------------------------- videos


def videos(report: Report) -> str:
    """Films that ``tsil play`` has left in the runs."""
    parts = []
    for group in report.groups:
        for run in group.runs:
            folder = run.directory.videos
            for path in sorted(folder.glob("*")) if folder.is_dir() else ():
                if path.suffix in (".mp4", ".gif") and not path.name.startswith("."):
                    parts.append(_video(group, run, path))
    return f'<h2>Videos</h2><div class="videos">{"".join(parts)}</div>' if parts else ""


def _video(group: Group, run: RunData, path: Path) -> str:
    name = f"{group.label}, seed {run.configuration.seed}"
    caption = (
        f"<figcaption><b>{_dot(group)}{escape(path.stem.replace('-', ' '))}</b>"
        f"<span>{escape(name)}</span></figcaption>"
    )
    if path.stat().st_size > LARGEST_VIDEO:
        note = f"Too large for this page: {escape(str(path))}"
        return f"<figure>{caption}<p class='warn'>{note}</p></figure>"
    content = base64.b64encode(path.read_bytes()).decode()
    if path.suffix == ".gif":
        return f'<figure>{caption}<img alt="" src="data:image/gif;base64,{content}"></figure>'
    return (
        f"<figure>{caption}<video controls muted loop autoplay playsinline "
        f'src="data:video/mp4;base64,{content}"></video></figure>'
    )


# -------------------------------------------------------------------------------- particulars


def particulars(report: Report) -> str:
    """Settings and machine of every run, folded away."""
    parts = ["<h2>Particulars</h2>"]
    for run in report.runs:
        settings = [
            [f"<code>{escape(name)}</code>", escape(str(value))]
            for name, value in {**flatten(run.setup), **flatten(run.configuration)}.items()
        ]
        machine = [
            [f"<code>{escape(str(name))}</code>", escape(str(value))]
            for name, value in (run.machine[-1] if run.machine else {}).items()
        ]
        sittings = f"{len(run.machine)} sitting{'s' * (len(run.machine) != 1)}"
        parts.append(
            f"<details><summary>{escape(str(run.directory.path))}</summary>"
            f"{_table(('Setting', 'Value'), settings)}"
            f"<p class='soft'>{sittings}; the latest on:</p>"
            f"{_table(('Machine', ''), machine)}</details>"
        )
    return "".join(parts)


# ------------------------------------------------------------------------------------ parts


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table of cells that are HTML already."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    wide = " class=wide" * (len(names) == 2)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{wide} data-name="{escape(name)}">{cell}</td>'
            for name, cell in zip(names, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="table {kind}"><table><tr>{head}</tr>{body}</table></div>'


def _dot(group: Group) -> str:
    return f'<span class="dot" style="background:var(--{group.key})"></span>'


def _amount(value: float) -> str:
    """1234567 as 1.23M."""
    return short(float(f"{value:.3g}"))


def _value(value: object, pattern: str) -> str:
    return pattern.format(value) if isinstance(value, int | float) else "–"


def _interval(value: object, pattern: str) -> str:
    match value:
        case [int() | float() as low, int() | float() as high]:
            return f"{pattern.format(low)} to {pattern.format(high)}"
    return "–"


SECTIONS: tuple[Callable[[Report], str], ...] = (
    heading,
    headline,
    videos,
    curves,
    evaluations,
    beside_the_paper,
    health,
    time_spent,
    particulars,
)
