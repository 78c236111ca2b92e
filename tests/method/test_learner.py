"""Algorithm 1 against a second one, written from the paper in loops; then stopping and going on.

The second one reads what the environment said and did. Only two things are taken from the code
under test, because they are random: the actions, and which stored transitions were replayed.
"""

from __future__ import annotations

import copy
import dataclasses
import math

import numpy as np
import pytest
import torch

import tsil.method.learner
from tsil.method.imitation import imitation_loss
from tsil.method.methods import METHODS
from tsil.method.ppo import ppo_loss

HORIZON, INTERVAL = 9, 1 / 60
LONGEST = HORIZON * INTERVAL
WORLDS, ROLLOUT = 6, 7
EVERYTHING = WORLDS * ROLLOUT

# The paper's comparison. bonus: of a success after t seconds under target d, in units of r_succ.
EQUATION_2 = {"bonus": lambda d, t: 1 + min(d / t, 1), "sees_time": True}
PLAIN = {"bonus": lambda d, t: 1.0, "sees_time": False}
PAPER = {
    "ih": {**PLAIN, "task": lambda r, progress, scale: scale * r},
    "step-cost": {**PLAIN, "task": lambda r, progress, scale: scale * r - 0.01},
    "d2s": {**PLAIN, "task": lambda r, progress, scale: r if progress < 0.5 else 0.0 * r},
    "fttl": {**EQUATION_2, "task": lambda r, progress, scale: scale * r},
    "attl": {**EQUATION_2, "adaptive": True, "task": lambda r, progress, scale: scale * r},
    "attl-sil": {
        **EQUATION_2, "adaptive": True, "task": lambda r, progress, scale: scale * r,
        "ranking": "return", "weight": lambda success, d, t: 1.0,
    },
    "tsil": {
        **EQUATION_2, "adaptive": True, "task": lambda r, progress, scale: scale * r,
        "ranking": "fast", "weight": lambda success, d, t: 1 + success * min(d / t, 1),
    },
}  # fmt: skip


def moments(samples):
    """Mean and standard deviation; before anything was seen, of nothing to be changed."""
    if len(samples) == 0:
        return 0.0, 1.0
    wide = np.asarray(samples, np.float64)
    return wide.mean(0), np.sqrt(wide.var(0) + 1e-8)


