"""Reading success out of Gymnasium's ``info``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tsil.environments.success import VectorStep, named, usual


def step(info: dict[str, Any], ended: list[bool], same_step: bool = False) -> VectorStep:
    n = len(ended)
    return VectorStep(
        observation=np.zeros((n, 1)),
        reward=np.zeros(n),
        terminated=np.array(ended),
        truncated=np.zeros(n, bool),
        info=info,
        same_step=same_step,
    )


def test_what_stands_outside_the_mask_is_no_entry() -> None:
    info = {"success": np.array([1.0, np.nan, 0.0]), "_success": np.array([True, False, True])}
    assert named("success")(step(info, [False] * 3)).tolist() == [True, False, False]


def test_without_a_mask_every_world_has_an_entry() -> None:
    info = {"is_success": np.array([1, 0, 2])}
    assert usual(step(info, [True] * 3)).tolist() == [True, False, True]


def test_under_same_step_autoreset_the_ended_worlds_are_read_from_their_final_info() -> None:
    info = {
        "success": np.array([True, False, True]),
        "final_info": {"success": np.array([False, True, False])},
    }
    ended = [False, True, True]
    assert named("success")(step(info, ended, same_step=True)).tolist() == [True, True, False]
    assert named("success")(step(info, ended)).tolist() == [True, False, True]


def test_the_first_usual_key_wins() -> None:
    info = {"is_success": np.array([True, True]), "success": np.array([False, True])}
    assert usual(step(info, [True, True])).tolist() == [False, True]


def test_the_usual_keys_may_be_missing_until_an_episode_ends() -> None:
    assert usual(step({"speed": np.zeros(2)}, [False, False])).tolist() == [False, False]
    with pytest.raises(ValueError, match=r"\(it holds 'speed'\)"):
        usual(step({"speed": np.zeros(2), "_speed": np.ones(2, bool)}, [False, True]))
    with pytest.raises(ValueError, match=r"\(it holds nothing\)"):
        usual(step({}, [False, True], same_step=True))
