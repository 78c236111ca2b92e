"""The training success rate: no start-up bias, none in the long run."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tsil.method.progress import Progress

HORIZON, ROLLOUT = 150, 32


def progress_of(tools, script, rollouts):
    """Progress after each rollout, with the rate over *ended* episodes beside it."""
    environment = tools.Scripted(script, HORIZON, observation_size=1, action_size=1)
    progress = Progress(len(script), torch.device("cpu"))
    for rollout in tools.rollouts(environment, ROLLOUT, rollouts):
        progress.count(rollout)
        naive = progress.successes / max(progress.episodes, 1)
        yield progress, naive


def lucky(worlds, share, seed=0):
    """Episodes that time out, but for a share that happens to succeed early."""
    numbers = np.random.default_rng(seed)

    def one():
        if numbers.random() < share:
            return "success", int(numbers.integers(5, 60))
        return "timeout", HORIZON

    return [[one() for _ in range(40)] for _ in range(worlds)]


def test_early_successes_of_a_policy_that_has_learned_nothing_do_not_read_as_success(tools):
    """Before the first timeouts only successes can have ended: that rate reads 1, ours 5 %."""
    seen = list(progress_of(tools, lucky(400, 0.05), 1)) + list(
        progress_of(tools, lucky(400, 0.05), 4)
    )
    for progress, naive in seen:
        assert naive == 1.0
        assert progress.success_rate < 0.09


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_the_rate_is_unbiased_for_episodes_that_are_all_alike(tools, share):
    """Successes are shorter than failures here, and still count as often as they come."""
    rates = [p.success_rate for p, _ in progress_of(tools, lucky(300, share, 1), 40)][20:]
    assert np.mean(rates) == pytest.approx(share, abs=0.025)


def test_counts_and_latest_outcome_match_a_loop(tools):
    script = tools.random_script(8, 30, 20)
    environment = tools.Scripted(script, 20, resets_cost_a_step=True)
    recorder, progress = tools.Recorder(environment), Progress(8, torch.device("cpu"))
    latest, ends = [False] * 8, []
    for number, rollout in enumerate(tools.rollouts(environment, 9, 12), start=1):
        progress.count(rollout)
        for i, episode in recorder.finished(lambda step: step["reward"]):
            ends.append(episode.how)
            latest[i] = episode.how == "success"
        assert (progress.iterations, progress.steps) == (number, number * 9 * 8)
        assert (progress.episodes, progress.successes) == (len(ends), ends.count("success"))
        assert progress.latest.tolist() == latest
        assert progress.success_rate == pytest.approx(np.mean(latest))
    assert len(ends) > 50


def test_state_restores(tools):
    *_, (progress, _) = progress_of(tools, lucky(20, 0.5), 8)
    again = Progress(20, torch.device("cpu"))
    again.restore(progress.state())
    assert again.success_rate == progress.success_rate
    assert vars(again).keys() == vars(progress).keys()
    for name in ("iterations", "steps", "episodes", "successes"):
        assert getattr(again, name) == getattr(progress, name)