class SlowAlgorithm1:
    """One gradient step per epoch, on everything at once."""

    def __init__(self, learner, tools):
        c = self.c = learner.configuration
        self.paper = PAPER[c.method]
        self.environment, self.recorder = learner.environment, tools.Recorder(learner.environment)
        self.policy = copy.deepcopy(learner.policy)
        self.adam = torch.optim.Adam(self.policy.parameters(), lr=c.ppo.learning_rate)
        self.target, self.steps, self.read = [LONGEST] * WORLDS, 0, 0
        self.elapsed, self.running = [0] * WORLDS, [0.0] * WORLDS
        self.observations, self.discounted, self.returns = [], [], []
        self.memory = tools.ListMemory(
            WORLDS, c.imitation.k, self.paper.get("ranking"), c.imitation.sampling, c.ppo.gamma
        )

    def see(self, observation, elapsed, i):
        """õ of world i after ``elapsed`` steps of its episode."""
        mean, std = moments(self.observations)
        x = np.clip((observation - mean) / std, -10, 10)
        if self.paper["sees_time"]:
            x = np.append(x, [elapsed * INTERVAL / LONGEST, self.target[i] / LONGEST])
        return torch.tensor(x, dtype=torch.float32)

    def value(self, observation, elapsed, i):
        """V in units of scaled reward."""
        mean, std = moments(self.returns)
        with torch.no_grad():
            return self.policy.critic(self.see(observation, elapsed, i)[None]).item() * std + mean

    def iterate(self, replayed):
        """replayed: for each epoch, the actions of the replay batch."""
        c, paper, gamma = self.c, self.paper, self.c.ppo.gamma
        trace = self.environment.trace[self.read :]
        self.read += len(trace)
        progress = self.steps / c.steps
        self.steps += len(trace) * WORLDS

        def task_reward(step):
            return paper["task"](step["reward"], progress, c.rewards.task_scale)

        # Rewards: Eq. 2 under D_i, which stays what it is until the end.
        times = [k * INTERVAL for k in range(1, HORIZON + 1)]
        bonus = np.array([[paper["bonus"](d, t) for t in times] for d in self.target])
        bonus *= c.rewards.success
        before, reward = [], []
        for step in trace:
            before.append(list(self.elapsed))
            task = task_reward(step)
            for i in range(WORLDS):
                task[i] += step["success"][i] * bonus[i, min(self.elapsed[i], HORIZON - 1)]
                if step["valid"][i]:
                    self.elapsed[i] += 1
                    self.running[i] = gamma * self.running[i] + task[i]
                    self.discounted.append(self.running[i])
                if self.ends(step, i):
                    self.elapsed[i], self.running[i] = 0, 0.0
            reward.append(task)
        scale = moments(self.discounted)[1]

        # Advantages, from the last step backwards.
        fresh = []
        for i in range(WORLDS):
            advantage = 0.0
            for t in reversed(range(len(trace))):
                step = trace[t]
                if not step["valid"][i]:
                    continue
                if self.ends(step, i):
                    advantage, following = 0.0, 0.0
                    if step["timeout"][i]:
                        following = self.value(step["final"][i], before[t][i] + 1, i)
                else:
                    following = self.value(step["final"][i], before[t][i] + 1, i)
                v = self.value(step["observation"][i], before[t][i], i)
                delta = reward[t][i] / scale + gamma * following - v
                advantage = delta + gamma * c.ppo.gae_lambda * advantage
                x = self.see(step["observation"][i], before[t][i], i)
                fresh.append((x, step["action"][i], advantage, advantage + v))
        self.returns += [g for *_, g in fresh]
        mean, std = moments(self.returns)
        x = torch.stack([x for x, *_ in fresh])
        action = torch.tensor(np.array([a for _, a, *_ in fresh]))
        advantages = np.array([a for *_, a, _ in fresh])
        advantages = (advantages - advantages.mean()) / advantages.std()
        advantages = torch.tensor(advantages, dtype=torch.float32)
        returns = torch.tensor([(g - mean) / std for *_, g in fresh], dtype=torch.float32)

        # Memory and relabelling.
        for i, episode in self.recorder.finished(task_reward):
            if "ranking" in paper:
                self.memory.offer(i, episode, bonus[i])
        relabelled = {}
        for i, episodes in enumerate(self.memory.kept):
            for e in episodes:
                success, t = e.how == "success", len(e) * INTERVAL
                tail = self.value(e.final, len(e), i) if e.how == "timeout" else 0.0
                ghat = e.returns(gamma, success * bonus[i, len(e) - 1], tail, scale)
                for step, a in enumerate(e.actions):
                    relabelled[tuple(a)] = (
                        self.see(e.observations[step], step, i),
                        (ghat[step] - mean) / std,
                        paper["weight"](success, self.target[i], t),
                    )

        # Updates.
        old = self.likelihood(x, action).detach()
        for epoch in range(c.ppo.epochs):
            loss = self.ppo_loss(x, action, old, advantages, returns)
            if replayed:
                loss = loss + c.imitation.coefficient * self.imitation_loss(
                    relabelled, replayed[epoch]
                )
            self.adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), c.ppo.gradient_clip)
            self.adam.step()

        for step in trace:
            self.observations += list(step["observation"][step["valid"]])
        # Eq. 1.
        for step, elapsed in zip(trace, before, strict=True):
            for i in range(WORLDS):
                if step["success"][i] and paper.get("adaptive"):
                    self.target[i] = min(self.target[i], (elapsed[i] + 1) * INTERVAL)

    @staticmethod
    def ends(step, i):
        return step["success"][i] or step["failure"][i] or step["timeout"][i]

    def likelihood(self, x, action):
        normal = torch.distributions.Normal(self.policy.actor(x), self.policy.log_std.exp())
        return normal.log_prob(action).sum(1)

    def ppo_loss(self, x, action, old, advantage, returns):
        s = self.c.ppo
        rho = (self.likelihood(x, action) - old).exp()
        surrogate = -torch.min(rho * advantage, rho.clip(1 - s.clip, 1 + s.clip) * advantage)
        value = s.value_coefficient / 2 * (self.policy.critic(x)[:, 0] - returns) ** 2
        spread = torch.distributions.Normal(torch.zeros(2), self.policy.log_std.exp())
        return (surrogate + value).mean() - s.entropy_coefficient * spread.entropy().sum()

    def imitation_loss(self, relabelled, actions):
        x = torch.stack([relabelled[tuple(a)][0] for a in actions])
        ghat, weight = torch.tensor([relabelled[tuple(a)][1:] for a in actions]).T
        gap = torch.relu(ghat - self.policy.critic(x)[:, 0])
        push = weight * gap.detach() * self.likelihood(x, torch.tensor(actions))
        return (-push + self.c.imitation.value_coefficient / 2 * gap**2).mean()


