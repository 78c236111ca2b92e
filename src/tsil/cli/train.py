"""``tsil train``: train a policy, or go on with a stopped run."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from tsil.cli import threads as cores
from tsil.cli.arguments import parse, whole_number
from tsil.method.configuration import Configuration, Disturbances
from tsil.method.methods import method_named
from tsil.runs.minibatch import fitting_minibatch
from tsil.tasks import make_environment, task_named

if TYPE_CHECKING:
    from tsil.runs.directory import RunDirectory, Setup
    from tsil.runs.training import Run
    from tsil.runs.watchers.console import ConsoleWatcher

NEAR = "tsil train drawer-open --steps 1M --out runs/first"


@dataclass(frozen=True)
class Arguments:
    """Train a policy, as in: tsil train drawer-open --steps 1M --out runs/first

    Every setting of the configuration can be given by its dotted name; --envs is --environments.

    Ctrl-C finishes the iteration and saves; a second one quits at once. A stopped run goes on
    with --resume, exactly as if it had never been stopped.
    """

    task: Annotated[str | None, Positional, arg(metavar="TASK")] = None
    """What to train on; tsil tasks lists what there is."""
    out: Annotated[Path | None, arg(metavar="DIRECTORY")] = None
    """Where to keep the run. The default is a new directory runs/TASK-METHOD-SEED."""
    resume: Annotated[Path | None, arg(metavar="DIRECTORY")] = None
    """Go on with the run in this directory, with its own settings."""
    like: Annotated[Path | None, arg(metavar="RUN")] = None
    """Begin with the settings of this run; what else is given comes on top."""
    preset: Literal["desk", "paper"] = "desk"
    """desk: 512 worlds, for a few cores; paper: the paper's 6400 worlds and 50 M steps."""
    disturb: Annotated[tuple[str, ...], arg(metavar="[NAME=VALUE …]")] = ()
    """What makes training harder, such as gradient-noise=10 reward-dropout=0.6."""
    threads: int = 0
    """CPU threads for physics and learning; 0 is one per core."""
    device: str = "cpu"
    """cpu or cuda."""
    checkpoint_every: int = 10
    """Iterations between checkpoints."""
    wandb: bool = False
    """Log to Weights & Biases too; offline unless WANDB_MODE=online."""
    configuration: Annotated[Configuration, arg(name="")] = field(
        default_factory=lambda: Configuration.preset("desk")
    )
    """The method and its settings."""


def run(arguments: list[str]) -> int:
    """Train."""
    words = [_long_name(word) for word in arguments]
    asked = parse(Arguments, "train", words, default=_defaults(words))
    if asked.resume is None:
        started = _start(asked)
    else:
        _only_resume(words, asked)
        started = _go_on(asked)
    task, configuration, setup, directory = started
    from tsil.runs import group

    used = cores.use(group.own_threads(setup.threads, cores.available()))
    setup = dataclasses.replace(setup, threads=used)
    return _train(task, configuration, setup, directory, asked.wandb)


# ------------------------------------------------------------------------------ what is asked


def _long_name(word: str) -> str:
    """``--envs``, which everybody types, as the field it stands for."""
    name, equals, value = word.partition("=")
    return f"--environments{equals}{value}" if name == "--envs" else word


def _defaults(words: list[str]) -> Arguments:
    """What is not given: the preset's values, with a minibatch that a small rollout can fill."""

    def given(name: str) -> str | None:
        for index, word in enumerate(words):
            if word.startswith(f"--{name}="):
                return word.partition("=")[2]
            if word == f"--{name}" and index + 1 < len(words):
                return words[index + 1]
        return None

    def count(name: str, default: int) -> int:
        try:
            return max(1, whole_number(given(name) or ""))
        except ValueError:
            return default  # the parser has something to say about it

    if (model := given("like")) is not None:
        return _like(Path(model))
    name = given("preset")
    preset = Configuration.preset(name if name in ("desk", "paper") else "desk")
    fresh = count("environments", preset.environments) * count("rollout", preset.rollout)
    minibatch = fitting_minibatch(preset.ppo.minibatch, fresh)
    return Arguments(configuration=preset.override(**{"ppo.minibatch": minibatch}))


def _like(path: Path) -> Arguments:
    """The settings of another run."""
    cores.use(0)
    from tsil.runs.directory import RunDirectory

    configuration, setup = RunDirectory(path).read()
    return Arguments(
        task=setup.task,
        threads=setup.threads,
        device=setup.device,
        checkpoint_every=setup.checkpoint_every,
        configuration=configuration,
    )


def _disturbances(asked: tuple[str, ...], configuration: Configuration) -> Configuration:
    """The configuration with ``NAME=VALUE`` disturbances switched on."""
    names = [item.name.replace("_", "-") for item in dataclasses.fields(Disturbances)]
    changes: dict[str, Any] = {}
    for word in asked:
        name, _, value = word.partition("=")
        if name.replace("_", "-") not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.4)
            hint = f": did you mean {near[0]!r}?" if near else f": there are {', '.join(names)}"
            raise ValueError(f"unknown disturbance {name!r}{hint}")
        try:
            changes[f"disturbances.{name.replace('-', '_')}"] = float(value)
        except ValueError:
            raise ValueError(f"--disturb {word}: {name} needs a number, as in {name}=0.5") from None
    return configuration.override(**changes)


