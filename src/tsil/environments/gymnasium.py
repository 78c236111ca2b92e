"""Any ``gymnasium.vector.VectorEnv`` as an environment of the method.

    worlds = gymnasium.make_vec("MountainCarContinuous-v0", num_envs=64)
    environment = GymnasiumEnvironment(worlds, success=lambda step: step.terminated)

What Gymnasium means by an episode and what the method means by one differ in four places.

Ends: success and the horizon end an episode of the method whether or not the environment goes
on. Where worlds can be reset one at a time (``SyncVectorEnv``, ``AsyncVectorEnv``, and whatever
has its autoreset disabled), such a world is reset at once. Elsewhere it idles: its steps are
invalid until the environment ends the episode itself, and counted as ``idle_steps``.

Kinds of end: a truncation is a timeout; a termination without success (a fall) is a failure,
after which there is nothing to bootstrap.

Resets: all autoreset modes give the same transitions. Where a world spends a step on its reset,
as it does in the next-step mode, that step is invalid.

Configurations: Gymnasium worlds usually redraw theirs at each reset; the method wants each world
to keep one. With ``keep_configuration``, every episode of a world starts from the world's own
seed, which also repeats whatever the environment draws during the episode. Without it, resets
are left to the environment; unless that keeps configurations itself, a world's temporal target
is then the fastest success over all the configurations that it met.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray
from torch import Tensor

from tsil.environments.success import SuccessRule, VectorStep, named, usual
from tsil.environments.traits import autoreset_mode, bounded, box, positive, time_limit
from tsil.method.environment import Step


class GymnasiumEnvironment:
    """The n worlds of a vector environment, with Box observations and bounded Box actions.

    Observations are flattened; actions in [-1, 1] are scaled to the bounds of the action space.
    The horizon is counted here; a time limit of the environment's own that strikes earlier is a
    timeout as well.
    """

    resumable = False
    """A vector environment cannot be saved amid its episodes: ``restore`` begins new ones, and
    whoever keeps a record of the old ones has to drop it."""

    def __init__(
        self,
        vector: VectorEnv[Any, Any, Any],
        *,
        success: str | SuccessRule | None = None,
        horizon: int | None = None,
        interval: float | None = None,
        keep_configuration: bool = True,
        device: torch.device | str = "cpu",
    ) -> None:
        """Wrap ``vector``, which is from then on stepped, reset and closed here only.

        success: the key of ``info`` that tells, or a function of the ``VectorStep``; by default
        the key is "success" or "is_success". horizon: control steps, by default the time limit
        of the environment's spec. interval: seconds, by default 1 / its ``render_fps``.
        """
        self.vector = vector
        self.device = torch.device(device)
        self.num_environments = vector.num_envs
        self.observation_size = prod(box(vector.single_observation_space, "Observations").shape)
        self._actions = bounded(box(vector.single_action_space, "Actions"))
        self.action_size = prod(self._actions.shape)
        low, high = self._actions.low.reshape(-1), self._actions.high.reshape(-1)
        self._middle = torch.from_numpy((low + high) / 2).to(self.device, torch.float32)
        self._reach = torch.from_numpy((high - low) / 2).to(self.device, torch.float32)

        fps = vector.metadata.get("render_fps")
        self.horizon = positive("horizon", horizon, time_limit(vector))
        self.interval = positive("interval", interval, 1 / fps if fps else None)

        self._mode = autoreset_mode(vector)
        # Only these take a seed, and a reset, for each world by itself in every mode.
        self._seeds_each = isinstance(vector.unwrapped, SyncVectorEnv | AsyncVectorEnv)
        self._resets_each = self._seeds_each or self._mode is AutoresetMode.DISABLED
        self._keeps = keep_configuration
        if keep_configuration and not self._seeds_each:
            raise ValueError(
                f"{vector} takes one seed for all its worlds, so that none of them can be given "
                f"its configuration again; pass keep_configuration=False, or use a SyncVectorEnv "
                f"or AsyncVectorEnv."
            )
        self._success: SuccessRule = (
            named(success) if isinstance(success, str) else success or usual
        )

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        """Start an episode in every world, from seeds drawn from ``seed``.

        ``used`` is left aside where worlds cannot be reset one at a time: there it would make
        them idle, and their clocks run together again.
        """
        self._seed, self._restarts = seed, 0
        observation = self._start()
        if used is not None and self._resets_each:
            self._limit -= used.cpu().numpy()
        return observation

    def _start(self) -> Tensor:
        n = self.num_environments
        # Kept configurations outlive a restart; redrawn ones must not repeat the past.
        source = np.random.default_rng((self._seed, 0 if self._keeps else self._restarts))
        # Seeds that are drawn: Gymnasium's own rule, seed + i, makes neighbouring seeds share
        # configurations, those of an evaluation with those of the training.
        self._seeds = [int(seed) for seed in source.integers(2**31, size=n)]
        """One a world."""
        self._elapsed = np.zeros(n, np.int64)
        """(n,) steps of the running episode."""
        self._limit = np.full(n, self.horizon)
        """(n,) steps after which it times out."""
        self._idle = np.zeros(n, np.int64)
        """(n,) steps that the environment has gone on after the episode was over."""
        self._resetting = np.zeros(n, bool)
        """(n,) whether the next step is the world's own reset."""
        self._idle_steps = 0
        seed: Any = self._seeds if self._seeds_each else self._seeds[0]
        return self._matrix(self.vector.reset(seed=seed)[0])

    def step(self, action: Tensor) -> Step:
        """Advance every world by one control step under ``action``, (n, action_size)."""
        observation, told = self._step_worlds(action)
        valid = (self._idle == 0) & ~self._resetting
        success = valid & self._successes(told)
        self._elapsed += valid
        over = valid & (success | told.ended | (self._elapsed >= self._limit))
        failure = over & told.terminated & ~success
        self._elapsed[over] = 0
        self._limit[over] = self.horizon

        current = self._matrix(observation)
        final = current if told.observation is observation else self._matrix(told.observation)
        # Worlds to reset here: those whose episode is over and that do not begin the right one
        # of their own accord.
        reset = over & self._resets_each
        if not self._keeps and self._mode is not AutoresetMode.DISABLED:
            reset &= ~told.ended
        if reset.any():
            # The environment may return the same array from every call.
            current, final = current.clone(), final.clone()
            mask = self._flags(reset)
            current[mask] = self._reset_some(reset)[mask]
        self._settle(over, told.ended, reset)
        return Step(
            observation=current,
            final_observation=final,
            task_reward=self._matrix(np.where(valid, told.reward, 0)).squeeze(1),
            success=self._flags(success),
            timeout=self._flags(over & ~success & ~failure),
            failure=self._flags(failure),
            valid=None if valid.all() else self._flags(valid),
        )

    def _step_worlds(self, action: Tensor) -> tuple[NDArray[Any], VectorStep]:
        """The observations that the vector environment returned, and all that it told."""
        space = self._actions
        scaled = self._middle + self._reach * action.detach()
        shaped = scaled.cpu().numpy().astype(space.dtype).reshape(-1, *space.shape)
        # Clipped after the scaling, because rounding can put an action of 1 just outside.
        observation, reward, terminated, truncated, info = self.vector.step(
            np.clip(shaped, space.low, space.high)
        )
        same_step = self._mode is AutoresetMode.SAME_STEP
        ended = terminated | truncated
        final = observation
        if same_step and ended.any():
            if "final_obs" not in info:
                raise ValueError(
                    f"{self.vector} resets in the same step but gives no info['final_obs'], and "
                    f"without it the value of a cut episode cannot be told."
                )
            final = np.array(observation)
            final[ended] = np.stack(list(info["final_obs"][ended]))
        return observation, VectorStep(final, reward, terminated, truncated, info, same_step)

    def _successes(self, told: VectorStep) -> NDArray[np.bool_]:
        success = np.asarray(self._success(told))
        if success.shape != (self.num_environments,):
            raise ValueError(
                f"The success of a step has shape {success.shape}; it must be one truth a world, "
                f"({self.num_environments},)."
            )
        return success.astype(bool)

    def _reset_some(self, reset: NDArray[np.bool_]) -> Tensor:
        """Reset some worlds, (n,) bool; returns observations, (n, observation_size)."""
        seeds: Any = self._seeds if self._keeps else None
        return self._matrix(self.vector.reset(seed=seeds, options={"reset_mask": reset.copy()})[0])

    def _settle(
        self, over: NDArray[np.bool_], ended: NDArray[np.bool_], reset: NDArray[np.bool_]
    ) -> None:
        """Note which worlds' next steps are no transitions; all arguments (n,) bool."""
        self._idle_steps += int((self._idle > 0).sum())
        idle = (over | (self._idle > 0)) & ~ended & ~reset
        self._idle = (self._idle + 1) * idle
        self._resetting = ended & ~reset & (self._mode is AutoresetMode.NEXT_STEP)
        if (self._idle > self.horizon).any():
            raise RuntimeError(
                f"World {int(self._idle.argmax())} of {self.vector} has gone on for more than "
                f"{self.horizon} steps after its episode was over, and cannot be reset by itself; "
                f"let the environment end its episodes on success and after {self.horizon} "
                f"steps, or disable its autoreset."
            )

    def _matrix(self, values: NDArray[Any]) -> Tensor:
        """(n, …) as float32 (n, -1) on the device, without a copy where none is needed."""
        flat = np.asarray(values, np.float32).reshape(self.num_environments, -1)
        return torch.from_numpy(flat).to(self.device)

    def _flags(self, values: NDArray[np.bool_]) -> Tensor:
        return torch.from_numpy(values).to(self.device)

    def state(self) -> dict[str, Tensor]:
        """What the configurations are drawn from; not the episodes, see ``resumable``."""
        return {
            "worlds": torch.tensor(self.num_environments),
            "seed": torch.tensor(self._seed),
            "restarts": torch.tensor(self._restarts),
        }

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        """Begin a new episode in every world, in its kept configuration if it keeps one."""
        if int(state["worlds"]) != self.num_environments:
            raise ValueError(
                f"The state is one of {int(state['worlds'])} worlds; this environment has "
                f"{self.num_environments}."
            )
        self._seed, self._restarts = int(state["seed"]), int(state["restarts"]) + 1
        return self._start()

    def counters(self) -> dict[str, int]:
        """``idle_steps`` of worlds that could not be reset, and ``restarts`` by ``restore``."""
        return {"idle_steps": self._idle_steps, "restarts": self._restarts}

    def close(self) -> None:
        """Close the vector environment."""
        self.vector.close()
