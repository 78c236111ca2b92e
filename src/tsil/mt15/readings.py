"""What is read from the physics after every step, as columns."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco

from tsil.mt15 import robot
from tsil.mt15.columns import Columns
from tsil.mt15.engine import Engine
from tsil.mt15.state import PAD_THICKNESS, openness

FRAME = 18
"""Numbers of one observed moment: hand 3, openness 1, then position 3 and quaternion 4 of the
object and of the second thing."""

COLUMNS: dict[str, tuple[int, ...]] = {
    # One observed moment: these follow each other in the order of the observation.
    "hand": (3,),
    "openness": (1,),
    "object": (3,),
    "object_quaternion": (4,),
    "second": (3,),
    "second_quaternion": (4,),
    # What else rewards look at, metres.
    "tcp": (3,),
    "left_pad": (3,),
    "right_pad": (3,),
    "part": (3,),
    # Where the object and the second thing count as having been at the start, metres.
    "object_start": (3,),
    "second_start": (3,),
    # What the controller looks at: unit quaternion; radians; newton metres that gravity and
    # motion take; unit vectors; metres.
    "hand_quaternion": (4,),
    "joints": (robot.NUM_JOINTS,),
    "bias": (robot.NUM_JOINTS,),
    "axes": (3, robot.NUM_JOINTS),
    "anchors": (3, robot.NUM_JOINTS),
}

TASK_SITES = ("object", "second", "part")
"""Sites that a scene may define; their columns stay zero where it does not."""


STARTS = ("object", "second")
"""Points whose start may be another site than the point itself, named ``<point>_start``."""


def _sites(model: mujoco.MjModel, names: Iterable[str]) -> dict[str, int]:
    numbers = {name: mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, name) for name in names}
    return {name: number for name, number in numbers.items() if number >= 0}


class Readings:
    """Copies an engine's fields into columns."""

    def __init__(self, engine: Engine, columns: Columns) -> None:
        self._columns = columns
        model = engine.model
        self._site_position = engine.field("site_xpos")  # (n, sites, 3)
        self._body_quaternion = engine.field("xquat")  # (n, bodies, 4)
        self._joint_position = engine.field("qpos")  # (n, nq): the arm's come first
        self._bias = engine.field("qfrc_bias")  # (n, nv): likewise
        self._axes = engine.field("xaxis")  # (n, joints, 3)
        self._anchors = engine.field("xanchor")  # (n, joints, 3)
        self._hand_body = model.body("hand").id
        self._tips = (model.site("left_tip").id, model.site("right_tip").id)
        self._sites = _sites(model, ("hand", "left_pad", "right_pad", *TASK_SITES))
        points = {**self._sites, **_sites(model, (f"{name}_start" for name in STARTS))}
        self._starts = {
            f"{name}_start": points.get(f"{name}_start", points[name])
            for name in STARTS
            if name in points
        }
        self._quaternions = {
            f"{name}_quaternion": int(model.site_bodyid[self._sites[name]])
            for name in ("object", "second")
            if name in self._sites
        }
        self._quaternions["hand_quaternion"] = self._hand_body

    def read(self) -> None:
        """Refresh every column from the engine."""
        columns = self._columns
        for name, site in self._sites.items():
            columns[name].copy_(self._site_position[:, site].T)
        for name, body in self._quaternions.items():
            columns[name].copy_(self._body_quaternion[:, body].T)
        left, right = self._tips
        columns["tcp"].copy_(
            (self._site_position[:, left] + self._site_position[:, right]).mul_(0.5).T
        )
        apart = columns["left_pad"] - columns["right_pad"]
        gap = apart.mul_(apart).sum(0).sqrt_() - PAD_THICKNESS
        columns["openness"].copy_(openness(gap))
        arm = slice(0, robot.NUM_JOINTS)
        columns["joints"].copy_(self._joint_position[:, arm].T)
        columns["bias"].copy_(self._bias[:, arm].T)
        columns["axes"].copy_(self._axes[:, arm].permute(2, 1, 0))
        columns["anchors"].copy_(self._anchors[:, arm].permute(2, 1, 0))

    def read_starts(self) -> None:
        """Take the present moment as the start of the episode."""
        for name, site in self._starts.items():
            self._columns[name].copy_(self._site_position[:, site].T)
