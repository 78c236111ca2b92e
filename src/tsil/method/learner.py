"""Algorithm 1: one training iteration of TSIL and of everything it is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tsil.method import parallel
from tsil.method.configuration import Configuration
from tsil.method.disturbances import RewardDropout, add_gradient_noise, disturbed, gradient_rms
from tsil.method.environment import Environment
from tsil.method.imitation import ImitationTerms, Replay, imitation_loss
from tsil.method.memory import Memory
from tsil.method.normalize import ReturnScale
from tsil.method.policy import Policy
from tsil.method.ppo import Fresh, PPOTerms, advantages, normalize_advantages, ppo_loss
from tsil.method.progress import Progress
from tsil.method.rewards import has_temporal_bonus, success_reward, task_scale
from tsil.method.rollout import Collector, Rollout
from tsil.method.targets import Targets


@dataclass(slots=True)
class Record:
    """What one iteration did, in numbers."""

    iteration: int
    steps: int
    """Environment steps so far, over all worlds."""
    success_rate: float
    """Share of worlds whose latest finished episode was a success; none finished counts as not.
    Free of start-up bias: early on only successes *can* have ended."""
    episodes: int
    """Episodes that ended in this iteration."""
    successes: int
    """Those of them that succeeded."""
    total_successes: int
    """Successful training episodes so far."""
    completion_time: float
    """Mean T^succ of this iteration's successes, seconds; NaN without any."""
    task_reward: float
    """Mean dense task reward per step, in the task's units."""
    target_mean: float
    """Mean D(φ), seconds."""
    target_quantiles: tuple[float, ...]
    """D(φ) at 0, 10, 25, 50, 75, 90 and 100 %, seconds."""
    dropped: int
    """Episodes given up so far because a number was not finite."""
    skipped: int
    """Gradient steps left out so far because the gradient was not finite."""
    memory_successes: int
    """Fast successes stored."""
    memory_fallback: int
    """Other trajectories that replay draws from."""
    memory_bytes: int
    buffer_time: float
    """T_buf, mean completion time of stored successes, seconds; NaN without any."""
    surrogate_loss: float
    value_loss: float
    entropy: float
    kl: float
    clipped: float
    gradient_norm: float
    imitation_policy_loss: float
    imitation_value_loss: float
    positive_gap_share: float
    mean_gap: float
    action_std: float


class NonFiniteError(ArithmeticError):
    """Too many numbers were not finite for training to mean anything."""


