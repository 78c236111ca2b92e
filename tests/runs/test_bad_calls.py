"""What the API cannot do it says in one sentence, before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import tsil
from tsil.runs.directory import RunDirectory, Setup

SMALL = {"network.hidden": (8,), "rollout": 8, "ppo.epochs": 1}


def practice(worlds: int = 8) -> tsil.PracticeEnvironment:
    return tsil.PracticeEnvironment(worlds)


def policy(observations: int = 8) -> tsil.Policy:
    network = tsil.Configuration.preset("desk", **{"network.hidden": (8,)}).network
    return tsil.Policy(observations, 2, 100 / 60, True, network)


def train(**changes: object) -> tsil.Run:
    return tsil.train(practice(), **{"steps": 64, **SMALL, **changes})


CALLS: list[tuple[str, Callable[[], object], str]] = [
    ("unknown method", lambda: train(method="tsli"), "did you mean 'tsil'"),
    ("unknown preset", lambda: train(preset="desc"), "must be one of paper, desk"),
    ("unknown field", lambda: train(**{"ppo.clop": 1}), r"did you mean 'ppo\.clip'"),
    ("no steps", lambda: train(steps=0), "steps is 0"),
    ("steps in words", lambda: train(steps="3M"), "steps is '3M'"),
    ("a truth as a number", lambda: train(seed=True), "seed is True"),
    ("no rollout", lambda: train(rollout=0), "rollout is 0"),
    ("other worlds", lambda: train(environments=9), "environments is 9"),
    ("a large minibatch", lambda: train(**{"ppo.minibatch": 65}), "at most environments x rollout"),
    ("a rate above one", lambda: train(**{"disturbances.reward_dropout": 1.1}), "from 0 to 1"),
    ("no worlds", lambda: practice(0), "must be at least 1"),
    ("unknown task", lambda: tsil.make_environment("hamer", 1), "did you mean 'hammer'"),
    ("no trials", lambda: tsil.evaluate(policy(), practice(), 0), "trials is 0"),
    ("a target in words", lambda: tsil.evaluate(policy(), practice(), 1, "fast"), "max, median"),
    (
        "a target too far",
        lambda: tsil.evaluate(policy(), practice(), 1, 9.0),
        "at most the horizon",
    ),
    ("another policy", lambda: tsil.evaluate(policy(3), practice(), 1), "takes 3 observations"),
    ("no such policy", lambda: tsil.load_policy(Path("nowhere.safetensors")), "there is no file"),
    ("no checkpoints", lambda: Setup(checkpoint_every=0), "checkpoint_every is 0"),
    ("half a thread", lambda: Setup(threads=0.5), "threads is 0.5"),
]


@pytest.mark.parametrize(("call", "part"), [x[1:] for x in CALLS], ids=[x[0] for x in CALLS])
def test_calls(
    call: Callable[[], object], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=part) as found:
        call()
    assert len(str(found.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_directory_of_a_run_with_other_settings(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    train(out=out)
    with pytest.raises(ValueError, match="other settings"):
        train(out=out, seed=1)
    again = train(out=out)
    assert again.learner.finished


def test_a_stopped_run_of_ones_own_environment_goes_on(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    whole = train(out=str(tmp_path / "whole"), steps=640)

    class Stop(Exception):
        pass

    class Interrupted(tsil.PracticeEnvironment):
        calls = 0

        def step(self, action: torch.Tensor) -> tsil.Step:
            self.calls += 1
            if self.calls == 41:
                raise Stop
            return super().step(action)

    with pytest.raises(Stop):
        tsil.train(Interrupted(8), steps=640, out=out, **SMALL)
    run = train(out=out, steps=640)
    assert len(list(RunDirectory(out).lines())) == 10
    ours, theirs = run.policy.state_dict(), whole.policy.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
