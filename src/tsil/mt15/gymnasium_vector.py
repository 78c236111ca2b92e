"""Many worlds of MT15 as a ``gymnasium.vector.VectorEnv``."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray
from torch import Tensor

from tsil.mt15 import make
from tsil.mt15.environment import HORIZON
from tsil.mt15.gymnasium_spaces import RENDER_FPS, action_space, observation_space

Array = NDArray[Any]
SEEDS = 2**31


class MT15VectorEnv(VectorEnv[Array, Array, Array]):
    """A task of MT15 in ``num_envs`` worlds, stepped together.

    Episodes terminate on success and are truncated after 150 steps. A world that has ended starts
    again in the same step, in its own configuration, which only ``reset`` draws anew; the end is
    in ``info["final_obs"]``. ``info["success"]``, (num_envs,), tells which worlds have just done
    their task.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array"],
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        task: str,
        render_mode: str | None = None,
        width: int = 320,
        height: int = 240,
        threads: int | None = None,
        max_episode_steps: int = HORIZON,
    ) -> None:
        """threads: for the physics; without, every processor this process may use."""
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode is {render_mode!r}; it must be 'rgb_array' or None.")
        if max_episode_steps != HORIZON:
            raise ValueError(
                f"max_episode_steps is {max_episode_steps}; episodes of MT15 take {HORIZON} steps, "
                f"which is all that is allowed."
            )
        self.environment = make(task, num_envs, threads)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space = observation_space()
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._size = (width, height)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Draw a configuration for every world from ``seed`` and start its first episode."""
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(SEEDS))
        return _array(self.environment.reset(seed)), {"success": np.zeros(self.num_envs, bool)}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Advance every world by one control step under ``actions``, (num_envs, 4)."""
        given = torch.from_numpy(np.asarray(actions, np.float32))
        step = self.environment.step(given.to(self.environment.device))
        success, timeout = _array(step.success), _array(step.timeout)
        ended = success | timeout
        info: dict[str, Any] = {"success": success.copy()}
        if ended.any():
            info["final_obs"] = _array(step.final_observation)
            info["final_info"] = {"success": success.copy(), "_success": ended.copy()}
            info["_final_obs"] = info["_final_info"] = ended
        return _array(step.observation), _array(step.task_reward), success, timeout, info

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture, (height, width, 3), of each world."""
        if self.render_mode is None:
            return None
        return tuple(self.environment.render(world, *self._size) for world in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Give back threads and the drawing context."""
        self.environment.close()


def _array(values: Tensor) -> Array:
    """A copy as NumPy: the environment overwrites its tensors at the next step."""
    return values.cpu().numpy().copy()
