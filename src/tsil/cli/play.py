"""``tsil play``: watch a policy, or record a video of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from tsil.cli import threads as cores
from tsil.cli.arguments import at_least, parse
from tsil.cli.evaluate import read_target
from tsil.tasks import TASKS, make_environment

if TYPE_CHECKING:
    from tsil.method.environment import Environment
    from tsil.runs.film import Actor

ENDINGS = (".mp4", ".gif")
FRAMES = 30
"""Frames per second of film, about."""
HOLD = 1.5
"""Seconds for which a film stands still at its end."""


@dataclass(frozen=True)
class Arguments:
    """Watch a policy on fresh configurations: in a window, or as a video of several worlds."""

    run: Annotated[Path, Positional, arg(metavar="RUN")]
    """A run directory."""
    video: Annotated[Path | None, arg(metavar="FILE")] = None
    """Film to this .mp4 or .gif file. What lies in the run's videos/ appears in its report."""
    configurations: int = 9
    """Worlds in the picture, each with a configuration of its own."""
    policy: Annotated[tuple[str, ...], arg(metavar="NAME …")] = ("best",)
    """best, last, early, or a number of steps; several stand side by side."""
    target: str = "median"
    """Target D shown to the policy: max (the horizon), median (of training's) or seconds."""
    speed: float = 0.5
    """Of the picture, in times real time."""
    seed: int = 2_000_000
    """Determines the configurations."""
    width: int = 1280
    """Pixels, at the most."""
    threads: int = 0
    """CPU threads; 0 is one per core."""


def run(arguments: list[str]) -> int:
    """Play."""
    asked = parse(Arguments, "play", arguments)
    _check(asked)
    threads = cores.use(asked.threads)
    task, actors = _actors(asked)
    if asked.video is None:
        return _window(task, actors[0], asked.seed, asked.speed, threads)
    environment = make_environment(task, asked.configurations, threads)
    try:
        _record(environment, actors, asked, asked.video)
    finally:
        environment.close()
    print(f"Wrote {asked.video}")
    return 0


def _check(asked: Arguments) -> None:
    if asked.video is not None and asked.video.suffix.lower() not in ENDINGS:
        raise ValueError(f"--video is {str(asked.video)!r}: it must end in {' or '.join(ENDINGS)}")
    if not 1 <= asked.configurations <= 100:
        raise ValueError(f"--configurations is {asked.configurations}: it must be from 1 to 100")
    if not asked.policy:
        raise ValueError("--policy needs a name: best, last, early or a number of steps")
    at_least("seed", asked.seed, 0)
    if not 0.01 <= asked.speed <= 10:
        raise ValueError(f"--speed is {asked.speed:g}: it must be from 0.01 to 10")
    if not 160 <= asked.width <= 7680:
        raise ValueError(f"--width is {asked.width}: it must be from 160 to 7680")


def _actors(asked: Arguments) -> tuple[str, list[Actor]]:
    """The task and the policies to be seen."""
    from tsil.runs.directory import RunDirectory
    from tsil.runs.evaluation import target_seconds
    from tsil.runs.film import Actor
    from tsil.runs.policies import load_policy, task_of
    from tsil.runs.watchers.console import amount

    directory, target = RunDirectory(asked.run), read_target(asked.target)
    actors, task = [], ""
    for name in asked.policy:
        path = directory.policy(name)
        policy, facts = load_policy(path)
        task = task_of(path, facts)
        steps = facts.get("steps")
        after = f"after {amount(steps)} steps" if isinstance(steps, int) else path.stem
        title = f"{facts.get('method', 'policy')} {after}"
        shown = target_seconds(target, policy)
        actors.append(Actor(title, policy, shown))
    return task, actors


def _record(environment: Environment, actors: list[Actor], asked: Arguments, video: Path) -> None:
    from tsil.runs.film import film, write_film

    steps = asked.speed / environment.interval  # per second of film
    every = max(1, round(steps / FRAMES))
    rate = steps / every
    layout, frames = film(environment, actors, asked.seed, every, round(HOLD * rate), asked.width)
    write_film(video, frames, layout.size, rate)


def _window(task: str, actor: Actor, seed: int, speed: float, threads: int) -> int:
    """Show one world in the simulator's own viewer, one configuration after the other."""
    if TASKS[task].number is None:
        raise ValueError(f"task {task!r} opens no window: give --video FILE.mp4 to film it")
    import torch

    from tsil.mt15 import MT15Environment
    from tsil.mt15.window import Window

    environment = make_environment(task, 1, threads)
    assert isinstance(environment, MT15Environment)
    goal = torch.full((1,), actor.target)
    observation, elapsed = environment.reset(seed), 0
    try:
        window = Window(environment)
    except OSError as error:
        raise OSError(f"{error}: give --video FILE.mp4 to film it") from None
    try:
        while window.is_open:
            began = time.monotonic()
            now = torch.full((1,), elapsed * environment.interval)
            step = environment.step(actor.policy.act(observation, now, goal))
            observation, elapsed = step.observation, elapsed + 1
            if bool(step.success | step.timeout):
                words = "done" if bool(step.success) else "not done"
                print(f"{words} after {elapsed * environment.interval:.2f} s")
                seed += 1
                observation, elapsed = environment.reset(seed), 0
            window.show()
            time.sleep(max(0.0, environment.interval / speed - (time.monotonic() - began)))
    except KeyboardInterrupt:
        pass  # one way of closing it
    finally:
        window.close()
        environment.close()
    return 0
