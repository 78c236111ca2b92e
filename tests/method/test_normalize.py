"""Running moments and the return scale, against everything seen kept in a list."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tsil.method.normalize import ReturnScale, RunningMoments


def test_running_moments_are_those_of_everything_seen():
    numbers = np.random.default_rng(0)
    moments, seen = RunningMoments(3), []
    for size in (1, 5, 0, 1000, 2):
        samples = numbers.normal([1.0, -50.0, 3000.0], [0.1, 1.0, 20.0], (size, 3))
        samples = samples.astype(np.float32)
        seen.append(samples)
        moments.update(torch.from_numpy(samples))
        everything = np.concatenate(seen).astype(np.float64)
        np.testing.assert_allclose(moments.mean, everything.mean(0), rtol=1e-12)
        np.testing.assert_allclose(moments.variance, everything.var(0), rtol=1e-9, atol=1e-12)
        assert moments.count.item() == len(everything)
    np.testing.assert_allclose(moments.std, everything.std(0), rtol=1e-5)
    np.testing.assert_allclose(moments.center, everything.mean(0), rtol=1e-6)


def test_before_anything_is_seen_normalization_changes_nothing():
    moments = RunningMoments(2)
    assert moments.center.tolist() == [0.0, 0.0]
    assert moments.std.tolist() == [1.0, 1.0]


def test_a_constant_feature_has_a_std_that_can_be_divided_by():
    moments = RunningMoments(1)
    moments.update(torch.full((100, 1), 0.3))
    assert 0.0 < moments.std.item() < 1e-3
    assert abs((torch.tensor(0.3) - moments.center).item() / moments.std.item()) < 1e-3


@pytest.mark.parametrize("wasted_reward", [0.0, -0.01, 1e6])
def test_return_scale_is_the_std_of_each_worlds_discounted_return(wasted_reward):
    """Steps that are no transition carry nothing, whatever reward stands there."""
    numbers = np.random.default_rng(1)
    n, gamma = 4, 0.9
    scale, running, seen = ReturnScale(n, gamma), [0.0] * n, []
    wasted = np.zeros(n, bool)
    for length in (3, 8, 5):
        reward = numbers.normal(1.0, 2.0, (length, n)).astype(np.float32)
        ended = numbers.random((length, n)) < 0.2
        valid = np.ones((length, n), bool)
        for t in range(length):
            valid[t] = ~wasted
            reward[t][wasted] = wasted_reward
            ended[t] &= valid[t]
            wasted = ended[t]
        for t in range(length):
            for i in range(n):
                if valid[t, i]:
                    running[i] = gamma * running[i] + float(reward[t, i])
                    seen.append(running[i])
                if ended[t, i]:
                    running[i] = 0.0
        scale.update(*(torch.from_numpy(x) for x in (reward, ended, valid)))
        assert scale.scale.item() == pytest.approx(np.std(seen), rel=1e-5)