@pytest.fixture
def watched(monkeypatch):
    """The batches that go into the two losses, in order."""
    seen = {"fresh": [], "stored": []}

    def watch_ppo(policy, batch, settings):
        seen["fresh"].append(batch)
        return ppo_loss(policy, batch, settings)

    def watch_imitation(policy, batch, settings):
        seen["stored"].append(batch)
        return imitation_loss(policy, batch, settings)

    monkeypatch.setattr(tsil.method.learner, "ppo_loss", watch_ppo)
    monkeypatch.setattr(tsil.method.learner, "imitation_loss", watch_imitation)
    return seen


def whole_batches(tools, **changes):
    """A run whose minibatch is the rollout, so that the order of transitions cannot matter."""
    return tools.configuration(
        **{
            "stagger": False, "ppo.minibatch": EVERYTHING, "ppo.learning_rate": 1e-3,
            "imitation.half_precision": False, "network.actor_gain": 1.0, **changes,
        }
    )  # fmt: skip


def run_beside(learner, slow, watched, iterations):
    """Iterate both, comparing weights and targets after every iteration."""
    for _ in range(iterations):
        watched["stored"].clear()
        learner.iterate()
        slow.iterate([batch.action.numpy() for batch in watched["stored"]])
        np.testing.assert_allclose(learner.targets.seconds, slow.target, rtol=1e-6)
        for (name, got), want in zip(
            learner.policy.named_parameters(), slow.policy.parameters(), strict=True
        ):
            torch.testing.assert_close(got, want, rtol=1e-3, atol=3e-5, msg=lambda m, n=name: n + m)


def script_for(tools):
    """Every kind of end, several in one rollout, and episodes over two rollouts."""
    return tools.random_script(WORLDS, 12, HORIZON, seed=5, success=0.5)


@pytest.mark.parametrize("method", PAPER)
def test_every_method_matches_a_second_algorithm_1(tools, watched, method):
    c = whole_batches(tools, method=method)
    learner = tools.learner(c, HORIZON, script_for(tools))
    slow = SlowAlgorithm1(learner, tools)
    run_beside(learner, slow, watched, 7)  # d2s loses its dense reward in the sixth
    trace = learner.environment.trace
    assert sum(step["success"].sum() for step in trace) > 10
    assert sum(step["timeout"].sum() for step in trace) > 3
    assert sum(step["failure"].sum() for step in trace) > 1
    assert (len(watched["stored"]) > 0) == ("weight" in PAPER[method])


@pytest.mark.parametrize(
    "changes",
    [
        {"imitation.sampling": "split"},
        {"imitation.batch": 97, "imitation.coefficient": 5.0, "imitation.value_coefficient": 2.0},
        {"ppo.gamma": 0.7, "ppo.gae_lambda": 0.3, "imitation.coefficient": 2.0},
        # Beside a bonus of 100, a cost of 0.01 a step would hardly be seen.
        {"method": "step-cost", "rewards.success": 0.02, "rewards.task_scale": 0.001},
        {"method": "d2s", "rewards.success": 0.02, "rewards.task_scale": 0.001},
    ],
)
def test_algorithm_1_matches_with_other_constants(tools, watched, changes):
    learner = tools.learner(whole_batches(tools, **changes), HORIZON, script_for(tools))
    run_beside(learner, SlowAlgorithm1(learner, tools), watched, 4)


@pytest.mark.parametrize("method", ["step-cost", "tsil"])
def test_steps_that_are_no_transition_teach_nothing(tools, watched, method):
    """Under next-step autoreset, with the same second algorithm."""
    c = whole_batches(tools, method=method)
    learner = tools.learner(c, HORIZON, script_for(tools), resets_cost_a_step=True)
    run_beside(learner, SlowAlgorithm1(learner, tools), watched, 4)
    wasted = sum((~step["valid"]).sum() for step in learner.environment.trace)
    assert wasted > 10
    taught = sum(len(batch.action) for batch in watched["fresh"])
    assert taught == c.ppo.epochs * (4 * EVERYTHING - wasted)


# ------------------------------------------------------------------------------- the rollout


