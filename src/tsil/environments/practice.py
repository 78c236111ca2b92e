"""The practice environment: a hand in a plane, a goal, and a staging area that pays too well.

Whoever wrote this reward had careful docking in mind: first into a staging area beside the goal,
then to the goal. So the dense reward pays a little for nearing the goal and a lot for being in
the staging area, as shaped rewards often do for a pre-grasp or pre-insert pose. Nothing requires
the staging area, though: the straight line to the goal succeeds, and is the quickest way.

That leaves a policy three things to do, and which of them pays best depends on the method:
waiting in the staging area (worth more than a success bonus of 100 if it may go on for ever), a
detour through it (best while the bonus does not fall with time), and the straight line (best
once it does).

The dynamics are a few lines of torch, the same on every device, and draw nothing after ``reset``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.linalg import vector_norm

from tsil.method.environment import Step


@dataclass(frozen=True, slots=True)
class PracticeSettings:
    """Every constant of the practice environment."""

    horizon: int = 100
    """Control steps after which an episode times out."""
    interval: float = 1 / 60
    """Seconds between two control steps."""
    stride: float = 0.01
    """Metres that an action of 1 moves the hand along its axis in one step."""
    workspace: float = 0.6
    """Metres from the origin, along each axis, within which the hand is kept."""
    goal_spread: float = 0.1
    """Metres from the origin, along each axis, within which goals are drawn."""
    goal_radius: float = 0.03
    """Metres from the goal within which the hand has arrived."""
    start_distance: tuple[float, float] = (0.25, 0.40)
    """Metres from the goal at which the hand starts, drawn uniformly, in any direction."""
    staging_distance: tuple[float, float] = (0.13, 0.14)
    """Metres from the goal at which the staging area has its centre, drawn uniformly."""
    staging_bearing: tuple[float, float] = (math.radians(55), math.radians(85))
    """Angle at the goal between start and staging area, drawn uniformly, to either side."""
    staging_radius: float = 0.11
    """Metres from its centre at which the staging area pays half."""
    staging_edge: float = 0.02
    """Metres over which its pay fades: the scale of the logistic function."""
    staging_pay: float = 9.0
    """Dense reward inside the staging area, on top of the approach pay."""
    approach_pay: float = 1.0
    """Dense reward at the goal; it decays with the distance from it."""
    approach_reach: float = 0.4
    """Metres over which the approach pay falls by a factor of e."""
    arrival_reward: float = 10.0
    """Task reward of the step that arrives: the top of the dense scale."""


class PracticeEnvironment:
    """n planar hands; each keeps a start, a goal and a staging area of its own across episodes.

    The action, 2 numbers in [-1, 1], displaces the hand. The observation, 8 numbers in metres, is
    the hand (x, y), goal - hand, staging centre - hand, and the lengths of these two differences.
    """

    action_size = 2
    observation_size = 8

    hand: Tensor
    """(n, 2) metres."""
    start: Tensor
    """(n, 2) metres: where every episode of a world begins."""
    goal: Tensor
    """(n, 2) metres."""
    staging: Tensor
    """(n, 2) metres: centre of the staging area."""
    remaining: Tensor
    """(n,) int64: control steps until the running episode times out."""

    _STATE = ("hand", "start", "goal", "staging", "remaining")

    def __init__(
        self,
        num_environments: int,
        settings: PracticeSettings | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        if num_environments < 1:
            raise ValueError(f"num_environments is {num_environments}; it must be at least 1.")
        self.settings = settings or PracticeSettings()
        if self.settings.horizon < 1:
            raise ValueError(f"horizon is {self.settings.horizon}; it must be at least 1.")
        self.num_environments = num_environments
        self.horizon = self.settings.horizon
        self.interval = self.settings.interval
        self.device = torch.device(device)

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        """Draw start, goal and staging area of every world; returns the observation, (n, 8)."""
        s, n = self.settings, self.num_environments
        # Drawn on the CPU, so that one seed means the same worlds on every device.
        generator = torch.Generator().manual_seed(seed)

        def uniform(low: float, high: float) -> Tensor:
            return low + (high - low) * torch.rand(n, generator=generator)

        def polar(radius: Tensor, angle: Tensor) -> Tensor:
            return radius[:, None] * torch.stack((angle.cos(), angle.sin()), dim=1)

        goal = s.goal_spread * (2 * torch.rand(n, 2, generator=generator) - 1)
        direction = uniform(-math.pi, math.pi)
        side = 2 * torch.randint(2, (n,), generator=generator) - 1
        bearing = direction + side * uniform(*s.staging_bearing)
        self.goal = goal.to(self.device)
        self.start = (goal + polar(uniform(*s.start_distance), direction)).to(self.device)
        self.staging = (goal + polar(uniform(*s.staging_distance), bearing)).to(self.device)

        self.hand = self.start.clone()
        self.remaining = torch.full((n,), self.horizon, device=self.device)
        if used is not None:
            self.remaining -= used.to(self.device)
        return self._observe(self.hand)

    def step(self, action: Tensor) -> Step:
        """Displace every hand by ``action``, (n, 2), and start finished episodes again."""
        s = self.settings
        hand = self.hand + s.stride * action.clamp(-1, 1)
        hand.clamp_(-s.workspace, s.workspace)
        final_observation = self._observe(hand)
        to_goal, to_staging = final_observation[:, 6], final_observation[:, 7]

        reward = s.approach_pay * torch.exp(-to_goal / s.approach_reach)
        reward += s.staging_pay * torch.sigmoid((s.staging_radius - to_staging) / s.staging_edge)
        success = to_goal <= s.goal_radius
        reward.masked_fill_(success, s.arrival_reward)

        self.remaining -= 1
        timeout = (self.remaining <= 0) & ~success
        ended = success | timeout
        self.remaining.masked_fill_(ended, self.horizon)
        self.hand = torch.where(ended[:, None], self.start, hand)
        return Step(
            observation=self._observe(self.hand),
            final_observation=final_observation,
            task_reward=reward,
            success=success,
            timeout=timeout,
        )

    def _observe(self, hand: Tensor) -> Tensor:
        """Observation, (n, 8), of ``hand``, (n, 2)."""
        to_goal, to_staging = self.goal - hand, self.staging - hand
        lengths = (vector_norm(to, dim=1, keepdim=True) for to in (to_goal, to_staging))
        return torch.cat((hand, to_goal, to_staging, *lengths), dim=1)

    def state(self) -> dict[str, Tensor]:
        """Copies of the five tensors that are the worlds."""
        return {name: getattr(self, name).clone() for name in self._STATE}

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        """Go back to a ``state`` of as many worlds; returns the observation, (n, 8)."""
        if set(state) != set(self._STATE):
            raise ValueError(
                f"The state holds {', '.join(sorted(state)) or 'nothing'}; "
                f"a practice environment's holds {', '.join(sorted(self._STATE))}."
            )
        worlds = len(state["hand"])
        if worlds != self.num_environments:
            raise ValueError(
                f"The state is one of {worlds} worlds; this environment has "
                f"{self.num_environments}."
            )
        for name in self._STATE:
            setattr(self, name, state[name].to(self.device, copy=True))
        return self._observe(self.hand)

    def render(self, world: int, width: int, height: int) -> NDArray[np.uint8]:
        """A picture of one world from above: (height, width, 3)."""
        from tsil.environments.practice_picture import picture

        return picture(self, world, width, height)

    def counters(self) -> dict[str, int]:
        """Nothing happens here that would need counting."""
        return {}

    def close(self) -> None:
        """Nothing to give back."""
