"""The stopwatch, and that every part of an iteration is found."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from tsil.benchmark.parts import BACKWARD, REST, Stopwatch, by_operator, by_part
from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Configuration
from tsil.method.learner import Learner


def test_inner_time_counts_once():
    def inner():
        time.sleep(0.05)

    thing = SimpleNamespace(inner=inner)

    def outer():
        time.sleep(0.02)
        thing.inner()
        thing.inner()

    thing.outer = outer
    watch = Stopwatch()
    with watch.on(thing, "outer", REST), watch.on(thing, "inner", BACKWARD):
        start = time.perf_counter()
        thing.outer()
        took = time.perf_counter() - start
    assert watch.seconds[BACKWARD.name] >= 0.1
    assert watch.seconds[REST.name] >= 0.02
    assert sum(watch.seconds.values()) == pytest.approx(took, rel=0.05, abs=0.005)
    assert (thing.outer, thing.inner) == (outer, inner)  # put back


@pytest.fixture(scope="module")
def learner():
    settings = {"network.hidden": (16, 8), "ppo.minibatch": 128}
    configuration = Configuration.preset("desk", environments=16, **settings)
    learner = Learner(PracticeEnvironment(16), configuration)
    for _ in range(7):
        learner.iterate()
    return learner


def test_parts_make_up_an_iteration(learner):
    parts = by_part(learner)
    assert [part["part"] for part in parts] == [
        "environment", "acting", "memory", "values and advantages", "replay draws",
        "PPO forward", "imitation forward", "backward and Adam", "the rest",
    ]  # fmt: skip
    assert all(part["seconds"] > 0 for part in parts)
    assert sum(part["share"] for part in parts) == pytest.approx(1)


def test_operators_are_told_apart(learner):
    kinds = {row["kind"]: row for row in by_operator(learner)}
    for kind in ("matrix products", "LayerNorm", "tanh", "casts and copies", "gathers", "Adam"):
        assert kinds[kind]["seconds"] > 0, kind
    assert kinds["Adam"]["calls"] == 5 * 4  # epochs x minibatches
    assert sum(row["share"] for row in kinds.values()) == pytest.approx(1)
