"""The posture in which an episode starts."""

from __future__ import annotations

import mujoco
import torch

from tsil.mt15 import robot
from tsil.mt15.control import jacobian, joint_increment, turn_to_down

TOLERANCE = 1e-4
"""Metres and radians."""


def start_posture(model: mujoco.MjModel, hand: tuple[float, float, float]) -> tuple[float, ...]:
    """Joint positions (7,) radians with the hand at a point (metres), pointing down.

    The controller's own inverse kinematics, run on the bare geometry until it stands still.
    """
    arm = slice(0, robot.NUM_JOINTS)
    data = mujoco.MjData(model)
    data.qpos[arm] = robot.READY
    ready = torch.tensor(robot.READY, dtype=torch.float64).unsqueeze(1)
    low = torch.tensor(robot.POSITION_LOW, dtype=torch.float64).unsqueeze(1)
    high = torch.tensor(robot.POSITION_HIGH, dtype=torch.float64).unsqueeze(1)
    wanted = torch.tensor(hand, dtype=torch.float64).unsqueeze(1)
    for _ in range(1000):
        mujoco.mj_kinematics(model, data)
        joints = torch.tensor(data.qpos[arm]).unsqueeze(1)
        point = torch.tensor(data.site("hand").xpos).unsqueeze(1)
        turn = turn_to_down(torch.tensor(data.body("hand").xquat).unsqueeze(1))
        distance = wanted - point
        error = torch.cat((distance.clamp(-0.05, 0.05), turn.clamp(-0.2, 0.2)))
        if error.abs().max() < TOLERANCE:
            return tuple(data.qpos[arm].tolist())
        axes = torch.tensor(data.xaxis[arm]).T.unsqueeze(2)
        anchors = torch.tensor(data.xanchor[arm]).T.unsqueeze(2)
        step = joint_increment(
            jacobian(axes, anchors, point),
            error,
            torch.zeros_like(joints),
            (ready - joints) * 0.05,
            damping=1e-3,
        )
        data.qpos[arm] = (joints + step).clamp(low, high)[:, 0].numpy()
    raise ValueError(
        f"The hand cannot start at {hand}: the arm does not reach it pointing down; "
        f"the middle of the table, (0.0, 0.6, 0.2), is well within reach."
    )
