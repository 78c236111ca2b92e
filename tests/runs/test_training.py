"""Runs: files, going on, and who may not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Configuration
from tsil.runs.directory import RunDirectory, Setup
from tsil.runs.policies import load_policy
from tsil.runs.training import Run

WORLDS = 16


def small(**changes: object) -> Configuration:
    return Configuration.preset(
        "desk",
        **{
            "environments": WORLDS,
            "rollout": 8,
            "steps": 12 * WORLDS * 8,
            "ppo.minibatch": 64,
            "ppo.epochs": 1,
            "network.hidden": (16, 8),
            **changes,
        },
    )


def run_in(path: Path, configuration: Configuration | None = None, **setup: object) -> Run:
    return Run(
        PracticeEnvironment(WORLDS),
        configuration or small(),
        Setup(**{"task": "practice", "threads": 1, "checkpoint_every": 3, **setup}),
        RunDirectory(path),
    )


class StopAfter:
    """Ends a run after some iterations, as Ctrl-C does."""

    def __init__(self, run: Run, iterations: int) -> None:
        self.run, self.iterations = run, iterations
        self.closed = 0

    def watch(self, record: object, timing: object, counters: object) -> None:
        self.iterations -= 1
        if self.iterations == 0:
            self.run.stop()

    def close(self) -> None:
        self.closed += 1


def same_tensors(a: Path, b: Path) -> bool:
    x, y = load_file(a), load_file(b)
    return x.keys() == y.keys() and all(torch.equal(x[name], y[name]) for name in x)


def untimed(directory: RunDirectory) -> list[dict[str, object]]:
    return [
        {name: value for name, value in line.items() if not name.endswith("seconds")}
        for line in directory.lines()
    ]


def test_a_run_leaves_what_its_explanation_lists(tmp_path: Path) -> None:
    directory = run_in(tmp_path / "run").train().directory
    assert directory is not None
    for name in ("config.json", "machine.json", "README.md", "checkpoint.safetensors"):
        assert (directory.path / name).is_file()
    assert [line["iteration"] for line in directory.lines()] == list(range(1, 13))
    assert directory.best.is_file()
    assert directory.last.is_file()
    assert directory.snapshots()[0] == directory.policy("early")
    assert json.loads(directory.machine.read_text())[0]["packages"]["torch"]
    configuration, setup = directory.read()
    assert configuration == small()
    assert setup.task == "practice"


def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    whole = run_in(tmp_path / "whole").train().directory
    first = run_in(tmp_path / "parts")
    watcher = StopAfter(first, 4)
    first.watchers.append(watcher)
    first.train()
    assert watcher.closed == 1
    second = run_in(tmp_path / "parts")
    assert second.learner.progress.iterations == 4
    parts = second.train().directory
    assert whole is not None
    assert parts is not None
    assert same_tensors(whole.checkpoint, parts.checkpoint)
    assert same_tensors(whole.last, parts.last)
    assert same_tensors(whole.best, parts.best)
    assert untimed(whole) == untimed(parts)
    assert len(json.loads(parts.machine.read_text())) == 2


def test_a_run_killed_before_its_first_checkpoint_begins_again(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    directory.create(small(), Setup("practice", 1, checkpoint_every=3))
    directory.append({"iteration": 1, "steps": 128})
    run = run_in(tmp_path / "run").train()
    assert run.directory is not None
    assert [line["iteration"] for line in run.directory.lines()] == list(range(1, 13))


def test_a_cut_last_line_is_forgotten(tmp_path: Path) -> None:
    directory = run_in(tmp_path / "run").train().directory
    assert directory is not None
    with open(directory.metrics, "a") as file:
        file.write('{"iteration": 13, "st')
    assert len(list(directory.lines())) == 12


def test_two_cannot_train_in_one_directory(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run")
    with pytest.raises(ValueError, match="in use"):
        run_in(tmp_path / "run")
    run.train()
    run_in(tmp_path / "run")


def test_nothing_is_written_when_the_learner_cannot_be_built(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="environments is 8"):
        run_in(tmp_path / "run", small(environments=8))
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_of_another_task_is_refused(tmp_path: Path) -> None:
    run_in(tmp_path / "run").train()
    with pytest.raises(ValueError, match="of task 'practice', not of 'drawer-open'"):
        run_in(tmp_path / "run", task="drawer-open")


def test_a_checkpoint_of_other_settings_is_refused_by_name(tmp_path: Path) -> None:
    run_in(tmp_path / "run").train()
    with pytest.raises(ValueError, match=r"ppo\.clip is 0\.2 there and 0\.3 here"):
        run_in(tmp_path / "run", small(**{"ppo.clip": 0.3}))


def test_policies_come_back_as_they_were(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run").train()
    assert run.directory is not None
    policy, facts = load_policy(run.directory.last)
    assert facts["task"] == "practice"
    observation = run.environment.reset(5)
    now, goal = torch.zeros(WORLDS), torch.ones(WORLDS)
    assert torch.equal(policy.act(observation, now, goal), run.policy.act(observation, now, goal))