def test_the_policy_sees_elapsed_time_and_the_target_of_the_iterations_beginning(tools):
    """Actions of a nearly deterministic policy tell what it saw."""
    c = whole_batches(tools, **{"network.log_std": -8.0, "ppo.learning_rate": 1e-6})
    learner = tools.learner(c, HORIZON, script_for(tools))
    slow, elapsed, tightened = SlowAlgorithm1(learner, tools), [0] * WORLDS, 0
    for _ in range(5):
        slow.policy, found = copy.deepcopy(learner.policy), list(slow.target)
        learner.iterate()
        for step in learner.environment.trace[-ROLLOUT:]:
            for i in range(WORLDS):
                seen = slow.see(step["observation"][i], elapsed[i], i)
                with torch.no_grad():
                    mean = slow.policy.actor(seen[None])[0]
                np.testing.assert_allclose(step["action"][i], mean, atol=3e-3)
                elapsed[i] += 1
                if step["success"][i]:
                    found[i] = min(found[i], elapsed[i] * INTERVAL)
                if slow.ends(step, i):
                    elapsed[i] = 0
        slow.observations += [
            o for step in learner.environment.trace[-ROLLOUT:] for o in step["observation"]
        ]
        tightened += sum(a < b for a, b in zip(found, slow.target, strict=True))
        slow.target = found
        np.testing.assert_allclose(learner.targets.seconds, slow.target, rtol=1e-6)
    assert tightened > 5


def test_first_episodes_are_shortened_by_parts_of_the_horizon(tools):
    """As length only: elapsed time starts at 0 there too."""
    c = tools.configuration(environments=200, **{"ppo.minibatch": 1400})
    learner = tools.learner(c, HORIZON, [[("timeout", HORIZON)]] * 200)
    ((seed, used),) = learner.environment.reset_calls
    assert 0 <= seed < 2**31
    assert sorted(set(used.tolist())) == list(range(HORIZON))
    learner.iterate()
    assert learner.collector.elapsed.max() < HORIZON
    together = tools.learner(c.override(stagger=False), HORIZON, [[("timeout", HORIZON)]] * 200)
    ((_, used),) = together.environment.reset_calls
    assert used is None


@pytest.mark.parametrize("how", ["success", "failure"])
def test_what_ends_for_good_on_the_last_allowed_step_is_not_cut(tools, watched, how):
    """An environment may say both; then there is no bootstrap and nothing to relabel with V."""

    class SaysBoth(tools.Scripted):
        def step(self, action):
            out = super().step(action)
            out.timeout = out.timeout | out.success | out.failure
            return out

    script = [[(how, HORIZON)], [("success", 4)], *[[("timeout", HORIZON)]] * 4]
    environment = SaysBoth(script, HORIZON)
    learner = tsil.method.learner.Learner(environment, whole_batches(tools))
    run_beside(learner, SlowAlgorithm1(learner, tools), watched, 3)


# -------------------------------------------------------------------------------- disturbances


def test_dropout_takes_the_dense_reward_of_whole_episodes(tools):
    """What the memory holds of an episode is all of its dense reward or none, success aside."""
    c = tools.configuration(
        environments=40,
        steps=10_000,
        **{"disturbances.reward_dropout": 0.5, "ppo.minibatch": 280, "imitation.k": 3},
    )
    script = tools.random_script(40, 12, HORIZON)
    learner = tools.learner(c, HORIZON, script)
    recorder = tools.Recorder(learner.environment)
    for _ in range(6):
        learner.iterate()
    said = {
        tuple(e.actions[0]): np.array(e.rewards)
        for _, e in recorder.finished(lambda step: step["reward"])
    }
    kept = []
    for stored in (x for world in tools.contents(learner.memory) for x in world):
        full = 0.1 * said[tuple(stored["actions"][0])]
        if np.allclose(stored["rewards"], full, rtol=1e-5):
            kept.append(True)
        else:
            assert np.array_equal(stored["rewards"], np.zeros_like(full))
            kept.append(False)
    assert len(kept) > 80
    assert 0.3 < np.mean(kept) < 0.8


def test_all_dense_reward_dropped_leaves_the_success_reward(tools, watched):
    c = whole_batches(tools, **{"disturbances.reward_dropout": 1.0})
    learner = tools.learner(c, HORIZON, script_for(tools))
    slow = SlowAlgorithm1(learner, tools)
    slow.paper = {**slow.paper, "task": lambda r, progress, scale: 0.0 * r}
    run_beside(learner, slow, watched, 3)


