"""What MT15 looks like to Gymnasium: spaces and the frame rate."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from tsil.mt15.environment import INTERVAL, MT15Environment

RENDER_FPS = round(1 / INTERVAL)


def observation_space() -> Box:
    """One world's: metres, unit quaternions and an openness; things may be thrown anywhere."""
    return Box(-np.inf, np.inf, (MT15Environment.observation_size,), np.float32)


def action_space() -> Box:
    """One world's: displacement of the hand in centimetres and gripper command, > 0 closes."""
    return Box(-1.0, 1.0, (MT15Environment.action_size,), np.float32)
