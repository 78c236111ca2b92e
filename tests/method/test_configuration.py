"""The paper's constants are the defaults, and what cannot be trained is refused by name."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import pytest

from tsil.method.configuration import Configuration, Disturbances, flatten
from tsil.method.learner import Learner


def test_the_defaults_are_the_papers_tables():
    flat = flatten(Configuration.preset("paper"))
    paper = {
        "environments": 6400,
        "steps": 50_000_000,
        "rollout": 32,
        "ppo.gamma": 0.995,
        "ppo.gae_lambda": 0.95,
        "ppo.learning_rate": 5e-4,
        "rewards.task_scale": 0.1,
        "rewards.success": 100.0,
        "ppo.clip": 0.2,
        "ppo.epochs": 5,
        "ppo.minibatch": 20_480,
        "ppo.value_coefficient": 4.0,
        "ppo.entropy_coefficient": 0.005,
        "ppo.gradient_clip": 1.0,
        "imitation.k": 5,
        "imitation.coefficient": 0.05,
        "imitation.value_coefficient": 0.05,
        "network.hidden": (512, 256, 128, 64, 32),
        "network.actor_gain": 0.01,
        "network.log_std": 0.0,
        "imitation.scale_gap": False,
    }
    assert {name: flat[name] for name in paper} == paper
    assert Configuration().replay_batch == 20_480
    assert Configuration() == Configuration.preset()


def test_no_disturbance_by_default():
    assert Configuration().disturbances == Disturbances(0.0, 0.0, None, None)


def test_the_desk_preset_fits_a_cpu():
    desk = Configuration.preset("desk")
    assert (desk.environments, desk.ppo.minibatch, desk.replay_batch) == (512, 2048, 2048)
    assert 2_000_000 <= desk.steps <= 5_000_000
    # Every other constant is the paper's, but for the precision of the layers.
    changed = {"environments", "ppo.minibatch", "steps", "network.precision"}
    ours, paper = flatten(desk), flatten(Configuration())
    assert {name for name in ours if ours[name] != paper[name]} <= changed


def test_iterations_spend_the_budget():
    assert Configuration().iterations == math.ceil(50e6 / (6400 * 32)) == 245
    assert Configuration.preset(steps=204_800).iterations == 1
    assert Configuration.preset(steps=204_801).iterations == 2


def test_every_field_can_be_overridden_by_name():
    base = Configuration()
    for name, value in flatten(base).items():
        if isinstance(value, bool):
            other = not value
        elif name == "method":
            other = "ih"
        elif name == "imitation.sampling":
            other = "split" if value == "fill" else "fill"
        elif name == "network.precision":
            other = "bfloat16" if value == "float32" else "float32"
        elif name == "network.hidden":
            other = [8, 4]
        elif value is None:
            other = 1
        elif name in ("steps", "environments", "rollout", "imitation.k", "ppo.epochs", "seed"):
            other = value + 1
        else:
            other = value / 2 if value else 0.5
            other = int(other) if isinstance(value, int) else other
        changed = flatten(base.override(**{name: other}))
        expected = tuple(other) if isinstance(other, list) else other
        assert changed[name] == expected, name
        assert {k for k, v in changed.items() if v != flatten(base)[k]} == {name}


def test_a_configuration_survives_json():
    made = Configuration.preset("desk", seed=7, **{"ppo.clip": 0.3, "network.hidden": (8, 4)})
    again = Configuration.from_flat(json.loads(json.dumps(flatten(made))))
    assert again == made


def test_a_configuration_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Configuration().steps = 3


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("method", "tsli", "ih, step-cost, d2s, fttl, attl, attl-sil, tsil; did you mean 'tsil'?"),
        ("method", 3, "one of ih, step-cost, d2s, fttl, attl, attl-sil, tsil"),
        ("steps", -5, "a whole number, 1 or more"),
        ("steps", 1.5, "a whole number, 1 or more"),
        ("steps", None, "a whole number, 1 or more"),
        ("environments", 0, "a whole number, 1 or more"),
        ("environments", True, "a whole number, 1 or more"),
        ("rollout", 0, "a whole number, 1 or more"),
        ("seed", -1, "a whole number from 0 to"),
        ("seed", 2**70, "a whole number from 0 to"),
        ("stagger", "no", "True or False"),
        ("ppo.epochs", 0, "a whole number, 1 or more"),
        ("ppo.minibatch", 0, "a whole number, 1 or more"),
        ("ppo.minibatch", 204_801, "at most environments x rollout = 6400 x 32 = 204800"),
        ("ppo.clip", -0.1, "a number from 0 to 10"),
        ("ppo.clip", math.nan, "a number from 0 to 10"),
        ("ppo.clip", "wide", "a number from 0 to 10"),
        ("ppo.gamma", 1.1, "a number from 0 to 1"),
        ("ppo.gae_lambda", -0.1, "a number from 0 to 1"),
        ("ppo.learning_rate", -1e-3, "a number above 0"),
        ("ppo.learning_rate", 0.0, "a number above 0"),
        ("ppo.value_coefficient", -1.0, "a number of at least 0"),
        ("ppo.entropy_coefficient", math.inf, "a number of at least 0"),
        ("ppo.gradient_clip", 0.0, "a number above 0"),
        ("imitation.k", 0, "a whole number, 1 or more"),
        ("imitation.batch", 0, "a whole number, 1 or more"),
        ("imitation.coefficient", -0.05, "a number of at least 0"),
        ("imitation.value_coefficient", -0.05, "a number of at least 0"),
        ("imitation.sampling", "mix", "fill or split"),
        ("imitation.scale_gap", "yes", "True or False"),
        ("imitation.half_precision", 1, "True or False"),
        ("rewards.task_scale", -1.0, "a number of at least 0"),
        ("rewards.success", math.nan, "a number of at least 0"),
        ("rewards.fixed_target_bonus", None, "True or False"),
        ("network.hidden", (), "one or more positive layer sizes"),
        ("network.hidden", 64, "one or more positive layer sizes"),
        ("network.hidden", (64, 0), "one or more positive layer sizes"),
        ("network.actor_gain", -1.0, "a number of at least 0"),
        ("network.log_std", 100.0, "a number from -20 to 5"),
        ("network.precision", "float16", "float32 or bfloat16"),
        ("disturbances.gradient_noise", -5.0, "a number of at least 0"),
        ("disturbances.reward_dropout", 1.5, "a number from 0 to 1"),
        ("disturbances.clip_ratio", -0.3, "a number from 0 to 10"),
        ("disturbances.learning_rate", 0.0, "a number above 0"),
    ],
)
def test_bad_values_are_refused_by_name(field, value, allowed):
    """The message names the value and says what is allowed."""
    with pytest.raises(ValueError, match=re.escape(allowed)) as refused:
        Configuration.preset(**{field: value})
    assert repr(value) in str(refused.value)
    assert field in str(refused.value) or field == "method"


def test_unknown_fields_are_refused_with_the_nearest_right_one():
    with pytest.raises(ValueError, match=r"'ppo\.klip'.*did you mean 'ppo\.clip'"):
        Configuration.preset(**{"ppo.klip": 0.2})
    with pytest.raises(ValueError, match=r"unknown preset 'papr'.*paper, desk"):
        Configuration.preset("papr")
    with pytest.raises(ValueError, match=r"'imitaton\.k'.*'imitation\.k'"):
        Configuration.from_flat({"imitaton.k": 3})


def test_an_environment_of_another_size_is_refused(tools):
    environment = tools.Scripted([[("timeout", 5)]] * 4, 5)
    with pytest.raises(ValueError, match=r"environments is 6.*number of worlds, 4"):
        Learner(environment, tools.configuration())
    assert environment.reset_calls == []


@pytest.mark.parametrize("name", ["horizon", "interval", "observation_size", "action_size"])
def test_an_environment_without_extent_is_refused(tools, name):
    environment = tools.Scripted([[("timeout", 5)]] * 6, 5)
    setattr(environment, name, 0)
    with pytest.raises(ValueError, match=f"the environment's {name} is 0: it must be above 0"):
        Learner(environment, tools.configuration())
    assert environment.reset_calls == []