def _start(asked: Arguments) -> tuple[str, Configuration, Setup, RunDirectory]:
    """A new run."""
    if asked.task is None:
        raise ValueError(f"name a task, as in: {NEAR} (tsil tasks lists them)")
    facts = task_named(asked.task)
    if not facts.ready:
        raise ValueError(f"task {facts.name!r} is not available in this installation")
    configuration = _disturbances(asked.disturb, asked.configuration)
    cores.use(asked.threads)
    from tsil.runs import group
    from tsil.runs.directory import RunDirectory, Setup

    setup = Setup(facts.name, asked.threads, asked.device, asked.checkpoint_every)
    if asked.out is None and group.size() > 1:
        raise ValueError("--out is needed where several processes train together")
    directory = RunDirectory(asked.out or _free_place(facts.name, configuration))
    if group.leads():
        directory.check_free()
    return facts.name, configuration, setup, directory


def _free_place(task: str, configuration: Configuration) -> Path:
    """A directory under runs/ that nobody uses yet."""
    stem = f"{task}-{configuration.method}-seed{configuration.seed}"
    place, number = Path("runs") / stem, 2
    while place.exists():
        place, number = Path("runs") / f"{stem}-{number}", number + 1
    return place


def _go_on(asked: Arguments) -> tuple[str, Configuration, Setup, RunDirectory]:
    """The run in the directory that --resume names."""
    cores.use(asked.threads)
    from tsil.runs.directory import RunDirectory

    assert asked.resume is not None
    directory = RunDirectory(asked.resume)
    configuration, setup = directory.read()
    task = setup.task
    if task is None:
        raise ValueError(
            f"{asked.resume} was trained on an environment of your own: "
            "call tsil.train with the same out again"
        )
    task_named(task)
    if asked.threads:
        setup = dataclasses.replace(setup, threads=asked.threads)
    return task, configuration, setup, directory


def _only_resume(words: list[str], asked: Arguments) -> None:
    """A resumed run keeps its settings: refuse others beside --resume."""
    allowed = ("--resume", "--threads", "--wandb", "--no-wandb")
    for word in words:
        if word.startswith("--") and word.partition("=")[0] not in allowed:
            raise ValueError(
                f"{word.partition('=')[0]} cannot be given with --resume: "
                "a resumed run keeps its own settings"
            )
    if asked.task is not None:
        raise ValueError(f"leave {asked.task!r} out: --resume goes on with the run's own task")


# --------------------------------------------------------------------------------- training


def _train(
    task: str, configuration: Configuration, setup: Setup, directory: RunDirectory, wandb: bool
) -> int:
    from tsil.runs import group
    from tsil.runs.training import Run
    from tsil.runs.watchers.console import ConsoleWatcher, amount
    from tsil.runs.watchers.tensorboard import TensorBoardWatcher

    if wandb:
        import_module("wandb")  # missing, it is missed before there is a directory
    device = group.own_device(setup.device)
    group.join(device)
    worlds = max(1, configuration.environments // group.size())
    environment = make_environment(task, worlds, setup.threads, device)
    try:
        run = Run(environment, configuration, setup, directory)
        if not group.leads():
            with _stopped_politely(run, None):
                run.train()
            return 0
        steps = run.learner.progress.steps
        if run.learner.finished:
            print(f"{directory.path} is finished: its {amount(steps)} steps are done")
            return 0
        run.watchers.append(TensorBoardWatcher(directory.events, steps))
        if wandb:
            from tsil.runs.watchers.wandb import WandbWatcher

            run.watchers.append(WandbWatcher(directory.path, directory.path.name, configuration))
        title = f"{method_named(configuration.method).title} · {task} · seed {configuration.seed}"
        screen = ConsoleWatcher(title, configuration, run.learner.longest, str(directory.path))
        run.watchers.append(screen)
        with _stopped_politely(run, screen):
            run.train()
    finally:
        environment.close()
        group.leave()
    _closing_words(run, directory)
    return 0


@contextmanager
def _stopped_politely(run: Run, screen: ConsoleWatcher | None) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) ends training after the iteration, the second at once."""

    def interrupt(number: int, _: Any) -> None:
        signal.signal(number, signal.default_int_handler)
        run.stop()
        if screen is not None:
            screen.tell("Finishing this iteration, then saving. Ctrl-C again quits at once.")

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _closing_words(run: Run, directory: RunDirectory) -> None:
    from tsil.runs.watchers.console import amount, clock

    progress = run.learner.progress
    done = "Trained" if run.learner.finished else "Stopped after"
    print(
        f"{done} {amount(progress.steps)} steps in {clock(run.seconds)}; "
        f"success in training {progress.success_rate:.1%}."
    )
    if not run.learner.finished:
        print(f"Go on with:  tsil train --resume {directory.path}")
    print(f"Judge it:    tsil eval {directory.path}")
    print(f"Watch it:    tsil play {directory.path}")
    print(f"Report:      tsil report {directory.path}")