@pytest.mark.parametrize("scale", [5.0, 20.0])
def test_gradient_noise_is_as_large_as_ppos_own_gradient(tools, watched, scale):
    """However much larger the replay's is; on the policy alone; and it is not clipped away."""
    noise = {"disturbances.gradient_noise": scale, "imitation.coefficient": 300.0}
    c = whole_batches(tools, **noise, **{"ppo.epochs": 1, "network.hidden": (64, 48)})
    learner = tools.learner(c, HORIZON, script_for(tools))
    learner.iterate()  # something to imitate
    before = copy.deepcopy(learner.policy)
    for seen in watched.values():
        seen.clear()
    learner.iterate()
    before.values.load_state_dict(learner.policy.values.state_dict())
    (fresh,), (stored,) = watched["fresh"], watched["stored"]
    own = torch.autograd.grad(
        ppo_loss(before, fresh, c.ppo).loss, list(before.parameters()), allow_unused=True
    )
    replay = torch.autograd.grad(
        c.imitation.coefficient * imitation_loss(before, stored, c.imitation).loss,
        list(before.parameters()),
    )
    z = []
    for (name, parameter), g, r in zip(learner.policy.named_parameters(), own, replay, strict=True):
        residual = parameter.grad - g - r
        if name.startswith("critic"):
            torch.testing.assert_close(parameter.grad, g + r, rtol=1e-3, atol=1e-5)
            continue
        assert r.square().mean() > 4 * g.square().mean()  # it would be seen
        z.append((residual / (scale * g.square().mean().sqrt())).flatten())
    z = torch.cat(z)
    assert len(z) > 3000
    assert abs(z.mean()) < 0.06
    assert z.std() == pytest.approx(1.0, abs=0.05)


DISTURBANCES = [
    {"disturbances.gradient_noise": 10.0},
    {"disturbances.reward_dropout": 0.6},
    {"disturbances.clip_ratio": 0.5},
    {"disturbances.learning_rate": 0.005},
    {
        "disturbances.gradient_noise": 5.0, "disturbances.reward_dropout": 0.4,
        "disturbances.clip_ratio": 0.3, "disturbances.learning_rate": 0.001,
    },
]  # fmt: skip


@pytest.mark.parametrize("disturbance", DISTURBANCES, ids=lambda d: "+".join(d))
@pytest.mark.parametrize("method", ["attl", "attl-sil", "tsil"])
def test_disturbances_run_with_the_methods_they_were_meant_for(tools, method, disturbance):
    rate = {"ppo.learning_rate": 0.02}  # far enough for ratios to leave the clip range
    learner = tools.learner(tools.configuration(method=method, **rate, **disturbance))
    calm = tools.learner(tools.configuration(method=method, **rate))
    for _ in range(3):
        record = learner.iterate()
        calm.iterate()
    assert all(map(math.isfinite, (record.surrogate_loss, record.gradient_norm, record.kl)))
    weights = [x.policy.actor.last.weight for x in (learner, calm)]
    assert not torch.equal(*weights)


# ---------------------------------------------------------------------------------- the record


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_and_reports(tools, method):
    c = tools.configuration(method=method, stagger=False)
    learner = tools.learner(c, HORIZON, script_for(tools), resets_cost_a_step=method == "ih")
    recorder, successes, before = tools.Recorder(learner.environment), 0, copy.deepcopy(learner)
    for number in range(1, 4):
        record = learner.iterate()
        ended = [e for _, e in recorder.finished(lambda step: step["reward"])]
        times = [len(e) * INTERVAL for e in ended if e.how == "success"]
        successes += len(times)
        assert (record.iteration, record.steps) == (number, number * EVERYTHING)
        assert (record.episodes, record.successes) == (len(ended), len(times))
        assert record.total_successes == successes
        assert record.completion_time == pytest.approx(np.mean(times), rel=1e-5)
        trace = learner.environment.trace[-ROLLOUT:]
        paid = np.concatenate([step["reward"][step["valid"]] for step in trace])
        assert record.task_reward == pytest.approx(paid.mean(), rel=1e-5)
        lengths = [
            len(x["actions"]) * INTERVAL
            for world in (tools.contents(learner.memory) if learner.memory else [])
            for x in world
            if x["how"] == "success"
        ]
        assert record.memory_successes == len(lengths)
        if lengths:
            assert record.buffer_time == pytest.approx(np.mean(lengths), rel=1e-5)
            assert record.memory_bytes == learner.memory.nbytes()
        else:
            assert math.isnan(record.buffer_time)
        target = learner.targets.seconds.numpy()
        assert record.target_mean == pytest.approx(target.mean(), rel=1e-5)
        shares = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]
        np.testing.assert_allclose(record.target_quantiles, np.quantile(target, shares), rtol=1e-5)
        for field in ("surrogate_loss", "value_loss", "entropy", "kl", "clipped", "gradient_norm"):
            assert math.isfinite(getattr(record, field))
    assert (record.mean_gap > 0) == METHODS[method].imitates
    assert not torch.equal(learner.policy.actor.last.weight, before.policy.actor.last.weight)
    assert not torch.equal(learner.policy.critic.last.weight, before.policy.critic.last.weight)


