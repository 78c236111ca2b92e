"""The Franka Emika Panda in numbers, as published, and how this benchmark mounts and holds it.

The same numbers stand in ``scenes/franka.xml``; the tests hold the two against each other.
"""

from __future__ import annotations

import math

NUM_JOINTS = 7
JOINTS = tuple(f"joint{number}" for number in range(1, NUM_JOINTS + 1))
FINGERS = ("left_finger", "right_finger")

# Modified Denavit-Hartenberg parameters (Craig): joint i turns about the z axis of frame i,
# which is Rot_x(alpha) Trans_x(a) Rot_z(q) Trans_z(d) away from frame i - 1. The eighth row is the
# flange.
DH_A = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088, 0.0)
"""Metres."""
DH_D = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0, 0.107)
"""Metres."""
DH_ALPHA = tuple(quarter * math.pi / 2 for quarter in (0, -1, 1, 1, -1, 1, 1, 0))
"""Radians."""

POSITION_LOW = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
POSITION_HIGH = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
"""Radians."""
VELOCITY_LIMIT = (2.1750, 2.1750, 2.1750, 2.1750, 2.6100, 2.6100, 2.6100)
"""Radians per second."""
TORQUE_LIMIT = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)
"""Newton metres."""

FINGER_TRAVEL = 0.04
"""Metres that each finger opens."""
HAND_TURN = -math.pi / 4
"""Radians from the flange to the hand about their common z axis."""
TOOL_CENTRE = 0.1034
"""Metres from the hand's frame to the published tool centre point, along z. This is the point that
actions move."""

BASE_POSITION = (0.0, 0.1, 0.0)
"""Metres, in Meta-World's frame. The arm's own x axis looks along +y. From here every
configuration of the fifteen tasks is within reach with the hand pointing down."""
READY = (0.0, -0.2, 0.0, -2.2, 0.0, 2.0, -math.pi / 4)
"""Radians. A posture over the middle of the table, hand down, fingers opening along y; the
redundant joint is drawn toward it."""
