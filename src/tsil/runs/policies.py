"""Policy files: weights and normalizers, with what is needed to rebuild the networks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

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
    shape = dict(facts["shape"])
    network = shape.pop("network")
    policy = Policy(**shape, network=Network(**{**network, "hidden": tuple(network["hidden"])}))
    policy.load_state_dict(tensors)
    return policy, facts
