"""Scenes: our own MJCF files, compiled for stepping or for looking at."""

from __future__ import annotations

from importlib.resources import as_file, files

import mujoco


def compile_scene(file: str, visual: bool = False) -> mujoco.MjModel:
    """The model of a scene file in ``scenes/``.

    For stepping, shapes that only please the eye are left out, which makes it a fifth faster. The
    model for looking at has the same bodies, joints, sites and actuators, so states carry over.
    """
    with as_file(files("tsil.mt15") / "scenes") as folder:
        spec = mujoco.MjSpec.from_file(str(folder / file))
    spec.compiler.discardvisual = not visual
    return spec.compile()
