"""One run: every subject in turn, again and again; medians, shares and ratios."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from tsil.benchmark.machine import load, machine
from tsil.benchmark.process import HERE, Subject, Worker
from tsil.method.configuration import Configuration, flatten

PLAIN = "fttl"
"""The method that stands for plain PPO: it sees what TSIL sees and remembers nothing."""

RATIOS = {
    "environment_over_physics": ("environment", "physics", 0.85),
    "tsil_over_physics": ("tsil", "physics", 0.20),
    "tsil_over_ppo": ("tsil", "ppo", 0.80),
    "tsil_over_sb3_ppo": ("tsil", "sb3_ppo", 1.5),
    "tsil_over_rsl_rl_ppo": ("tsil", "rsl_rl_ppo", 1.5),
    "environment_over_metaworld_async": ("environment", "metaworld_async", 6.0),
}
"""Steps a second of the one over those of the other, and what we want that to be at least."""
MEMORY_RATIO = ("memory_over_padded", 0.25)
"""Bytes of the memory over those of a padded float32 one, and what we want that to be at most."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to measure."""

    task: str
    worlds: int
    repeats: int
    threads: int
    profile: bool
    peers: bool


def subjects(request: Request) -> list[Subject]:
    """Ours, from the physics up."""
    task, worlds = request.task, request.worlds
    simulation, learning = HERE / "simulation.py", HERE / "learning.py"

    def training(method: str, part: str) -> dict[str, Any]:
        settings = flatten(configuration(worlds, method))
        return {"task": task, "worlds": worlds, "part": part, "configuration": settings}

    return [
        *(
            Subject(part, simulation, {"task": task, "worlds": worlds, "part": part})
            for part in ("physics", "environment")
        ),
        Subject("inference", learning, training("tsil", "inference")),
        Subject("ppo", learning, training(PLAIN, "training")),
        Subject("tsil", learning, training("tsil", "training")),
    ]


def configuration(worlds: int, method: str) -> Configuration:
    """The desk preset for so many worlds."""
    desk = Configuration.preset("desk")
    minibatch = min(desk.ppo.minibatch, max(1, worlds * desk.rollout // 4))
    return desk.override(method=method, environments=worlds, **{"ppo.minibatch": minibatch})


def measure(request: Request, tell: Callable[[str], None]) -> dict[str, Any]:
    """Everything ``tsil bench --json`` prints. ``tell`` hears what is going on."""
    before, chosen = load(), subjects(request)
    settings = configuration(request.worlds, "tsil")
    if request.peers:
        from tsil.benchmark.peers import peers

        chosen += peers(
            request.task, request.worlds, settings.rollout, settings.ppo.epochs,
            settings.ppo.minibatch,
        )  # fmt: skip
    result: dict[str, Any] = {
        "machine": machine(request.threads),
        "task": request.task,
        "worlds": request.worlds,
        "minibatch": settings.ppo.minibatch,
    }
    with ExitStack() as stack:
        workers = {}
        for subject in chosen:
            tell(f"warming up: {subject.name}")
            worker = stack.enter_context(Worker(subject, request.threads))
            worker.wait_ready()
            workers[subject.name] = worker
        answers: dict[str, list[dict[str, Any]]] = {name: [] for name in workers}
        for repeat in range(request.repeats):
            tell(f"measuring: {repeat + 1} of {request.repeats}")
            for name, worker in workers.items():
                answers[name].append(worker.order("repeat"))
        result["measured"] = {name: summary(a) for name, a in answers.items()}
        for name in ("sb3_ppo", "rsl_rl_ppo", "metaworld_async"):
            if name in workers:
                result["measured"][name]["settings"] = workers[name].order("settings")["value"]
        record = workers["tsil"].order("record")["value"]
        result["replay"] = {
            name: record[name]
            for name in ("memory_successes", "memory_fallback", "positive_gap_share")
        }
        result["parts"] = workers["tsil"].order("parts")["value"]
        if request.profile:
            result["operators"] = workers["tsil"].order("operators")["value"]
    tell("weighing the memory")
    with Worker(Subject("memory", HERE / "memory.py", {}), request.threads) as worker:
        worker.wait_ready()
        result["memory"] = worker.order("weigh")["value"]
    result["machine"]["load_before"], result["machine"]["load_after"] = before, load()
    result.update(ratios(result))
    return result


def summary(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Steps a second on the clock and processor seconds a step: medians, and every repeat."""
    rates = [answer["value"] / answer["seconds"] for answer in answers]
    costs = [answer["processor_seconds"] / answer["value"] for answer in answers]
    return {
        "steps_per_second": median(rates),
        "processor_microseconds_per_step": median(costs) * 1e6,
        "repeats": rates,
    }


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """The ratios that what was measured allows: medians over repeats that ran side by side."""
    measured, found = result["measured"], {}
    for key, (ours, theirs, _) in RATIOS.items():
        if theirs in measured:
            pairs = zip(measured[ours]["repeats"], measured[theirs]["repeats"], strict=True)
            found[key] = median(a / b for a, b in pairs)
    memory = result["memory"]
    found[MEMORY_RATIO[0]] = memory["memory_bytes"] / memory["padded_bytes"]
    return found
