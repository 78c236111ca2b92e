"""The four modifiers: noise of the right size, masks drawn when an episode ends, settings."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch.nn import Parameter

from tsil.method.configuration import PPO, Disturbances
from tsil.method.disturbances import RewardDropout, add_gradient_noise, disturbed, gradient_rms

CPU = torch.device("cpu")


def test_no_disturbance_leaves_the_settings_alone():
    assert disturbed(PPO(), Disturbances()) == PPO()
    assert disturbed(PPO(), Disturbances(reward_dropout=0.8)) == PPO()


def test_settings_under_disturbance():
    both = disturbed(PPO(), Disturbances(clip_ratio=0.5, learning_rate=0.01))
    assert both == dataclasses.replace(PPO(), clip=0.5, learning_rate=0.01)


def test_gradient_noise_lifts_the_norm_clip_and_nothing_else():
    noisy = disturbed(PPO(), Disturbances(gradient_noise=5.0))
    assert noisy == dataclasses.replace(PPO(), gradient_clip=None)


def test_gradient_rms_is_one_number_per_parameter():
    first, second, without = (
        Parameter(torch.zeros(2, 3)),
        Parameter(torch.zeros(4)),
        Parameter(torch.zeros(2)),
    )
    first.grad = torch.tensor([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    second.grad = torch.full((4,), -2.0)
    got = [x.item() for x in gradient_rms([first, without, second])]
    assert got == pytest.approx([np.sqrt(9 / 6), 2.0])


@pytest.mark.parametrize("scale", [5.0, 20.0])
def test_noise_is_gaussian_with_the_stated_size_per_parameter(scale):
    parameters = [Parameter(torch.zeros(200, 100)), Parameter(torch.zeros(20_000))]
    before = [torch.full_like(p, 0.25) for p in parameters]
    for p, g in zip(parameters, before, strict=True):
        p.grad = g.clone()
    rms = [torch.tensor(0.1), torch.tensor(3.0)]
    add_gradient_noise(parameters, rms, scale, torch.Generator().manual_seed(0))
    noises = [(p.grad - g).flatten() for p, g in zip(parameters, before, strict=True)]
    for noise, size in zip(noises, rms, strict=True):
        z = noise.numpy().astype(np.float64) / (scale * size.item())
        assert abs(z.mean()) < 4 / np.sqrt(len(z))
        assert z.std() == pytest.approx(1.0, abs=0.02)
        assert np.mean(np.abs(z) < 1) == pytest.approx(0.6827, abs=0.015)
        assert np.mean(np.abs(z) > 2) == pytest.approx(0.0455, abs=0.006)
    assert abs(np.corrcoef(*noises)[0, 1]) < 0.03


def test_reward_dropout_is_drawn_anew_exactly_when_an_episode_ends():
    """A chain over several rollouts: constant inside an episode, independent across."""
    n, p = 400, 0.4
    dropout = RewardDropout(p, n, torch.Generator().manual_seed(0), CPU)
    numbers = np.random.default_rng(0)
    masks, ends = [], []
    for length in (1, 7, 16, 16):
        ended = numbers.random((length, n)) < 0.25
        masks.append(dropout.mask(torch.from_numpy(ended)).numpy())
        ends.append(ended)
    mask, ended = np.concatenate(masks), np.concatenate(ends)
    inside = ~ended[:-1]
    assert np.array_equal(mask[1:][inside], mask[:-1][inside])
    before, after = mask[:-1][~inside], mask[1:][~inside]
    assert len(before) > 3000
    # Redrawn, not flipped or kept: kept episodes follow kept and dropped ones equally often.
    for previous in (True, False):
        assert after[before == previous].mean() == pytest.approx(1 - p, abs=0.04)
    assert mask[0].mean() == pytest.approx(1 - p, abs=0.08)


@pytest.mark.parametrize(("probability", "kept"), [(0.0, True), (1.0, False)])
def test_reward_dropout_at_its_limits(probability, kept):
    dropout = RewardDropout(probability, 5, torch.Generator().manual_seed(0), CPU)
    ended = torch.rand(20, 5, generator=torch.Generator().manual_seed(1)) < 0.3
    assert bool((dropout.mask(ended) == kept).all())
