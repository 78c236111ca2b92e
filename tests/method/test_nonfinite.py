"""Numbers that go wrong stay out of weights, targets and memory."""

import pytest
import torch

from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Configuration
from tsil.method.learner import Learner, NonFiniteError

WORLDS = 40


def configuration(**changes):
    small = {"environments": WORLDS, "ppo.minibatch": 640, "network.hidden": (16,)}
    return Configuration.preset("desk", **{**small, "network.precision": "float32", **changes})


class Broken(PracticeEnvironment):
    """Some worlds give a number that is not finite at chosen steps."""

    def __init__(self, where, what, final=True, recovers=True):
        super().__init__(WORLDS)
        self.where, self.what, self.final, self.recovers = where, what, final, recovers
        self.steps = 0

    def step(self, action):
        assert torch.isfinite(action).all()
        step = super().step(action)
        for world, first, last in self.where:
            if not first <= self.steps <= last:
                continue
            if self.what == "reward":
                step.task_reward[world] = torch.inf
                continue
            bad = torch.nan if self.what == "nan" else -torch.inf
            if self.final:
                step.final_observation = step.final_observation.clone()
                step.final_observation[world, 3] = bad
            if self.steps < last or not self.recovers:
                step.observation = step.observation.clone()
                step.observation[world, 3] = bad
        self.steps += 1
        return step


def everything_is_finite(learner):
    state = learner.state()
    for name, x in state.items():
        if x.is_floating_point():
            assert torch.isfinite(x).all(), name


@pytest.mark.parametrize("what", ["nan", "inf", "reward"])
@pytest.mark.parametrize("method", ["tsil", "attl-sil", "ih"])
def test_one_bad_world_leaves_everything_finite_and_is_counted(what, method):
    learner = Learner(Broken([(3, 10, 10)], what), configuration(method=method))
    for _ in range(6):
        record = learner.iterate()
    assert record.dropped == 1
    assert record.skipped == 0
    everything_is_finite(learner)


def test_the_episode_is_dropped_and_no_other_touched():
    """Beside a sound twin: the bad world's valid flags differ, nobody else's do."""
    torch.manual_seed(0)
    learners = [
        Learner(PracticeEnvironment(WORLDS), configuration(stagger=False)),
        Learner(Broken([(3, 10, 12)], "nan"), configuration(stagger=False)),
    ]
    rollouts = []
    for learner in learners:
        target = learner.targets.seconds
        rollouts.append(learner.collector.collect(learner.policy, target, learner.shared))
    sound, bad = rollouts
    others = [i for i in range(WORLDS) if i != 3]
    assert torch.equal(sound.observation[:, others], bad.observation[:, others])
    assert bad.valid[:, others].all()
    assert (~bad.valid[:, 3]).nonzero().squeeze(1).tolist() == [10, 11, 12]
    assert bad.dropped[:, 3].nonzero().squeeze(1).tolist() == [10]
    assert bad.elapsed[:10, 3].tolist() == list(range(10))
    assert bad.elapsed[13:, 3].tolist() == list(range(19))


def test_pages_of_a_dropped_episode_come_back():
    learner = Learner(Broken([(3, 40, 40)], "nan"), configuration(stagger=False))
    learner.iterate()
    learner.iterate()
    memory = learner.memory
    tables = torch.cat((memory.slots.pages.flatten(), memory.open.flatten()))
    held = tables[tables >= 0]
    assert len(held) + len(memory.free) == memory.capacity
    assert len(torch.cat((held, memory.free)).unique()) == memory.capacity
    # World 3 began anew at step 41 of 64: 23 steps, so 3 pages of 8.
    assert (memory.open[3] >= 0).sum() == 3


def test_a_world_that_never_recovers_is_left_out():
    learner = Learner(Broken([(3, 5, 10**9)], "nan", recovers=False), configuration())
    for _ in range(3):
        record = learner.iterate()
    assert record.dropped == 1
    assert not learner.collector.sound[3]
    everything_is_finite(learner)


def test_estimates_stop_before_a_step_that_is_no_transition():
    """The return of the step before the drop is bootstrapped from the last finite observation."""
    learner = Learner(Broken([(3, 10, 10)], "nan"), configuration(stagger=False, method="fttl"))
    target = learner.targets.seconds
    rollout = learner.collector.collect(learner.policy, target, learner.shared)
    task_reward, bonus = learner._rewards(rollout, target)
    before = learner.policy.values.center.clone(), learner.policy.values.std.clone()
    augmented = learner.policy.augment(
        rollout.observation[9:11, 3],
        rollout.elapsed[9:11, 3] * learner.environment.interval,
        target[[3, 3]],
    )
    value = learner.policy.value(augmented).detach() * before[1] + before[0]
    fresh = learner._prepare(rollout, task_reward, bonus, target)
    expected = task_reward[9, 3] / learner.scale.scale + 0.995 * value[1]
    # Row 9 * WORLDS + 3 of the flattened rollout; nothing before it was left out.
    got = fresh.returns[9 * WORLDS + 3] * learner.policy.values.std + learner.policy.values.center
    torch.testing.assert_close(got, expected.expand(1), rtol=1e-4, atol=1e-5)


def test_too_many_bad_worlds_stop_training_in_one_sentence():
    learner = Learner(Broken([(i, 4, 4) for i in range(3)], "nan"), configuration())
    with pytest.raises(NonFiniteError, match=r"3 of 40 worlds gave up an episode in iteration 1"):
        learner.iterate()


def test_a_gradient_that_is_not_finite_never_reaches_the_weights(monkeypatch):
    learner = Learner(PracticeEnvironment(WORLDS), configuration(nonfinite_limit=0.2))
    learner.iterate()
    import tsil.method.learner as module

    calls = iter(range(10**6))
    true = module.ppo_loss

    def sometimes(*arguments):
        terms = true(*arguments)
        if next(calls) == 4:
            terms.loss = terms.loss * torch.nan
        return terms

    monkeypatch.setattr(module, "ppo_loss", sometimes)
    record = learner.iterate()
    assert record.skipped == 1
    everything_is_finite(learner)
    monkeypatch.setattr(module, "ppo_loss", lambda *a: _poisoned(true(*a)))
    with pytest.raises(NonFiniteError, match="gradient steps were left out"):
        learner.iterate()
    everything_is_finite(learner)


def _poisoned(terms):
    terms.loss = terms.loss * torch.inf
    return terms
