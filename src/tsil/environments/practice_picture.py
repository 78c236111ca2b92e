"""What a world of the practice environment looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

if TYPE_CHECKING:
    from tsil.environments.practice import PracticeEnvironment

REACH = 0.44
"""Metres from the goal to the picture's nearer edges."""
SMOOTHING = 2
"""Drawn this much larger, then shrunk, for smooth edges."""
GROUND, GRID = "#fbfaf7", "#e7e4dc"
STAGING, STAGING_EDGE = "#f7dfb5", "#e69f00"
GOAL, START, HAND = "#009e73", "#8a8577", "#0072b2"


def picture(
    environment: PracticeEnvironment, world: int, width: int, height: int
) -> NDArray[np.uint8]:
    """One world from above, (height, width, 3): staging area, goal, start and hand."""
    settings = environment.settings
    w, h = width * SMOOTHING, height * SMOOTHING
    scale = min(w, h) / (2 * REACH)
    image = Image.new("RGB", (w, h), GROUND)
    draw = ImageDraw.Draw(image)

    start, goal, staging, hand = (
        getattr(environment, name)[world].tolist() for name in ("start", "goal", "staging", "hand")
    )

    def at(point: list[float]) -> tuple[float, float]:
        return w / 2 + (point[0] - goal[0]) * scale, h / 2 - (point[1] - goal[1]) * scale

    def disc(point: list[float], metres: float, fill: str | None, edge: str | None = None) -> None:
        x, y = at(point)
        r = metres * scale
        draw.ellipse((x - r, y - r, x + r, y + r), fill, edge, round(0.004 * scale))

    for line in range(-10, 11):
        x, y = at([line / 10, line / 10])
        draw.line((x, 0, x, h), GRID, SMOOTHING)
        draw.line((0, y, w, y), GRID, SMOOTHING)
    disc(staging, settings.staging_radius, STAGING, STAGING_EDGE)
    draw.line((*at(start), *at(hand)), HAND, round(0.004 * scale))
    disc(start, 0.012, None, START)
    disc(goal, settings.goal_radius + 0.02, None, GOAL)
    disc(goal, settings.goal_radius, GOAL)
    disc(hand, 0.018, HAND, "white")
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS))
