"""The same on a CUDA device: memory, relabelling, every method, going on from a state."""

from __future__ import annotations

import copy
import dataclasses
import math

import pytest
import torch

from tsil.environments.practice import PracticeEnvironment, PracticeSettings
from tsil.method.imitation import Replay
from tsil.method.learner import Learner
from tsil.method.methods import METHODS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
HORIZON = 18


def moved(rollout):
    tensors = {f.name: getattr(rollout, f.name).cuda() for f in dataclasses.fields(rollout)}
    return dataclasses.replace(rollout, **tensors)


@pytest.mark.parametrize("pool", ["fill", "split"])
def test_the_memory_keeps_and_relabels_the_same(tools, pool):
    environment = tools.Scripted(tools.random_script(20, 30, HORIZON), HORIZON)
    here = tools.memory(environment, k=3, pool=pool)
    environment.device = torch.device("cuda")
    there = tools.memory(environment, k=3, pool=pool)
    environment.device = torch.device("cpu")
    bonus = torch.rand(20, HORIZON, generator=torch.Generator().manual_seed(0))
    for rollout in tools.rollouts(environment, 11, 12):
        here.update(rollout, rollout.task_reward, bonus)
        there.update(moved(rollout), rollout.task_reward.cuda(), bonus.cuda())
        for one, other in zip(here.pools(bonus), there.pools(bonus.cuda()), strict=True):
            assert torch.equal(one, other.cpu())
    assert torch.equal(here.slots.length, there.slots.length.cpu())
    policy = tools.policy(longest=HORIZON * tools.interval)
    target = torch.full((20,), 0.1)
    batches = []
    for memory, device in ((here, "cpu"), (there, "cuda")):
        replay = Replay(
            memory, copy.deepcopy(policy).to(device), target.to(device), bonus.to(device),
            torch.tensor(2.0, device=device), tools.interval, "trajectory", True,
        )  # fmt: skip
        slots = memory.slots.length.flatten()
        trajectory = slots.nonzero().squeeze(1).repeat_interleave(slots[slots > 0])
        step = torch.cat([torch.arange(int(x), device=device) for x in slots if x > 0])
        batches.append(replay.transitions(trajectory, step))
    for name in ("augmented", "action", "returns", "weight"):
        one, other = (getattr(batch, name).detach().cpu() for batch in batches)
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_and_goes_on_from_a_state(tools, method, precision):
    c = tools.configuration(
        environments=64, rollout=16, method=method,
        **{
            "ppo.minibatch": 256, "network.precision": precision,
            "disturbances.reward_dropout": 0.3, "disturbances.gradient_noise": 1.0,
        },
    )  # fmt: skip

    def fresh():
        return Learner(PracticeEnvironment(64, PracticeSettings(horizon=40), "cuda"), c)

    learner = fresh()
    for _ in range(4):
        record = learner.iterate()
    assert all(map(math.isfinite, (record.surrogate_loss, record.gradient_norm, record.kl)))
    state = learner.state()
    expected = [learner.iterate() for _ in range(2)]
    restored = fresh()
    restored.restore(state)
    assert repr([restored.iterate() for _ in range(2)]) == repr(expected)
    assert (record.mean_gap > 0) == METHODS[method].imitates
