"""Every constant of the paper, as the default of one typed field."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, Self

from tsil.method.methods import Method, method_named


@dataclass(frozen=True, slots=True)
class PPO:
    """The optimizer that all seven methods share (paper, Table 4)."""

    epochs: int = 5
    """Passes over each rollout."""
    minibatch: int = 20_480
    """Transitions per gradient step."""
    clip: float = 0.2
    """ε of the clipped surrogate."""
    gamma: float = 0.995
    """Discount γ per control step."""
    gae_lambda: float = 0.95
    """λ of generalized advantage estimation."""
    learning_rate: float = 5e-4
    """Adam's step size η."""
    value_coefficient: float = 4.0
    """c_V in (c_V / 2)(V - G)²."""
    entropy_coefficient: float = 0.005
    """c_H."""
    gradient_clip: float | None = 1.0
    """Largest norm of the joint gradient; None leaves it alone."""


@dataclass(frozen=True, slots=True)
class Imitation:
    """Memory and self-imitation (paper, Table 5)."""

    coefficient: float = 0.05
    """λ_SI, the weight of L_SI beside L_PPO."""
    value_coefficient: float = 0.05
    """λ_V,SI, the weight of the critic's term inside L_SI."""
    batch: int | None = None
    """Replayed transitions per gradient step; None is as many as the minibatch holds."""
    k: int = 5
    """Trajectories kept per configuration."""
    sampling: Literal["fill", "split"] = "fill"
    """fill: trajectories are drawn evenly from the fast successes and, in the slots these leave
    empty, the fallback pool (the paper). split: successes give half of the batch at the most and
    never more steps than are stored, the return-ranked pool gives the rest (the authors' code)."""
    scale_gap: bool = False
    """Divide the gap by its standard deviation and cap it at 1 in the policy's term."""
    half_precision: bool = True
    """Store observations as 16-bit floats."""


@dataclass(frozen=True, slots=True)
class Rewards:
    """r = r_task + r_succ (Eq. 2)."""

    task_scale: float = 0.1
    """Scale of the dense task reward, unless the method brings its own."""
    success: float = 100.0
    """r_succ."""
    fixed_target_bonus: bool = True
    """Whether a fixed target earns the (constant) temporal bonus of Eq. 2."""


@dataclass(frozen=True, slots=True)
class Network:
    """Actor and critic: two separate MLPs of the same shape."""

    hidden: tuple[int, ...] = (512, 256, 128, 64, 32)
    """Layer sizes; LayerNorm and tanh follow each."""
    actor_gain: float = 0.01
    """Gain of the actor's last layer at the start."""
    log_std: float = 0.0
    """Logarithm of the policy's standard deviation at the start."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the hidden layers. Weights and everything else stay float32."""


@dataclass(frozen=True, slots=True)
class Disturbances:
    """What makes training harder (paper, Table 6). Off by default; all compose."""

    gradient_noise: float = 0.0
    """Noise on the policy's gradients in units of their RMS; also lifts the gradient clip."""
    reward_dropout: float = 0.0
    """Probability that an episode goes without its dense task reward."""
    clip_ratio: float | None = None
    """Replaces the PPO clip ratio."""
    learning_rate: float | None = None
    """Replaces the learning rate."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One training run, complete: with the environment it determines everything."""

    method: str = "tsil"
    """ih, step-cost, d2s, fttl, attl, attl-sil or tsil."""
    steps: int = 50_000_000
    """Training budget, in environment steps over all worlds."""
    environments: int = 6400
    """Parallel worlds, each with a configuration φ of its own."""
    rollout: int = 32
    """Control steps per world and iteration."""
    seed: int = 0
    """Determines configurations, weights, exploration and minibatches."""
    stagger: bool = True
    """Shorten first episodes by a random part of the horizon, so that worlds do not time out
    together."""
    nonfinite_limit: float = 0.05
    """Share of worlds that may give up an episode, and of gradient steps that may be left out, in
    one iteration because a number is not finite. Beyond it training stops."""
    ppo: PPO = field(default_factory=PPO)
    imitation: Imitation = field(default_factory=Imitation)
    rewards: Rewards = field(default_factory=Rewards)
    network: Network = field(default_factory=Network)
    disturbances: Disturbances = field(default_factory=Disturbances)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def record(self) -> Method:
        """The method's record."""
        return method_named(self.method)

    @property
    def replay_batch(self) -> int:
        """Replayed transitions per gradient step."""
        return self.ppo.minibatch if self.imitation.batch is None else self.imitation.batch

    @property
    def iterations(self) -> int:
        """Iterations that spend the budget."""
        return math.ceil(self.steps / (self.environments * self.rollout))

    @classmethod
    def preset(cls, name: str = "paper", **changes: Any) -> Self:
        """``paper`` or ``desk``, with ``changes`` on top (see ``override``)."""
        presets: dict[str, dict[str, Any]] = {
            "paper": {},
            "desk": {
                "steps": 3_000_000,
                "environments": 512,
                "ppo.minibatch": 2048,
                "network.precision": "bfloat16",
            },
        }
        if name not in presets:
            raise ValueError(f"unknown preset {name!r}: it must be one of {', '.join(presets)}")
        return cls._with(cls._flat(cls), {**presets[name], **changes})

    def override(self, **changes: Any) -> Self:
        """A copy with fields replaced, nested ones by dotted name: ``{"ppo.clip": 0.3}``."""
        return self._with(flatten(self), changes)

    @classmethod
    def from_flat(cls, values: dict[str, Any]) -> Self:
        """The configuration whose ``flatten`` gave ``values``."""
        return cls._with(cls._flat(cls), values)

    @staticmethod
    def _flat(kind: type) -> dict[str, Any]:
        """Every field's default by dotted name, without building (so without checking)."""
        values: dict[str, Any] = {}
        for item in dataclasses.fields(kind):
            if item.default is not dataclasses.MISSING:
                values[item.name] = item.default
            else:
                assert item.default_factory is not dataclasses.MISSING
                for name, value in flatten(item.default_factory()).items():
                    values[f"{item.name}.{name}"] = value
        return values

    @classmethod
    def _with(cls, values: dict[str, Any], changes: dict[str, Any]) -> Self:
        for name in changes:
            if name not in values:
                near = get_close_matches(name, values, n=1, cutoff=0.4)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"unknown configuration field {name!r}{hint}")
        values = {**values, **changes}
        if isinstance(values["network.hidden"], list):
            values["network.hidden"] = tuple(values["network.hidden"])
        sections = {
            item.name: item.default_factory
            for item in dataclasses.fields(cls)
            if item.default_factory is not dataclasses.MISSING
        }
        built = {
            name: kind(
                **{
                    key.removeprefix(f"{name}."): value
                    for key, value in values.items()
                    if key.startswith(f"{name}.")
                }
            )
            for name, kind in sections.items()
        }
        return cls(**built, **{key: value for key, value in values.items() if "." not in key})


