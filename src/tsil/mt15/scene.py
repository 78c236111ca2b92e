"""Scenes: our own MJCF files, compiled for stepping or for looking at."""

from __future__ import annotations

from importlib.resources import as_file, files
from itertools import combinations
from typing import Any

import mujoco
import numpy as np


def compile_scene(file: str, visual: bool = False) -> mujoco.MjModel:
    """The model of a scene file in ``scenes/``.

    For stepping, shapes that only please the eye are left out and the contacts that can happen
    are listed pair by pair; the physics is the same and takes two thirds of the time.
    The model for looking at has the same bodies, joints, sites and actuators: states carry over.
    """
    with as_file(files("tsil.mt15") / "scenes") as folder:
        spec = mujoco.MjSpec.from_file(str(folder / file))
    if not visual:
        spec.compiler.discardvisual = True
        _list_contacts(spec)
    return spec.compile()


def _list_contacts(spec: Any) -> None:
    """Replace contact types by explicit pairs, which spares every step the search for them."""
    solids = [geom for geom in spec.geoms if geom.contype or geom.conaffinity]
    for number, geom in enumerate(solids):
        geom.name = geom.name or f"solid{number}"
    for one, other in combinations(solids, 2):
        match = (one.contype & other.conaffinity) or (other.contype & one.conaffinity)
        both_fixed = _is_fixed(one.parent) and _is_fixed(other.parent)
        if match and one.parent is not other.parent and not both_fixed:
            # Mixed as MuJoCo mixes the parameters of geoms of equal priority and weight.
            slide, spin, roll = np.maximum(one.friction, other.friction)
            spec.add_pair(
                geomname1=one.name,
                geomname2=other.name,
                condim=max(one.condim, other.condim),
                friction=(slide, slide, spin, roll, roll),
                solref=(one.solref + other.solref) / 2,
                solimp=(one.solimp + other.solimp) / 2,
            )
    for geom in solids:
        geom.contype = geom.conaffinity = 0


def _is_fixed(body: Any) -> bool:
    """Whether no joint lies between the body and the world."""
    while body.name != "world":
        if body.joints:
            return False
        body = body.parent
    return True
