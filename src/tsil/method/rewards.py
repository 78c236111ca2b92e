"""What an action earned: the dense task reward and the success reward of Eq. 2."""

from __future__ import annotations

import torch
from torch import Tensor

from tsil.method.configuration import Rewards
from tsil.method.methods import Method


def success_reward(
    completion: Tensor, target: Tensor, success_scale: float, temporal: bool
) -> Tensor:
    """r_succ of a success after ``completion`` seconds under target D (Eq. 2).

    With ``temporal`` off it is the plain bonus, the same at any time.
    """
    if not temporal:
        return torch.full_like(completion, success_scale)
    return success_scale * (1.0 + (target / completion).clamp(max=1.0))


def has_temporal_bonus(method: Method, rewards: Rewards) -> bool:
    """Whether successes earn the second half of Eq. 2."""
    if method.target == "fixed":
        return rewards.fixed_target_bonus
    return method.target == "adaptive"


def task_scale(method: Method, rewards: Rewards, progress: float) -> float:
    """Scale of the dense reward when a share ``progress`` of the budget is spent.

    It may exceed 1: whoever trains on past the budget keeps the reward that the method has.
    """
    if progress >= method.dense_until:
        return 0.0
    return rewards.task_scale if method.task_scale is None else method.task_scale
