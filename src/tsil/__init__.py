"""Temporal Self-Imitation Learning: PPO that remembers, times and imitates its fastest successes.

import tsil

run = tsil.train(tsil.PracticeEnvironment(512), "tsil", steps=500_000)
print(tsil.evaluate(run.policy, tsil.PracticeEnvironment(512)).summary())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tsil.gymnasium_ids import register_when_imported

if TYPE_CHECKING:
    from tsil.environments import GymnasiumEnvironment, PracticeEnvironment
    from tsil.method.configuration import Configuration
    from tsil.method.environment import Environment, Step
    from tsil.method.learner import Learner, Record
    from tsil.method.methods import METHODS, Method
    from tsil.method.policy import Policy
    from tsil.runs.evaluation import Evaluation, evaluate
    from tsil.runs.policies import load_policy, save_policy
    from tsil.runs.training import Run, train
    from tsil.tasks import TASKS, make_environment

# Imported when first asked for, so that `tsil --help` does not wait for torch, and so that the
# command line can share out the cores before NumPy and torch take them.
_HOMES = {
    "METHODS": "tsil.method.methods",
    "TASKS": "tsil.tasks",
    "Configuration": "tsil.method.configuration",
    "Environment": "tsil.method.environment",
    "Evaluation": "tsil.runs.evaluation",
    "GymnasiumEnvironment": "tsil.environments",
    "Learner": "tsil.method.learner",
    "Method": "tsil.method.methods",
    "Policy": "tsil.method.policy",
    "PracticeEnvironment": "tsil.environments",
    "Record": "tsil.method.learner",
    "Run": "tsil.runs.training",
    "Step": "tsil.method.environment",
    "evaluate": "tsil.runs.evaluation",
    "load_policy": "tsil.runs.policies",
    "make_environment": "tsil.tasks",
    "save_policy": "tsil.runs.policies",
    "train": "tsil.runs.training",
}

__all__ = [
    "METHODS",
    "TASKS",
    "Configuration",
    "Environment",
    "Evaluation",
    "GymnasiumEnvironment",
    "Learner",
    "Method",
    "Policy",
    "PracticeEnvironment",
    "Record",
    "Run",
    "Step",
    "evaluate",
    "load_policy",
    "make_environment",
    "save_policy",
    "train",
]

register_when_imported()


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tsil' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