def flatten(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by dotted name, nested dataclasses opened."""
    flat: dict[str, Any] = {}
    for item in dataclasses.fields(value):
        inner = getattr(value, item.name)
        if dataclasses.is_dataclass(inner):
            flat.update({f"{item.name}.{key}": x for key, x in flatten(inner).items()})
        else:
            flat[item.name] = inner
    return flat


def _check(c: Configuration) -> None:
    """Refuse what cannot be trained, naming the value and what is allowed."""
    method_named(c.method)

    def read(name: str) -> Any:
        value: Any = c
        for part in name.split("."):
            value = getattr(value, part)
        return value

    def need(ok: bool, name: str, allowed: str) -> None:
        if not ok:
            raise ValueError(f"{name} is {read(name)!r}: it must be {allowed}")

    def is_whole(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def whole(name: str, least: int, most: int | None = None) -> None:
        value = read(name)
        ok = is_whole(value) and least <= value and (most is None or value <= most)
        limit = f", {least} or more" if most is None else f" from {least} to {most}"
        need(ok, name, f"a whole number{limit}")

    def number(
        name: str, low: float, high: float = math.inf, optional: bool = False, above: bool = False
    ) -> None:
        value = read(name)
        if value is None and optional:
            return
        ok = isinstance(value, int | float) and not isinstance(value, bool)
        ok = ok and low <= value <= high and math.isfinite(value) and not (above and value == low)
        least = f"above {low:g}" if above else f"of at least {low:g}"
        limit = f"from {low:g} to {high:g}" if math.isfinite(high) else least
        need(ok, name, f"a number {limit}")

    for name in ("steps", "environments", "rollout", "ppo.epochs", "ppo.minibatch", "imitation.k"):
        whole(name, 1)
    whole("seed", 0, 2**63 - 1)
    fresh = c.environments * c.rollout
    need(
        c.ppo.minibatch <= fresh,
        "ppo.minibatch",
        f"at most environments x rollout = {c.environments} x {c.rollout} = {fresh}",
    )
    if c.imitation.batch is not None:
        whole("imitation.batch", 1)
    number("ppo.clip", 0.0, 10.0)
    number("ppo.gamma", 0.0, 1.0)
    number("ppo.gae_lambda", 0.0, 1.0)
    number("ppo.learning_rate", 0.0, above=True)
    number("ppo.gradient_clip", 0.0, optional=True, above=True)
    for name in (
        "ppo.value_coefficient",
        "ppo.entropy_coefficient",
        "imitation.coefficient",
        "imitation.value_coefficient",
        "rewards.task_scale",
        "rewards.success",
        "network.actor_gain",
        "disturbances.gradient_noise",
    ):
        number(name, 0.0)
    number("network.log_std", -20.0, 5.0)
    number("disturbances.reward_dropout", 0.0, 1.0)
    number("nonfinite_limit", 0.0, 1.0)
    number("disturbances.clip_ratio", 0.0, 10.0, optional=True)
    number("disturbances.learning_rate", 0.0, optional=True, above=True)
    hidden = c.network.hidden
    need(
        isinstance(hidden, tuple)
        and len(hidden) > 0
        and all(is_whole(x) and x > 0 for x in hidden),
        "network.hidden",
        "one or more positive layer sizes",
    )
    for name, allowed in (
        ("imitation.sampling", ("fill", "split")),
        ("network.precision", ("float32", "bfloat16")),
    ):
        need(read(name) in allowed, name, " or ".join(allowed))
    for name in (
        "stagger",
        "imitation.scale_gap",
        "imitation.half_precision",
        "rewards.fixed_target_bonus",
    ):
        need(isinstance(read(name), bool), name, "True or False")
