"""Policy files: weights and normalizers, with what is needed to rebuild the networks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from torch import Tensor

from tsil.method.configuration import Network
from tsil.method.policy import Policy
from tsil.runs.files import read_tensors, write_tensors


def save_policy(path: Path, policy: Policy, network: Network, **facts: object) -> None:
    """Write a policy; ``facts`` (task, steps, targets …) travel in the header."""
    shape = {
        "observation_size": policy.observation_size,
        "action_size": policy.action_size,
        "longest": policy.longest,
        "sees_time": policy.sees_time,
        "network": asdict(network),
    }
    write_tensors(path, policy.state_dict(), {"kind": "policy", "shape": shape, **facts})


def load_policy(path: Path) -> tuple[Policy, dict[str, object]]:
    """The policy in ``path`` and the facts beside it."""
    tensors, facts = read_tensors(path)
    if facts.get("kind") != "policy":
        raise ValueError(f"{path} holds a {facts.get('kind', 'different thing')}, not a policy")
    try:
        shape = dict(facts["shape"])
        network = shape.pop("network")
        settings = Network(**{**network, "hidden": tuple(network["hidden"])})
        if not (isinstance(shape["longest"], float) and shape["longest"] > 0.0):
            raise KeyError(f"a horizon of {shape['longest']!r} s")
        if settings.precision not in ("float32", "bfloat16"):
            raise KeyError(f"precision {settings.precision!r}")
        _check_sizes(tensors, shape["observation_size"], shape["action_size"], settings.hidden)
        policy = Policy(**shape, network=settings)
        policy.load_state_dict(tensors)
    except (KeyError, TypeError, RuntimeError, AttributeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path} is not a policy that tsil can build: {reason}") from None
    return policy, facts


def _check_sizes(
    tensors: dict[str, Tensor], observations: int, actions: int, hidden: tuple[int, ...]
) -> None:
    """Refuse sizes that the file's own tensors do not have, before memory is asked for."""
    for number, size in enumerate(hidden):
        if len(tensors[f"actor.linears.{number}.bias"]) != size:
            raise KeyError(f"hidden layer {number} of {size} units")
    if len(tensors["observations.mean"]) != observations:
        raise KeyError(f"{observations} observations")
    if len(tensors["log_std"]) != actions:
        raise KeyError(f"{actions} actions")


def task_of(path: Path, facts: dict[str, object]) -> str:
    """The task that a policy file says it was trained on."""
    task = facts.get("task")
    if not isinstance(task, str):
        raise ValueError(
            f"{path} was trained on an environment of your own: call tsil.evaluate with it"
        )
    return task
