"""Medians and ratios, and one small run from end to end."""

from __future__ import annotations

import json

import pytest

from tsil.benchmark.run import RATIOS, configuration, ratios, summary
from tsil.cli import main


def answers(*rates, cost=2e-6):
    return [
        {"value": 1000, "seconds": 1000 / rate, "processor_seconds": 1000 * cost} for rate in rates
    ]


def test_summaries_are_medians():
    figures = summary(answers(10.0, 500.0, 20.0))
    assert figures["steps_per_second"] == pytest.approx(20.0)
    assert figures["processor_microseconds_per_step"] == pytest.approx(2.0)
    assert figures["repeats"] == pytest.approx([10.0, 500.0, 20.0])


def test_ratios_compare_what_ran_side_by_side():
    """A machine that is slow for a while is slow for both."""
    measured = {
        "physics": summary(answers(100.0, 10.0, 80.0)),
        "environment": summary(answers(90.0, 9.0, 40.0)),
        "ppo": summary(answers(20.0, 2.0, 20.0)),
        "tsil": summary(answers(15.0, 1.0, 16.0)),
    }
    memory = {"memory_bytes": 20, "padded_bytes": 100}
    assert ratios({"measured": measured, "memory": memory}) == pytest.approx(
        {
            "environment_over_physics": 0.9,
            "tsil_over_physics": 0.15,
            "tsil_over_ppo": 0.75,
            "memory_over_padded": 0.2,
        }
    )


def test_few_worlds_still_fill_a_minibatch():
    assert configuration(512, "tsil") == configuration(512, "tsil").preset("desk", method="tsil")
    assert configuration(8, "fttl").ppo.minibatch == 8 * 32 // 4


def test_a_small_run(capsys):
    assert main(["bench", "--worlds", "8", "--repeats", "1", "--threads", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["measured"]) == {"physics", "environment", "inference", "ppo", "tsil"}
    for figures in result["measured"].values():
        assert figures["steps_per_second"] > 0
    for key in ("environment_over_physics", "tsil_over_physics", "tsil_over_ppo"):
        assert key in RATIOS
        assert result[key] > 0
    assert 0 < result["memory_over_padded"] < 0.25
    assert result["memory"]["configurations"] == 6400
    assert result["machine"]["load_before"] >= 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--worlds", "0"], "--worlds is 0"),
        (["--task", "practice"], "no MT15 task"),
        (["--task", "drawer-opne"], "drawer-open"),
    ],
)
def test_bad_input_is_one_sentence(words, said, capsys):
    assert main(["bench", *words]) == 2
    assert said in capsys.readouterr().err
