"""One world of MT15 as a ``gymnasium.Env``."""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tsil.mt15 import make
from tsil.mt15.gymnasium_spaces import RENDER_FPS, action_space, observation_space
from tsil.mt15.window import Window

Array = NDArray[Any]
SEEDS = 2**31
RENDER_MODES = ("rgb_array", "human")


class MT15Env(gymnasium.Env[Array, Array]):
    """A task of MT15; every ``reset`` draws a configuration, the same for the same seed.

    An episode terminates on success, told by ``info["success"]`` as well, and is truncated after
    150 steps. The reward is the task's dense one, 0 to 10.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self, task: str, render_mode: str | None = None, width: int = 640, height: int = 480
    ) -> None:
        """width, height: of pictures, in pixels."""
        if render_mode is not None and render_mode not in RENDER_MODES:
            allowed = " or ".join(repr(mode) for mode in RENDER_MODES)
            raise ValueError(f"render_mode is {render_mode!r}; it must be {allowed}, or None.")
        self.environment = make(task, 1, threads=1)
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = action_space()
        self._size = (width, height)
        self._window: Window | None = None
        self._shown_at = 0.0
        self._closed = False
        # The world of an ended episode has begun anew by itself; what is shown until ``reset`` is
        # the moment before its last step. (number of joint coordinates,), metres and radians.
        self._last: Tensor | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Draw a configuration and start an episode."""
        super().reset(seed=seed)
        observation = self.environment.reset(int(self.np_random.integers(SEEDS)))
        self._last = None
        if self.render_mode == "human":
            self._show()
        return observation[0].numpy().copy(), {"success": False}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Advance by one control step under ``action``, (4,)."""
        before = self.environment.engine.field("qpos")[0].clone()
        step = self.environment.step(torch.from_numpy(np.asarray(action, np.float32))[None])
        success, timeout = bool(step.success[0]), bool(step.timeout[0])
        self._last = before if success or timeout else None
        if self.render_mode == "human":
            self._show()
        return (
            step.final_observation[0].numpy().copy(),
            float(step.task_reward[0]),
            success,
            timeout,
            {"success": success},
        )

    def render(self) -> NDArray[np.uint8] | None:
        """A picture, (height, width, 3), in the mode ``rgb_array``; a window shows itself."""
        if self.render_mode == "rgb_array":
            return self.environment.render(0, *self._size, positions=self._last)
        return None

    def close(self) -> None:
        """Close the window and give back the drawing context."""
        if self._window is not None:
            self._window.close()
            self._window = None
        if not self._closed:
            self._closed = True
            self.environment.close()

    def _show(self) -> None:
        """Bring the window up to date, no faster than the world goes."""
        if self._window is None:
            self._window = Window(self.environment)
        self._window.show(0, self._last)
        time.sleep(max(0.0, self._shown_at + 1 / RENDER_FPS - time.monotonic()))
        self._shown_at = time.monotonic()
