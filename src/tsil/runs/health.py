"""What somebody should be told while training."""

from __future__ import annotations

import math

from tsil.method.learner import Record

LOSSES = ("surrogate_loss", "value_loss", "imitation_policy_loss", "imitation_value_loss")


def warnings(record: Record, counters: dict[str, int]) -> list[str]:
    """One sentence for each thing that is wrong."""
    found = [
        f"{name} is not a number: the policy is lost, try a smaller --ppo.learning-rate"
        for name in LOSSES
        if not math.isfinite(getattr(record, name))
    ]
    for name, what in (("dropped", "episodes given up"), ("skipped", "gradient steps left out")):
        if count := getattr(record, name):
            found.append(f"{count} {what} so far because a number was not finite")
    found += [f"{name}: {count} times so far" for name, count in counters.items() if count]
    if record.kl > 0.5:
        found.append(f"KL is {record.kl:.2f} in one iteration: updates are too large")
    if record.action_std < 0.02:
        found.append(f"action noise is down to {record.action_std:.3f}: exploration has stopped")
    return found