def test_attl_keeps_a_memory_that_changes_nothing(tools):
    """For diagnostics only: however it is set, the policy is the same."""
    weights = []
    for k in (1, 4):
        learner = tools.learner(tools.configuration(method="attl", **{"imitation.k": k}))
        records = [learner.iterate() for _ in range(4)]
        assert records[-1].memory_successes > 0
        weights.append(learner.policy.actor.last.weight)
    assert torch.equal(*weights)


def test_a_run_is_finished_when_its_budget_is_spent(tools):
    c = tools.configuration(steps=3 * EVERYTHING - 1)
    learner = tools.learner(c)
    count = 0
    while not learner.finished:
        learner.iterate()
        count += 1
    assert count == c.iterations == 3


# -------------------------------------------------------------------------- stopping, going on


def assert_equal_states(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def same(one, other):
    """Whether two records say the same, NaN being equal to itself."""
    return repr(dataclasses.astuple(one)) == repr(dataclasses.astuple(other))


ALL = DISTURBANCES[-1]
CASES = [
    {"method": "ih"},
    {"method": "step-cost", "disturbances.reward_dropout": 0.5},
    {"method": "d2s"},
    {"method": "fttl"},
    {"method": "attl", **ALL},
    {"method": "attl-sil", **ALL},
    {"method": "tsil", **ALL},
    {"method": "tsil", "imitation.sampling": "split", "imitation.half_precision": False},
    {"method": "tsil", "network.precision": "bfloat16"},
]


@pytest.mark.parametrize("wasted", [False, True], ids=["same-step", "next-step"])
@pytest.mark.parametrize("changes", CASES, ids=lambda c: "+".join(map(str, c.values())))
def test_a_restored_learner_goes_on_bit_for_bit(tools, changes, wasted):
    c = tools.configuration(**changes)
    script = script_for(tools)

    def fresh():
        return tools.learner(c, HORIZON, script, resets_cost_a_step=wasted)

    through, stopped = fresh(), fresh()
    for _ in range(3):
        through.iterate()
        stopped.iterate()
    state = stopped.state()
    assert_equal_states(through.state(), state)
    expected = [through.iterate() for _ in range(3)]

    stopped.iterate()  # a state is a copy: going on does not change it
    restored = fresh()
    restored.iterate()  # nor does what the learner did before matter
    restored.restore(state)
    for tensor in state.values():
        tensor.zero_()
    again = [restored.iterate() for _ in range(3)]
    assert all(map(same, expected, again))
    assert_equal_states(through.state(), restored.state())


def test_a_state_from_before_the_first_iteration_restores(tools):
    c = tools.configuration()
    learner = tools.learner(c)
    state = learner.state()
    expected = [learner.iterate() for _ in range(2)]
    other = tools.learner(c)
    other.restore(state)
    assert all(map(same, expected, [other.iterate() for _ in range(2)]))


def test_one_seed_one_run(tools):
    def run(seed):
        learner = tools.learner(tools.configuration(seed=seed))
        return [learner.iterate() for _ in range(3)], learner.state()

    (one, state), (again, same_state), (other, _) = run(3), run(3), run(4)
    assert all(map(same, one, again))
    assert_equal_states(state, same_state)
    assert not same(one[-1], other[-1])


def test_what_is_handed_out_is_only_tensors(tools):
    """So that a checkpoint needs no pickle."""
    learner = tools.learner(tools.configuration())
    learner.iterate()
    assert all(type(x) is torch.Tensor for x in learner.state().values())
