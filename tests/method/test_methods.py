"""The seven records are the paper's table of methods."""

from __future__ import annotations

import math

import pytest

from tsil.method.methods import METHODS, method_named


@pytest.mark.parametrize(
    ("name", "sees_time", "target", "step_cost", "memory", "imitates", "unit", "weighted"),
    [
        ("ih", False, "none", 0.0, "none", False, None, None),
        ("step-cost", False, "none", 0.01, "none", False, None, None),
        ("d2s", False, "none", 0.0, "none", False, None, None),
        ("fttl", True, "fixed", 0.0, "none", False, None, None),
        ("attl", True, "adaptive", 0.0, "fast", False, None, None),
        ("attl-sil", True, "adaptive", 0.0, "return", True, "transition", False),
        ("tsil", True, "adaptive", 0.0, "fast", True, "trajectory", True),
    ],
)
def test_records(name, sees_time, target, step_cost, memory, imitates, unit, weighted):
    method = METHODS[name]
    assert method.name == name
    assert (method.sees_time, method.target, method.step_cost) == (sees_time, target, step_cost)
    assert (method.memory, method.imitates) == (memory, imitates)
    if imitates:
        assert (method.unit, method.speed_weighted) == (unit, weighted)
    dense = (1.0, 0.5) if name == "d2s" else (None, math.inf)
    assert (method.task_scale, method.dense_until) == dense


def test_there_are_seven_methods_with_the_papers_titles():
    titles = ["IH", "Step-cost IH", "D2S IH", "FTTL", "ATTL", "ATTL + SIL", "TSIL"]
    assert [m.title for m in METHODS.values()] == titles


def test_an_unknown_method_is_refused_with_the_nearest_right_one():
    with pytest.raises(ValueError, match=r"'atl'.*ih, step-cost, .*did you mean 'attl'"):
        method_named("atl")
