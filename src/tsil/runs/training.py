"""One training run: the learner, its files, and whoever watches."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from tsil.method import parallel
from tsil.method.configuration import Configuration, flatten
from tsil.method.environment import Environment, Step
from tsil.method.learner import Learner, NonFiniteError, Record
from tsil.method.policy import Policy
from tsil.runs.directory import RunDirectory, Setup
from tsil.runs.files import read_tensors, write_tensors
from tsil.runs.minibatch import fitting_minibatch
from tsil.runs.policies import save_policy

SNAPSHOTS = (0.05, 0.1, 0.25, 0.5, 0.75)
"""Shares of the budget after which a copy of the policy stays."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Where an iteration's time went, seconds."""

    total: float
    simulation: float

    @property
    def learning(self) -> float:
        return self.total - self.simulation


class Watcher(Protocol):
    """Somebody who follows a run: a screen, a log."""

    def watch(self, record: Record, timing: Timing, counters: dict[str, int]) -> None:
        """Called after every iteration. counters: the environment's, since the sitting began."""
        ...

    def close(self) -> None:
        """Called once, when training ends or stops."""
        ...


class Timed:
    """An environment that adds up how long its own steps take."""

    def __init__(self, environment: Environment) -> None:
        self.inner = environment
        self.seconds = 0.0
        self.num_environments = environment.num_environments
        self.horizon = environment.horizon
        self.interval = environment.interval
        self.observation_size = environment.observation_size
        self.action_size = environment.action_size
        self.device = environment.device

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        return self.inner.reset(seed, used)

    def step(self, action: Tensor) -> Step:
        start = time.perf_counter()
        step = self.inner.step(action)
        self.seconds += time.perf_counter() - start
        return step

    def state(self) -> dict[str, Tensor]:
        return self.inner.state()

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        return self.inner.restore(state)

    def counters(self) -> dict[str, int]:
        return self.inner.counters()

    def close(self) -> None:
        self.inner.close()

    def __getattr__(self, name: str) -> Any:
        """What an environment offers beyond the contract."""
        return getattr(self.__dict__["inner"], name)


