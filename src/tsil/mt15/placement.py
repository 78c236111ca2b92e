"""Where Meta-World's episodes start: what is drawn for each task, and where its hand may go.

Every position is drawn uniformly from its box, axis by axis; a draw whose object and goal lie
closer than ``apart`` in the table's plane is thrown away and drawn again. The scene that the
drawn positions belong to, and the target that follows from them, are the task's.
"""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Placement:
    """The boxes of one task; low and high corners in metres, in Meta-World's frame."""

    object_low: Point
    object_high: Point
    goal_low: Point | None = None
    """None where the goal follows from the object."""
    goal_high: Point | None = None
    apart: float = 0.0
    """Least horizontal distance (metres) between object and goal."""
    hand_start: Point = (0.0, 0.6, 0.2)
    hand_low: Point = (-0.5, 0.4, 0.05)
    """The hand (``State.hand``, not the fingertips) is kept inside hand_low … hand_high."""
    hand_high: Point = (0.5, 1.0, 0.5)


PLACEMENTS: dict[str, Placement] = {
    "assembly": Placement((0, 0.6, 0.02), (0, 0.6, 0.02), (-0.1, 0.75, 0.1), (0.1, 0.85, 0.1), 0.1),
    "basketball": Placement(
        (-0.1, 0.6, 0.03), (0.1, 0.7, 0.03), (-0.1, 0.85, 0.0), (0.1, 0.9, 0.0), 0.15
    ),
    "bin-picking": Placement((-0.21, 0.65, 0.03), (-0.03, 0.75, 0.03), hand_low=(-0.5, 0.4, 0.07)),
    "box-close": Placement(
        (-0.05, 0.5, 0.02), (0.05, 0.55, 0.02), (-0.1, 0.7, 0.133), (0.1, 0.8, 0.133), 0.25
    ),
    "door-lock": Placement((-0.1, 0.8, 0.15), (0.1, 0.85, 0.15), hand_low=(-0.5, 0.4, -0.15)),
    "drawer-open": Placement((-0.1, 0.9, 0.0), (0.1, 0.9, 0.0)),
    "hammer": Placement((-0.1, 0.4, 0.0), (0.1, 0.5, 0.0), hand_start=(0.0, 0.4, 0.2)),
    "hand-insert": Placement(
        (-0.1, 0.6, 0.05),
        (0.1, 0.7, 0.05),
        (-0.04, 0.8, -0.02),
        (0.04, 0.88, -0.02),
        0.15,
        hand_low=(-0.5, 0.4, -0.15),
    ),
    "lever-pull": Placement(
        (-0.1, 0.7, 0.0), (0.1, 0.8, 0.0), hand_start=(0.0, 0.4, 0.2), hand_low=(-0.5, 0.4, -0.15)
    ),
    "peg-insert-side": Placement(
        (0.0, 0.5, 0.02), (0.2, 0.7, 0.02), (-0.35, 0.4, 0.0), (-0.25, 0.7, 0.0), 0.1
    ),
    "peg-unplug-side": Placement((-0.25, 0.6, 0.0), (-0.15, 0.8, 0.0)),
    "pick-out-of-hole": Placement(
        (0, 0.75, 0.02),
        (0, 0.75, 0.02),
        (-0.1, 0.5, 0.15),
        (0.1, 0.6, 0.3),
        0.15,
        hand_low=(-0.5, 0.4, -0.05),
    ),
    "soccer": Placement(
        (-0.1, 0.6, 0.03), (0.1, 0.7, 0.03), (-0.1, 0.8, 0.0), (0.1, 0.9, 0.0), 0.15
    ),
    "stick-pull": Placement(
        (-0.1, 0.55, 0.02),
        (0.0, 0.65, 0.02),
        (0.35, 0.45, 0.02),
        (0.45, 0.55, 0.02),
        0.1,
        hand_low=(-0.5, 0.35, 0.05),
    ),
    "sweep-into-goal": Placement((-0.1, 0.6, 0.02), (0.1, 0.7, 0.02)),
}
