"""A window on one world, MuJoCo's own viewer. Nothing of it is imported before it opens."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import mujoco
from torch import Tensor

from tsil.mt15.render import CAMERA, WorldView

if TYPE_CHECKING:
    from tsil.mt15.environment import MT15Environment


class Window:
    """Shows worlds of an environment, one at a time, until it is closed here or by its user."""

    def __init__(self, environment: MT15Environment) -> None:
        if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
            raise OSError(
                "there is no screen to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is "
                "set); pictures can be had without one"
            )
        from mujoco import viewer

        self._view = WorldView(environment)
        self._view.take(0)
        self._window = viewer.launch_passive(
            self._view.model, self._view.data, show_left_ui=False, show_right_ui=False
        )
        with self._window.lock():
            self._window.cam.type = mujoco.mjtCamera.mjCAMERA_FIXED
            self._window.cam.fixedcamid = self._view.model.camera(CAMERA).id
            self._window.opt.sitegroup[:] = 0

    @property
    def is_open(self) -> bool:
        """False once its user has closed it."""
        return bool(self._window.is_running())

    def show(self, world: int = 0, positions: Tensor | None = None) -> None:
        """Show ``world`` as it is now, or with the given joint ``positions``."""
        with self._window.lock():
            self._view.take(world, positions)
            self._window.user_scn.ngeom = 0
            self._view.mark_target(self._window.user_scn, world)
        self._window.sync()

    def close(self) -> None:
        """Close the window."""
        self._window.close()
