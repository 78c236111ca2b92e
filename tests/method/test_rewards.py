"""Eq. 2, the plain bonus, and the scale of the dense reward."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tsil.method.configuration import Rewards
from tsil.method.methods import METHODS
from tsil.method.rewards import has_temporal_bonus, success_reward, task_scale


def test_success_reward_is_equation_2():
    times = [k / 60 for k in (1, 10, 42, 149, 150)]
    for d in times:
        for t in times:
            got = success_reward(torch.tensor([t]), torch.tensor([d]), 100.0, temporal=True)
            expected = 100.0 * (1 + min(d / t, 1))
            assert got.item() == pytest.approx(expected, rel=1e-6)


def test_success_reward_broadcasts_targets_over_completions():
    completion, target = torch.tensor([[0.5, 1.0, 2.0]]), torch.tensor([[1.0], [0.25]])
    got = success_reward(completion, target, 10.0, temporal=True)
    np.testing.assert_allclose(got, [[20.0, 20.0, 15.0], [15.0, 12.5, 11.25]])


def test_the_plain_bonus_knows_no_time():
    completion = torch.tensor([0.1, 2.5])
    got = success_reward(completion, torch.tensor([0.2, 0.2]), 100.0, temporal=False)
    assert got.tolist() == [100.0, 100.0]


def test_which_methods_earn_the_temporal_bonus():
    earning = {name for name, m in METHODS.items() if has_temporal_bonus(m, Rewards())}
    assert earning == {"fttl", "attl", "attl-sil", "tsil"}
    # The authors' release gives FTTL none; that is one field, and changes no other method.
    without = Rewards(fixed_target_bonus=False)
    earning = {name for name, m in METHODS.items() if has_temporal_bonus(m, without)}
    assert earning == {"attl", "attl-sil", "tsil"}


@pytest.mark.parametrize(
    ("method", "progress", "scale"),
    [
        ("ih", 0.0, 0.1),
        ("ih", 1.0, 0.1),
        ("ih", 1.7, 0.1),  # trained on past its budget
        ("tsil", 0.9, 0.1),
        ("d2s", 0.0, 1.0),
        ("d2s", 0.499999, 1.0),
        ("d2s", 0.5, 0.0),
        ("d2s", 0.9, 0.0),
    ],
)
def test_dense_reward_scale(method, progress, scale):
    assert task_scale(METHODS[method], Rewards(), progress) == scale


def test_dense_reward_scale_can_be_set_for_the_methods_that_share_it():
    assert task_scale(METHODS["ih"], Rewards(task_scale=0.3), 0.0) == 0.3
    assert task_scale(METHODS["d2s"], Rewards(task_scale=0.3), 0.0) == 1.0
