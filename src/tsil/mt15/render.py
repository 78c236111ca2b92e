"""Pictures of chosen worlds of an MT15 environment, drawn off screen."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tsil.mt15.graphics import offscreen_context
from tsil.mt15.scene import compile_scene

if TYPE_CHECKING:
    from tsil.mt15.environment import MT15Environment

CAMERA = "work"
LARGEST = 4096
"""Pixels, in width and in height."""
MOST_SHAPES = 2000
MARKER = (0.90, 0.15, 0.65, 0.35)
"""Colour of the ball that shows the target."""
MARKER_RADIUS = 0.025
"""Metres."""
PLACES = ("body_pos", "body_quat")
"""Model fields that differ from world to world."""


class WorldView:
    """One model and state to look at, taken from any world of an environment."""

    def __init__(self, environment: MT15Environment) -> None:
        self._environment = environment
        self.model = compile_scene(environment.task.scene, visual=True)
        self.data = mujoco.MjData(self.model)

    def take(self, world: int, positions: Tensor | None = None) -> None:
        """Bring model and state to the present moment of ``world``.

        positions: (number of joint coordinates,), metres and radians, to show instead of its own.
        """
        environment = self._environment
        number = environment.num_environments
        if not 0 <= world < number:
            nearest = min(max(world, 0), number - 1)
            raise ValueError(
                f"world is {world}; it must be from 0 to {number - 1}, the nearest is {nearest}."
            )
        engine = environment.engine
        shown = engine.field("qpos")[world] if positions is None else positions
        self.data.qpos[:] = shown.cpu().numpy()
        for name in PLACES:
            getattr(self.model, name)[:] = engine.model_field(name)[world].cpu().numpy()
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def mark_target(self, scene: Any, world: int) -> None:
        """Add the target of ``world`` to what ``scene`` shows, as a translucent ball."""
        marker = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(
            marker,
            mujoco.mjtGeom.mjGEOM_SPHERE,
            np.full(3, MARKER_RADIUS),
            self._environment.named_positions.target[world].cpu().numpy().astype(np.float64),
            np.eye(3).ravel(),
            np.array(MARKER, np.float32),
        )
        marker.category = mujoco.mjtCatBit.mjCAT_DECOR  # casts no shadow
        marker.transparent = 1
        marker.emission = 0.2
        scene.ngeom += 1


class Renderer:
    """Draws worlds of one environment; all pictures share one context.

    A context belongs to the thread that made it: draw from one thread only.
    """

    def __init__(self, environment: MT15Environment) -> None:
        self._view = view = WorldView(environment)
        self._scene = mujoco.MjvScene(view.model, MOST_SHAPES)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = True
        self._options = mujoco.MjvOption()
        self._options.sitegroup[:] = 0
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = view.model.camera(CAMERA).id
        self._size = (0, 0)
        self._gl: Any = None
        self._context: Any = None
        self._free: Callable[[], object] = lambda: None

    def render(
        self, world: int, width: int, height: int, positions: Tensor | None = None
    ) -> NDArray[np.uint8]:
        """A picture of ``world`` as it is now, or with ``positions``; (height, width, 3)."""
        self._resize(width, height)
        self._view.take(world, positions)
        scene = self._scene
        mujoco.mjv_updateScene(
            self._view.model,
            self._view.data,
            self._options,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            scene,
        )
        self._view.mark_target(scene, world)
        picture = np.empty((height, width, 3), np.uint8)
        area = mujoco.MjrRect(0, 0, width, height)
        self._gl.make_current()
        mujoco.mjr_render(area, scene, self._context)
        mujoco.mjr_readPixels(picture, None, area, self._context)
        return np.ascontiguousarray(picture[::-1])  # OpenGL counts rows from below

    def close(self) -> None:
        """Give back the context; the next picture makes another."""
        self._free()
        self._gl = self._context = None
        self._size = (0, 0)

    def _resize(self, width: int, height: int) -> None:
        """Have a buffer of exactly that size: smoothing costs by the buffer, not by the picture."""
        for name, pixels in (("width", width), ("height", height)):
            if not 1 <= pixels <= LARGEST:
                nearest = min(max(pixels, 1), LARGEST)
                raise ValueError(
                    f"{name} is {pixels}; it must be from 1 to {LARGEST} pixels, the nearest is "
                    f"{nearest}."
                )
        if self._size == (width, height):
            return
        self.close()
        self._refine(width, height)
        self._gl = offscreen_context(width, height)
        self._context = mujoco.MjrContext(self._view.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        # Drivers want this done before Python's own end, also by who forgets to close.
        self._free = weakref.finalize(self, _free, self._gl, self._context)
        self._size = (width, height)

    def _refine(self, width: int, height: int) -> None:
        """Shadows and round shapes as fine as the pixels: on a processor they take the time."""
        visual = self._view.model.vis
        visual.global_.offwidth, visual.global_.offheight = width, height
        visual.quality.shadowsize = min(max(2 ** round(math.log2(4 * width)), 512), 4096)
        visual.quality.numslices = min(max(width // 20, 16), 40)
        visual.quality.numstacks = visual.quality.numslices // 2


def _free(gl: Any, context: Any) -> None:
    try:
        gl.make_current()
    except Exception:  # at Python's end the driver may have gone first, and all of this with it
        return
    context.free()
    gl.free()