class Run:
    """A learner with a directory.

    Without a directory it only trains. With one, it writes metrics every iteration, checkpoints
    every few, and can go on after a kill exactly as if there had been none (on a CPU with the
    same number of threads).
    """

    def __init__(
        self,
        environment: Environment,
        configuration: Configuration,
        setup: Setup | None = None,
        directory: RunDirectory | None = None,
        watchers: Iterable[Watcher] = (),
    ) -> None:
        self.configuration = configuration
        self.setup = setup or Setup()
        self.directory = directory
        self.watchers = list(watchers)
        self.environment = Timed(environment)
        self.best_rate = -1.0
        self.seconds = 0.0
        """Time spent training, earlier sittings included."""
        self._stopping = False
        self.leads = parallel.rank() == 0
        """Whether this process writes the run's files; others keep their own checkpoint only."""
        fresh = self.leads and directory is not None and not directory.config.exists()
        if fresh and directory is not None:
            directory.check_free()
        self.learner = Learner(self.environment, configuration)  # may fail: before any file
        if directory is not None:
            if fresh:
                directory.create(configuration, self.setup)
            if self.leads:
                directory.open()
            try:
                self._go_on(directory)
            except BaseException:
                directory.close()
                raise

    @property
    def policy(self) -> Policy:
        """The policy as it is now."""
        return self.learner.policy

    @property
    def training_targets(self) -> Tensor:
        """D(φ) of the training configurations, (n,) seconds."""
        return self.learner.targets.seconds

    def train(self) -> Run:
        """Train until the budget is spent; ``stop`` ends it after the iteration under way."""
        try:
            while not self.learner.finished and not self._asked_to_stop():
                self._iterate()
            if self.directory is not None:
                self.save()
        finally:
            self._stopping = False
            for watcher in self.watchers:
                watcher.close()
            if self.directory is not None:
                self.directory.close()
        return self

    def stop(self) -> None:
        """End training after the iteration under way, with a checkpoint."""
        self._stopping = True

    def _asked_to_stop(self) -> bool:
        return parallel.any_of(self._stopping, self.learner.device)

    def _iterate(self) -> None:
        start, simulated = time.perf_counter(), self.environment.seconds
        before = self.learner.progress.steps
        try:
            record = self.learner.iterate()
        except NonFiniteError as error:
            if self.directory is not None:
                self._write_state(self.directory.nonfinite)
                raise NonFiniteError(
                    f"{error}. The state is in {self.directory.nonfinite}"
                ) from None
            raise
        timing = Timing(time.perf_counter() - start, self.environment.seconds - simulated)
        self.seconds += timing.total
        counters = self.environment.counters()
        if self.directory is not None:
            self._write(self.directory, record, timing, counters, before)
        for watcher in self.watchers:
            watcher.watch(record, timing, counters)

    def _write(
        self,
        directory: RunDirectory,
        record: Record,
        timing: Timing,
        counters: dict[str, int],
        before: int,
    ) -> None:
        line = asdict(record)
        line.update(
            seconds=self.seconds,
            simulation_seconds=timing.simulation,
            learning_seconds=timing.learning,
            counters=counters,
        )
        if self.leads:
            directory.append(line)
        budget = self.configuration.steps
        for share in SNAPSHOTS:
            if before < share * budget <= record.steps:
                self._save_policy(f"at-{record.steps}", record.success_rate)
        if record.steps > 0.9 * budget and record.success_rate >= self.best_rate:
            self.best_rate = record.success_rate
            self._save_policy("best", record.success_rate)
        if record.iteration % self.setup.checkpoint_every == 0:
            self.save()

    def _save_policy(self, name: str, success_rate: float) -> None:
        assert self.directory is not None
        if not self.leads:
            return
        save_policy(
            self.directory.policies / f"{name}.safetensors",
            self.policy,
            self.configuration.network,
            task=self.setup.task,
            method=self.configuration.method,
            seed=self.configuration.seed,
            steps=self.learner.progress.steps,
            training_success_rate=success_rate,
            target_mean=float(self.training_targets.mean()),
        )

    def save(self) -> None:
        """Write the checkpoint and the latest policy."""
        assert self.directory is not None
        self._save_policy("last", self.learner.progress.success_rate)
        path = self.directory.own_checkpoint(parallel.rank())
        if not self.leads:
            # The leader's checkpoint is written last and decides; should a kill come between, the
            # one before is still here.
            if path.exists():
                path.replace(_previous(path))
            self._write_state(path)
        parallel.wait()
        if self.leads:
            self._write_state(path)

    def _write_state(self, path: Path) -> None:
        """Write everything that changes, as it is now."""
        facts = {
            "kind": "checkpoint",
            "task": self.setup.task,
            "settings": flatten(self.configuration),
            "best_rate": self.best_rate,
            "seconds": self.seconds,
        }
        write_tensors(path, self.learner.state(), facts)

    def _go_on(self, directory: RunDirectory) -> None:
        """Take up the checkpoint, where there is one, and forget what came after it."""
        if directory.checkpoint.exists():
            path = self._checkpoint_to_take(directory)
            tensors, facts = read_tensors(path)
            self._check(path, facts)
            try:
                self.learner.restore(tensors)
                self.best_rate, self.seconds = float(facts["best_rate"]), float(facts["seconds"])
            except (KeyError, RuntimeError, TypeError, ValueError) as error:
                reason = str(error).splitlines()[0]
                raise ValueError(f"{path} does not fit this run: {reason}") from None
        if self.leads:
            directory.rewind(self.learner.progress.iterations)

    def _checkpoint_to_take(self, directory: RunDirectory) -> Path:
        """This process's checkpoint of the iteration that the leader's is of."""
        if self.leads:
            return directory.checkpoint
        wanted = read_tensors(directory.checkpoint)[0]["progress.counts"][0]
        own = directory.own_checkpoint(parallel.rank())
        for path in (own, _previous(own)):
            if path.exists() and read_tensors(path)[0]["progress.counts"][0] == wanted:
                return path
        raise ValueError(
            f"{own} is missing or of another iteration: go on with as many processes as before"
        )

    def _check(self, path: Path, facts: dict[str, Any]) -> None:
        """Refuse a checkpoint that is not one of this run, saying what is different."""
        if facts.get("kind") != "checkpoint":
            raise ValueError(f"{path} is a {facts.get('kind')}, not a checkpoint")
        if facts.get("task") != self.setup.task:
            raise ValueError(
                f"{path} is a checkpoint of task {facts.get('task')!r}, not of {self.setup.task!r}"
            )
        stored = facts.get("settings")
        for name, value in flatten(self.configuration).items():
            ours = list(value) if isinstance(value, tuple) else value
            theirs = stored.get(name) if isinstance(stored, dict) else None
            if theirs != ours:
                raise ValueError(
                    f"{path} is of another run: {name} is {theirs!r} there and {ours!r} here"
                )


def _previous(path: Path) -> Path:
    return path.with_stem(f"{path.stem}-previous")


def train(
    environment: Environment,
    method: str = "tsil",
    *,
    steps: int = 1_000_000,
    out: str | None = None,
    preset: str = "desk",
    **changes: Any,
) -> Run:
    """Train on any environment that keeps the contract, in one call.

    ``changes`` replace configuration fields by dotted name, for example
    ``**{"ppo.learning_rate": 3e-4}``. Minibatches shrink to a quarter of the rollout where the
    preset's are larger. With ``out``, a stopped run in that directory goes on.
    """
    n = environment.num_environments
    rollout = changes.get("rollout", 32)
    fresh = Configuration.preset(preset, environments=n, rollout=rollout, **{"ppo.minibatch": 1})
    minibatch = fitting_minibatch(
        Configuration.preset(preset).ppo.minibatch, fresh.environments * fresh.rollout
    )
    configuration = Configuration.preset(
        preset,
        **{
            "method": method,
            "steps": steps,
            "environments": n,
            "ppo.minibatch": minibatch,
            **changes,
        },
    )
    directory = None if out is None else RunDirectory(out)
    setup = Setup(threads=torch.get_num_threads(), device=str(environment.device))
    if directory is not None and directory.config.exists():
        stored, setup = directory.read()
        if stored != configuration:
            raise ValueError(f"{out} holds a run with other settings: choose another directory")
    return Run(environment, configuration, setup, directory).train()