class Learner:
    """PPO with temporal targets and efficiency-weighted self-imitation.

    Owns everything that changes during training. ``iterate`` is Algorithm 1; ``state`` and
    ``restore`` make a stopped run go on bit for bit.
    """

    def __init__(self, environment: Environment, configuration: Configuration) -> None:
        _check_fit(environment, configuration)
        c = self.configuration = configuration
        method = self.method = c.record
        self.environment = environment
        device = self.device = environment.device
        n, horizon = environment.num_environments, environment.horizon
        self.longest = horizon * environment.interval  # T^max
        self.ppo = disturbed(c.ppo, c.disturbances)
        seeds = _seeds(c.seed)
        self.shared = torch.Generator(device).manual_seed(seeds["shared"])
        """Chance that all processes draw alike: exploration, dropout, gradient noise."""
        self.local = torch.Generator(device).manual_seed(seeds["local"])
        """Chance of this process's own: minibatches and replay."""
        self.policy = Policy(
            environment.observation_size,
            environment.action_size,
            self.longest,
            method.sees_time,
            c.network,
            seeds["policy"],
        ).to(device)
        self.optimizer = torch.optim.Adam(
            self.policy.parameters(), lr=self.ppo.learning_rate, fused=True
        )
        self.scale = ReturnScale(n, c.ppo.gamma).to(device)
        self.targets = Targets(n, self.longest, device)
        self.memory = (
            None
            if method.memory == "none"
            else Memory(
                n,
                environment.observation_size,
                environment.action_size,
                horizon,
                c.imitation.k,
                method.memory,
                c.imitation.sampling,
                c.ppo.gamma,
                c.imitation.half_precision,
                device,
            )
        )
        self.dropout = RewardDropout(c.disturbances.reward_dropout, n, self.shared, device)
        self.progress = Progress(n, device)
        used = None
        if c.stagger:
            everyone = (n * parallel.count(),)
            used = parallel.share(
                torch.randint(horizon, everyone, generator=self.shared, device=device)
            )
        self.collector = Collector(environment, c.rollout, seeds["worlds"], used)

    # ----------------------------------------------------------------------------- Algorithm 1

    def iterate(self) -> Record:
        """Line 2 to 11 of Algorithm 1, once."""
        c = self.configuration
        target = self.targets.seconds  # D_i(φ), what it is until the last line
        rollout = self.collector.collect(self.policy, target, self.shared)  # T_i
        task_reward, bonus = self._rewards(rollout, target)
        if self.memory is not None:
            self.memory.update(rollout, task_reward, bonus)  # B_i(φ)
        fresh = self._prepare(rollout, task_reward, bonus, target)
        replay = self._relabel(target, bonus)  # B̂_i(φ)
        terms = []
        self._guard("worlds gave up an episode", rollout.dropped.any(dim=0))
        for _ in range(c.ppo.epochs):
            for batch in self._minibatches(fresh):
                stored = replay.sample(self._replay_batch, self.local) if replay else None
                ppo = ppo_loss(self.policy, batch, self.ppo)
                si = imitation_loss(self.policy, stored, c.imitation) if stored else None
                norm = self._step(ppo.loss, c.imitation.coefficient * si.loss if si else None)
                terms.append((ppo, si, norm))
        self._guard("gradient steps were left out", ~torch.stack([x for *_, x in terms]).isfinite())
        self.policy.observations.update(rollout.observation[rollout.valid])
        if self.method.target == "adaptive":  # D_{i+1}(φ)
            self.targets.tighten(rollout.success, (rollout.elapsed + 1) * self._interval)
            self.policy.usual_target.copy_(parallel.gathered(self.targets.seconds).median())
        self.progress.count(rollout)
        self.progress.skipped += sum(not norm.isfinite() for *_, norm in terms)
        return self._record(rollout, terms)

    # ----------------------------------------------------------------------------- its parts

    @property
    def _interval(self) -> float:
        return self.environment.interval

    @property
    def _minibatch(self) -> int:
        """This process's transitions per gradient step."""
        return max(1, self.configuration.ppo.minibatch // parallel.count())

    @property
    def _replay_batch(self) -> int:
        """This process's replayed transitions per gradient step."""
        return max(1, self.configuration.replay_batch // parallel.count())

    def _rewards(self, rollout: Rollout, target: Tensor) -> tuple[Tensor, Tensor]:
        """Raw r_task of the rollout, (T, n), and r_succ of a success at step 1 …, (n, N)."""
        c, method = self.configuration, self.method
        scale = task_scale(method, c.rewards, self.progress.steps / c.steps)
        kept = self.dropout.mask(rollout.over)
        task_reward = rollout.task_reward * scale * kept - method.step_cost
        steps = torch.arange(1, self.environment.horizon + 1, device=self.device)
        completion = (steps * self._interval).expand(len(target), -1)
        bonus = success_reward(
            completion,
            target.unsqueeze(1),
            c.rewards.success,
            has_temporal_bonus(method, c.rewards),
        )
        return task_reward, bonus

    @torch.no_grad()
    def _prepare(
        self, rollout: Rollout, task_reward: Tensor, bonus: Tensor, target: Tensor
    ) -> Fresh:
        """Advantages and returns of the rollout; the normalizers of reward and value move on."""
        c, policy = self.configuration, self.policy
        length, n = rollout.valid.shape
        paid = bonus.t().gather(0, rollout.elapsed) * rollout.success
        reward = task_reward + paid
        self.scale.update(reward, rollout.over, rollout.valid)
        reward = reward / self.scale.scale

        # V of every observation, of the last one, and of the final ones of cut episodes.
        cut_t, cut_i = rollout.timeout.nonzero(as_tuple=True)
        observation = torch.cat(
            (
                rollout.observation.flatten(0, 1),
                rollout.last_observation,
                rollout.final_observation[cut_t, cut_i],
            )
        )
        elapsed = torch.cat(
            (rollout.elapsed.flatten(), rollout.last_elapsed, rollout.elapsed[cut_t, cut_i] + 1)
        )
        targets = torch.cat((target.repeat(length + 1), target[cut_i]))
        augmented = policy.augment(observation, elapsed * self._interval, targets)
        value = policy.denormalize_value(
            torch.cat([policy.value(part) for part in augmented.split(self._minibatch)])
        )
        inside = value[: (length + 1) * n].view(length + 1, n)
        next_value = inside[1:].masked_fill(rollout.ended, 0.0)
        next_value[cut_t, cut_i] = value[(length + 1) * n :]

        stops = rollout.over.clone()
        stops[:-1] |= ~rollout.valid[1:]
        advantage = advantages(
            reward, inside[:-1], next_value, stops, c.ppo.gamma, c.ppo.gae_lambda
        )
        returns = advantage + inside[:-1]
        policy.values.update(returns[rollout.valid].unsqueeze(1))
        action = rollout.action.flatten(0, 1)
        fresh = Fresh(
            augmented=augmented[: length * n],
            action=action,
            log_likelihood=policy.log_likelihood(rollout.mean.flatten(0, 1), action),
            advantage=normalize_advantages(advantage, rollout.valid).flatten(),
            returns=policy.normalize_value(returns).flatten(),
        )
        return fresh if bool(rollout.valid.all()) else fresh.chosen(rollout.valid.flatten())

    def _relabel(self, target: Tensor, bonus: Tensor) -> Replay | None:
        """B̂_i: the memory under D_i, where the method imitates."""
        if self.memory is None or not self.method.imitates:
            return None
        return self.replay(target, bonus)

    def replay(self, target: Tensor, bonus: Tensor) -> Replay:
        """The memory under given targets, (n,), and bonuses, (n, N)."""
        assert self.memory is not None
        return Replay(
            self.memory,
            self.policy,
            target,
            bonus,
            self.scale.scale,
            self._interval,
            self.method.unit,
            self.method.speed_weighted,
        )

    def _minibatches(self, fresh: Fresh) -> Iterator[Fresh]:
        """The rollout in a fresh random order, cut into minibatches."""
        order = torch.randperm(len(fresh.action), generator=self.local, device=self.device)
        for part in order.split(self._minibatch):
            yield fresh.chosen(part)

    def _step(self, ppo_loss: Tensor, imitation: Tensor | None) -> Tensor:
        """(θ, ψ) ← (θ, ψ) - η ∇ (L_PPO + λ_SI L_SI). Returns the unclipped norm."""
        noise = self.configuration.disturbances.gradient_noise
        self.optimizer.zero_grad()
        if noise > 0.0:
            # The noise is as large as PPO's own gradient, so that one is taken alone first.
            actor = [*self.policy.actor.parameters(), self.policy.log_std]
            ppo_loss.backward()
            parallel.average_gradients(actor)
            size = gradient_rms(actor)
            if imitation is not None and imitation.requires_grad:
                imitation.backward()
            parallel.average_gradients(self.policy.parameters())
            add_gradient_noise(actor, size, noise, self.shared)
        else:
            (ppo_loss if imitation is None else ppo_loss + imitation).backward()
            parallel.average_gradients(self.policy.parameters())
        limit = self.ppo.gradient_clip
        norm = torch.nn.utils.clip_grad_norm_(
            self.policy.parameters(), torch.inf if limit is None else limit
        )
        if bool(norm.isfinite()):
            self.optimizer.step()
        return norm

    def _guard(self, what: str, bad: Tensor) -> None:
        """Stop once more than a few of some things went wrong: (m,) bool."""
        number = int(parallel.total(bad.sum()))
        of, limit = len(bad) * parallel.count(), self.configuration.nonfinite_limit
        if number > limit * of:
            raise NonFiniteError(
                f"{number} of {of} {what} in iteration {self.progress.iterations + 1} because "
                f"numbers were not finite; nonfinite_limit allows {limit:g} of them"
            )

    @torch.no_grad()
    def _record(
        self, rollout: Rollout, terms: list[tuple[PPOTerms, ImitationTerms | None, Tensor]]
    ) -> Record:
        """The iteration in numbers."""
        progress, success = self.progress, rollout.success
        completion = ((rollout.elapsed + 1) * self._interval)[success]
        seconds = parallel.gathered(self.targets.seconds)
        shares = torch.tensor([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0], device=self.device)
        stored = fallback = size = 0
        buffer_time = torch.nan
        if self.memory is not None:
            slots = self.memory.slots
            done = slots.success & (slots.length > 0)
            stored = int(done.sum())
            fallback = int((slots.length > 0).sum()) - stored
            size = self.memory.nbytes()
            if stored:
                buffer_time = float(slots.length[done].to(torch.float64).mean()) * self._interval

        def ppo(name: str) -> float:
            return float(torch.stack([getattr(p, name) for p, _, _ in terms]).mean())

        imitated = [si for _, si, _ in terms if si is not None]

        def imitation(name: str) -> float:
            if not imitated:
                return 0.0
            return float(torch.stack([getattr(si, name) for si in imitated]).mean())

        return Record(
            iteration=progress.iterations,
            steps=progress.steps,
            success_rate=progress.success_rate,
            episodes=int(rollout.ended.sum()),
            successes=int(success.sum()),
            total_successes=progress.successes,
            completion_time=float(completion.mean()) if len(completion) else torch.nan,
            task_reward=float(rollout.task_reward[rollout.valid].mean()),
            target_mean=float(seconds.mean()),
            target_quantiles=tuple(torch.quantile(seconds, shares).tolist()),
            dropped=progress.dropped,
            skipped=progress.skipped,
            memory_successes=stored,
            memory_fallback=fallback,
            memory_bytes=size,
            buffer_time=buffer_time,
            surrogate_loss=ppo("surrogate"),
            value_loss=ppo("value"),
            entropy=float(self.policy.entropy()),
            kl=ppo("kl"),
            clipped=ppo("clipped"),
            gradient_norm=float(torch.stack([norm for _, _, norm in terms]).mean()),
            imitation_policy_loss=imitation("policy"),
            imitation_value_loss=imitation("value"),
            positive_gap_share=imitation("positive"),
            mean_gap=imitation("gap"),
            action_std=float(self.policy.log_std.exp().mean()),
        )

    # ----------------------------------------------------------------------------- stop and go on

    @property
    def finished(self) -> bool:
        """Whether the budget is spent."""
        return self.progress.steps >= self.configuration.steps

    def state(self) -> dict[str, Tensor]:
        """Everything that changes, as copies, by dotted name."""
        state = {f"policy.{name}": x.clone() for name, x in self.policy.state_dict().items()}
        for name, x in self.scale.state_dict().items():
            state[f"scale.{name}"] = x.clone()
        for number, slot in self.optimizer.state_dict()["state"].items():
            for name, x in slot.items():
                state[f"optimizer.{number}.{name}"] = x.clone()
        state["targets"] = self.targets.seconds.clone()
        state["dropout"] = self.dropout.kept.clone()
        state["shared"] = self.shared.get_state()
        state["local"] = self.local.get_state()
        parts = {"collector": self.collector.state(), "progress": self.progress.state()}
        if self.memory is not None:
            parts["memory"] = self.memory.state()
        for part, values in parts.items():
            state.update({f"{part}.{name}": x for name, x in values.items()})
        return state

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from the state of a learner with an equal environment and configuration."""

        def part(name: str) -> dict[str, Tensor]:
            prefix = f"{name}."
            return {k.removeprefix(prefix): x for k, x in state.items() if k.startswith(prefix)}

        self.policy.load_state_dict(part("policy"))
        self.scale.load_state_dict(part("scale"))
        slots: dict[int, dict[str, Tensor]] = {}
        for name, x in part("optimizer").items():
            number, _, field = name.partition(".")
            slots.setdefault(int(number), {})[field] = x.clone()  # torch keeps what it is given
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": slots, "param_groups": groups})
        self.targets.seconds = state["targets"].to(self.device, copy=True)
        self.dropout.kept = state["dropout"].to(self.device, copy=True)
        restarted = self.collector.restore(part("collector"))
        self.scale.running.masked_fill_(restarted, 0.0)
        self.progress.restore(part("progress"))
        if self.memory is not None:
            self.memory.restore(part("memory"))
            self.memory.abandon(restarted)
        self.shared.set_state(state["shared"].cpu())
        self.local.set_state(state["local"].cpu())


def _check_fit(environment: Environment, configuration: Configuration) -> None:
    """Refuse an environment that is not the one the configuration speaks of."""
    for name in ("horizon", "interval", "observation_size", "action_size"):
        if (value := getattr(environment, name)) <= 0:
            raise ValueError(f"the environment's {name} is {value!r}: it must be above 0")
    processes, worlds = parallel.count(), configuration.environments
    if worlds % processes:
        near = max(1, round(worlds / processes)) * processes
        raise ValueError(
            f"environments is {worlds}: it must divide evenly over {processes} processes, "
            f"as {near} does"
        )
    if environment.num_environments * processes != worlds:
        raise ValueError(
            f"environments is {worlds}: it must be the environment's own number of worlds, "
            f"{environment.num_environments}"
            + (f", times {processes} processes" if processes > 1 else "")
        )


def _seeds(seed: int) -> dict[str, int]:
    """Seeds of streams of chance that must not repeat each other."""
    drawn = torch.randint(2**31 - 1, (4,), generator=torch.Generator().manual_seed(seed)).tolist()
    seeds = dict(zip(("policy", "shared", "local", "worlds"), drawn, strict=True))
    for own in ("local", "worlds"):
        seeds[own] += parallel.rank()
    return seeds
