"""``tsil eval``: judge a policy on configurations it has never seen."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from tsil.cli import threads as cores
from tsil.cli.arguments import at_least, parse
from tsil.tasks import make_environment

if TYPE_CHECKING:
    from tsil.runs.evaluation import Evaluation, Target

MOST_WORLDS = 500


@dataclass(frozen=True)
class Arguments:
    """Judge a policy: success rate and completion time, with 95 % intervals.

    Every trial is one episode on a freshly drawn configuration, with the policy's mean action.
    The outcome is kept in the run's evaluations.jsonl, where tsil report finds it.
    """

    run: Annotated[Path, Positional, arg(metavar="RUN")]
    """A run directory."""
    trials: int = 2000
    """Episodes."""
    target: str = "median"
    """Target D shown to the policy: median (of training's), max (the horizon) or seconds."""
    policy: str = "best"
    """best, last, early, or a number of steps: which of the run's policies."""
    seed: int = 1_000_000
    """Determines the configurations; keep it away from training seeds."""
    envs: int = MOST_WORLDS
    """Parallel worlds, at most one per trial."""
    threads: int = 0
    """CPU threads; 0 is one per core."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> int:
    """Evaluate."""
    asked = parse(Arguments, "eval", arguments)
    for name, least in (("envs", 1), ("trials", 1), ("seed", 0)):
        at_least(name, getattr(asked, name), least)
    target = read_target(asked.target)
    threads = cores.use(asked.threads)
    from tsil.runs.directory import RunDirectory
    from tsil.runs.evaluation import evaluate
    from tsil.runs.policies import load_policy, task_of

    directory = RunDirectory(asked.run)
    path = directory.policy(asked.policy)
    policy, facts = load_policy(path)
    worlds = min(asked.envs, asked.trials)
    environment = make_environment(task_of(path, facts), worlds, threads)
    try:
        outcome = evaluate(policy, environment, asked.trials, target, seed=asked.seed)
    finally:
        environment.close()
    line = {
        "policy": path.stem,
        "steps": facts.get("steps"),
        "asked": asked.target,
        "seed": asked.seed,
        **outcome.summary(),
    }
    print(json.dumps(line, indent=2) if asked.json else in_words(outcome, path))
    try:
        directory.record_evaluation(line)
    except OSError as error:
        print(f"tsil: not kept with the run: {error.strerror}", file=sys.stderr)
    return 0


def read_target(text: str) -> Target:
    """What --target says."""
    if text == "max" or text == "median":
        return "max" if text == "max" else "median"
    try:
        return float(text.removesuffix("s"))
    except ValueError:
        raise ValueError(
            f"--target is {text!r}: it must be max, median or a number of seconds"
        ) from None


def in_words(outcome: Evaluation, path: Path) -> str:
    """The outcome as two lines."""
    low, high = outcome.success_interval
    lines = [
        f"success     {outcome.success_rate:.1%}  (95 % interval {low:.1%} to {high:.1%}; "
        f"{outcome.successes} of {outcome.trials} trials)"
    ]
    if outcome.successes:
        early, late = outcome.completion_interval
        between = f"  (95 % interval {early:.3f} to {late:.3f} s)" if early == early else ""
        lines.append(f"completion  {outcome.completion_time:.3f} s{between}")
    lines.append(f"policy {path.stem}, shown a target of {outcome.target:.2f} s")
    return "\n".join(lines)
