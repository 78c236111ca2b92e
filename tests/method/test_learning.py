"""The methods learn what the paper says they do, on the practice environment, three seeds each.

The budget is the smallest at which the differences are plain on every seed.
"""

import multiprocessing

import pytest
import torch

from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Configuration
from tsil.method.learner import Learner
from tsil.runs.evaluation import evaluate

METHODS = ("tsil", "fttl", "attl", "ih")
SEEDS = (0, 1, 2)


def learn(job):
    method, seed = job
    torch.set_num_threads(1)
    configuration = Configuration.preset(
        "desk",
        **{
            "method": method,
            "seed": seed,
            "steps": 400_000,
            "network.hidden": (64, 64),
            "network.precision": "float32",
        },
    )
    learner = Learner(PracticeEnvironment(512), configuration)
    rewards = []
    while not learner.finished:
        record = learner.iterate()
        rewards.append(record.task_reward)
    outcome = evaluate(learner.policy, PracticeEnvironment(512), 512)
    return {
        "success": outcome.success_rate,
        "time": outcome.completion_time,
        "target": record.target_mean,
        "dense": rewards[-1],
    }


@pytest.fixture(scope="module")
def learned():
    jobs = [(method, seed) for method in METHODS for seed in SEEDS]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = dict(zip(jobs, pool.map(learn, jobs, chunksize=1), strict=True))
    print(results)
    return results


@pytest.mark.parametrize("seed", SEEDS)
def test_tsil_is_faster_than_a_fixed_target_and_succeeds_at_least_as_often(learned, seed):
    tsil, fttl = learned["tsil", seed], learned["fttl", seed]
    assert tsil["success"] > 0.7
    assert tsil["success"] >= fttl["success"]
    assert tsil["time"] < 0.8 * fttl["time"]


@pytest.mark.parametrize("seed", SEEDS)
def test_adaptive_targets_tighten(learned, seed):
    longest = PracticeEnvironment(1).horizon * PracticeEnvironment(1).interval
    assert learned["attl", seed]["target"] < 0.6 * longest
    assert learned["fttl", seed]["target"] == pytest.approx(longest)


@pytest.mark.parametrize("seed", SEEDS)
def test_dense_reward_alone_distracts(learned, seed):
    """IH stays where the dense reward is high instead of finishing."""
    ih, tsil = learned["ih", seed], learned["tsil", seed]
    assert ih["success"] < 0.5
    assert ih["dense"] > tsil["dense"] + 1.0
