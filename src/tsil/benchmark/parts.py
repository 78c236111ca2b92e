"""Where the time of one training iteration goes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from torch.profiler import ProfilerActivity, profile

from tsil.method import learner as algorithm
from tsil.method.imitation import Replay
from tsil.method.learner import Learner


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an iteration, for somebody who wants it to take less."""

    name: str
    where: str
    """The function that takes the time."""
    lever: str
    """What changes how much."""


ENVIRONMENT = Part(
    "environment",
    "mt15/environment.py: step",
    "physics is most of it: substeps, contacts and joints of the task's scene; threads",
)
ACTING = Part(
    "acting", "method/rollout.py: collect", "one small forward pass a step: more worlds share it"
)
MEMORY = Part("memory", "method/memory.py: update", "observation size; episodes that end")
RETURNS = Part("values and advantages", "method/learner.py: _prepare", "one pass of the critic")
REPLAY = Part(
    "replay draws",
    "method/imitation.py: sample",
    "imitation.batch, ppo.epochs; imitation.gradient_part",
)
PPO_FORWARD = Part(
    "PPO forward", "method/ppo.py: ppo_loss", "network.hidden, network.precision, ppo.epochs"
)
IMITATION_FORWARD = Part(
    "imitation forward",
    "method/imitation.py: imitation_loss",
    "imitation.gradient_part, imitation.batch, ppo.epochs",
)
BACKWARD = Part(
    "backward and Adam",
    "method/learner.py: _step",
    "as the two above; ppo.minibatch (fewer, larger steps)",
)
REST = Part("the rest", "method/learner.py", "minibatch gathers, records")


class Stopwatch:
    """Seconds inside named functions, without what other timed functions inside them take."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inner = [0.0]

    @contextmanager
    def on(self, owner: Any, name: str, part: Part) -> Iterator[None]:
        """Time ``owner.name`` while inside."""
        inside: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            self._inner.append(0.0)
            try:
                return inside(*arguments, **named)
            finally:
                took = time.perf_counter() - start
                self.seconds[part.name] += took - self._inner.pop()
                self._inner[-1] += took

        with patch.object(owner, name, timed):
            yield


def by_part(learner: Learner) -> list[dict[str, Any]]:
    """One iteration: seconds and share of each part, in the order of Algorithm 1."""
    watch = Stopwatch()
    with ExitStack() as stack:

        def on(owner: Any, name: str, part: Part) -> None:
            stack.enter_context(watch.on(owner, name, part))

        on(learner.environment, "step", ENVIRONMENT)
        on(learner.collector, "collect", ACTING)
        if learner.memory is not None:
            on(learner.memory, "update", MEMORY)
        on(learner, "_prepare", RETURNS)
        on(learner, "_relabel", REPLAY)
        on(Replay, "sample", REPLAY)
        on(algorithm, "ppo_loss", PPO_FORWARD)
        on(algorithm, "imitation_loss", IMITATION_FORWARD)
        on(learner, "_step", BACKWARD)
        on(learner, "iterate", REST)
        learner.iterate()
    total = sum(watch.seconds.values())
    parts = (
        ENVIRONMENT, ACTING, MEMORY, RETURNS, REPLAY,
        PPO_FORWARD, IMITATION_FORWARD, BACKWARD, REST,
    )  # fmt: skip
    return [
        {
            "part": part.name,
            "seconds": watch.seconds[part.name],
            "share": watch.seconds[part.name] / total,
            "where": part.where,
            "lever": part.lever,
        }
        for part in parts
        if part.name in watch.seconds
    ]


KINDS = {
    "matrix products": ("mm", "addmm", "bmm", "matmul"),
    "LayerNorm": ("native_layer_norm", "native_layer_norm_backward"),
    "tanh": ("sigmoid_", "sigmoid", "tanh", "tanh_backward", "_CpuTanh", "_CpuTanhBackward"),
    "casts and copies": ("copy_", "cat", "clone", "fill_", "zero_"),
    "gathers": ("index", "gather", "index_put_", "_index_put_impl_", "searchsorted", "take"),
    "sums and means": ("sum", "mean", "linalg_vector_norm", "cumsum", "std", "var"),
    "random numbers": ("normal_", "randperm", "random_", "uniform_"),
    "Adam": ("_fused_adam_",),
}
"""Torch's operators, by what they are for."""


def by_operator(learner: Learner) -> list[dict[str, Any]]:
    """One iteration's torch operators by kind: seconds, share and calls, the largest first.

    The physics is not torch's and appears in ``by_part`` only.
    """
    kinds = {f"aten::{name}": kind for kind, names in KINDS.items() for name in names}
    kinds.update({name: kind for kind, names in KINDS.items() for name in names})
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        learner.iterate()
    seconds: defaultdict[str, float] = defaultdict(float)
    calls: Counter[str] = Counter()
    for row in recorded.key_averages():
        kind = kinds.get(row.key, "other operators")
        seconds[kind] += row.self_cpu_time_total * 1e-6
        calls[kind] += row.count
    total = sum(seconds.values())
    return [
        {"kind": kind, "seconds": took, "share": took / total, "calls": calls[kind]}
        for kind, took in sorted(seconds.items(), key=lambda pair: -pair[1])
    ]
