"""Two processes with half of the worlds each learn what one with all of them learns."""

import json

import pytest
import torch
from torch import distributed, multiprocessing

from tsil.environments.practice import PracticeEnvironment
from tsil.method import parallel
from tsil.method.configuration import Configuration
from tsil.method.learner import Learner

WORLDS = 24


class Share(PracticeEnvironment):
    """One process's part of the worlds that a single process would have."""

    def __init__(self):
        super().__init__(WORLDS)
        self.own = slice(
            parallel.rank() * WORLDS // parallel.count(),
            (parallel.rank() + 1) * WORLDS // parallel.count(),
        )

    def reset(self, seed, used=None):
        if used is not None:
            everyone = torch.zeros(WORLDS, dtype=torch.int64)
            everyone[self.own] = used
            used = everyone
        self.num_environments = WORLDS
        super().reset(seed - parallel.rank(), used)
        self.num_environments = WORLDS // parallel.count()
        for name in ("hand", "start", "goal", "staging", "remaining"):
            setattr(self, name, getattr(self, name)[self.own])
        return self._observe(self.hand)


def configuration(method, **changes):
    # One minibatch a rollout, so that its order cannot matter.
    return Configuration.preset(
        "desk",
        **{
            "method": method,
            "environments": WORLDS,
            "ppo.minibatch": WORLDS * 32,
            "network.hidden": (16, 16),
            "network.precision": "float32",
            **changes,
        },
    )


def learner(method, **changes):
    environment = Share()
    environment.num_environments = WORLDS // parallel.count()
    return Learner(environment, configuration(method, **changes))


def trained(method, **changes):
    """Weights, targets and numbers after a few iterations of this process's learner."""
    subject = learner(method, **changes)
    for _ in range(5):
        record = subject.iterate()
    weights = {name: x.clone() for name, x in subject.policy.state_dict().items()}
    counts = (record.steps, record.total_successes, record.success_rate, record.target_mean)
    return (
        weights,
        parallel.gathered(subject.targets.seconds),
        counts,
        list(record.target_quantiles),
    )


CASES = [
    ("attl", {}),
    ("fttl", {"disturbances.gradient_noise": 5.0}),
    ("ih", {"disturbances.reward_dropout": 0.5}),
]


def member(rank, folder, count):
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=count
    )
    results = [trained(method, **changes) for method, changes in CASES]
    replayed = trained("tsil")
    if rank == 0:
        torch.save(results, f"{folder}/results.pt")
    torch.save(replayed[0], f"{folder}/tsil-{rank}.pt")
    try:
        learner("attl", environments=WORLDS + 1)
    except ValueError as error:
        (folder / f"refused-{rank}.json").write_text(json.dumps(str(error)))
    distributed.destroy_process_group()


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    multiprocessing.spawn(member, args=(folder, 2), nprocs=2)
    return folder


@pytest.mark.parametrize("case", range(len(CASES)))
def test_two_processes_equal_one(together, case):
    method, changes = CASES[case]
    weights, targets, counts, quantiles = torch.load(together / "results.pt")[case]
    alone = trained(method, **changes)
    assert counts == pytest.approx(alone[2], rel=1e-5)
    assert quantiles == pytest.approx(alone[3], rel=1e-5)
    torch.testing.assert_close(targets, alone[1])
    moved = 0.0
    start = learner(method, **changes).policy.state_dict()
    for name, x in weights.items():
        torch.testing.assert_close(x, alone[0][name], rtol=2e-3, atol=2e-4)
        moved = max(moved, float((x - start[name]).abs().max()))
    assert moved > 0.01


def test_with_replay_the_processes_stay_one_policy(together):
    """Memories differ, policies must not: gradients are averaged."""
    first, second = (torch.load(together / f"tsil-{rank}.pt") for rank in range(2))
    for name, x in first.items():
        assert torch.equal(x, second[name]), name


def test_worlds_that_do_not_divide_are_refused(together):
    for rank in range(2):
        said = json.loads((together / f"refused-{rank}.json").read_text())
        assert said == ("environments is 25: it must divide evenly over 2 processes, as 24 does")


def test_alone_every_reduction_is_the_identity():
    x = torch.arange(6.0)
    assert parallel.count() == 1
    assert torch.equal(parallel.total(x), x)
    assert torch.equal(parallel.gathered(x), x)
    assert torch.equal(parallel.share(x), x)
