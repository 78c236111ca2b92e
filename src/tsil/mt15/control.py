"""From actions to joint targets: displacement, differential inverse kinematics, impedance.

An action moves a Cartesian target for the hand. Damped least squares turns what separates the hand
from that target into joint increments, which are kept within the joint velocity limits and added
to joint position targets. The model's actuators track those as joint impedances, every substep,
with the increments as reference velocity, so that no Python runs between substeps.

Everything is written for n worlds at once with the world index last; see ``Columns``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tsil.mt15 import robot
from tsil.mt15.columns import Columns

COLUMNS: dict[str, tuple[int, ...]] = {
    "hand_target": (3,),  # metres
    "joint_target": (robot.NUM_JOINTS,),  # radians
    "joint_increment": (robot.NUM_JOINTS,),  # radians per control step
    "finger_target": (1,),  # metres from closed; negative presses
}
"""The controller's memory."""


@dataclass(frozen=True, slots=True)
class ControlSettings:
    """What is the same for every task."""

    displacement: float = 0.01
    """Metres of hand motion per unit of action and control step."""
    lead: float = 0.03
    """Metres that the Cartesian target may be ahead of the hand. It bounds the force of a hand
    that is held back, and how long the hand goes on when the action turns round."""
    damping: float = 0.05
    """Of the least squares (metres or radians per radian)."""
    posture_gain: float = 0.05
    """Share of the way to the ready posture that the redundant joint goes per control step."""
    velocity_share: float = 0.8
    """Share of the joint velocity limits that commands may use; the rest is for overshoot."""
    stall_torque: tuple[float, ...] = (35.0, 35.0, 35.0, 35.0, 12.0, 12.0, 12.0)
    """Newton metres with which a blocked joint pushes: bounds how far its target may be ahead.
    About what the wrist can hold against at the fingertips, so that a push does not fold it."""
    smoothing: float = 0.0
    """Weight of the last joint increment in the next one. It calms a nervous policy and makes the
    hand overshoot."""
    reference_velocity: float = 0.85
    """Share of the increments' velocity that the joints are asked to have. The targets of a step
    stand at its end from its beginning and so already run half a step ahead."""
    finger_speed: float = 0.2
    """Metres per second of each finger's target under a full gripper command."""
    finger_press: float = 0.02
    """Metres that the fingers' targets may go beyond closed, which sets the grip."""


def solve_spd(matrix: Tensor, right: Tensor) -> Tensor:
    """Solve n small symmetric positive definite systems; (k, k, n) and (k, n) give (k, n).

    Gauss-Jordan elimination, which needs no pivots for such matrices. For thousands of systems of
    six it is faster than a batched LAPACK call, and the same few kernels run on any device.
    """
    size = matrix.shape[0]
    work = torch.cat((matrix, right.unsqueeze(1)), dim=1)  # (k, k + 1, n)
    for pivot in range(size):
        rest = work[:, pivot + 1 :]
        row = rest[pivot] / work[pivot, pivot]
        rest -= work[:, pivot].unsqueeze(1) * row
        rest[pivot] = row
    return work[:, size]


def jacobian(axes: Tensor, anchors: Tensor, point: Tensor) -> Tensor:
    """Geometric Jacobian (6, joints, n) of a point on the last link: velocity, then turn rate.

    ``axes`` and ``anchors``, (3, joints, n), are the hinges' in the world; ``point`` is (3, n).
    """
    arms = point.unsqueeze(1) - anchors
    linear = torch.linalg.cross(axes, arms, dim=0)
    return torch.cat((linear, axes))


def turn_to_down(quaternion: Tensor) -> Tensor:
    """Rotation vector (3, n) from a hand orientation (4, n) to pointing down, fingers along y.

    That orientation is half a turn about y, (0, 0, 1, 0); the result is twice the vector part of
    the product of it with the conjugate of ``quaternion``, which is exact to third order.
    """
    w, x, y, z = quaternion
    return 2.0 * torch.sign(y) * torch.stack((-z, w, x))


def joint_increment(
    jacobian: Tensor, error: Tensor, lag: Tensor, posture: Tensor, damping: float
) -> Tensor:
    """Joint increments (joints, n) that take the joint *targets* to a Cartesian pose.

    ``error``, (6, n), is from the hand's pose to the wanted one; ``lag``, (joints, n), from the
    joints to their present targets, whose pose is therefore J lag further on to first order.
    ``posture``, (joints, n), are increments wished for; what of them moves the hand is taken back.
    """
    remaining = error - (jacobian * (lag + posture)).sum(1)
    normal = (jacobian.unsqueeze(1) * jacobian.unsqueeze(0)).sum(2)  # J J^T, (6, 6, n)
    normal.diagonal().add_(damping**2)  # the diagonal is (n, 6)
    multipliers = solve_spd(normal, remaining)
    return (jacobian * multipliers.unsqueeze(1)).sum(0) + posture


class Controller:
    """Holds n hands on their way; writes the actuators' targets."""

    def __init__(
        self,
        columns: Columns,
        model: Any,
        interval: float,
        hand_box: tuple[tuple[float, ...], tuple[float, ...]],
        device: torch.device,
        settings: ControlSettings | None = None,
    ) -> None:
        """``columns`` hold the controller's memory and the readings of the robot; ``interval`` is
        a control step in seconds, ``hand_box`` the corners (metres) that the target stays within.
        """
        self.settings = settings = settings or ControlSettings()
        self._columns = columns
        self._interval = interval

        def column(values: Any) -> Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device).unsqueeze(1)

        self._hand_low, self._hand_high = column(hand_box[0]), column(hand_box[1])
        self._joint_low, self._joint_high = column(robot.POSITION_LOW), column(robot.POSITION_HIGH)
        self._ready = column(robot.READY)
        limit = settings.velocity_share * interval
        self._largest_increment = column(robot.VELOCITY_LIMIT) * limit  # (7, 1) radians
        # An actuator's torque is kp (ctrl - q) - kv q'. Putting ctrl (kv q'_reference + bias) / kp
        # beyond the target makes that kp (target - q) + kv (q'_reference - q') + bias.
        stiffness = model.actuator_gainprm[: robot.NUM_JOINTS, 0]
        viscosity = -model.actuator_biasprm[: robot.NUM_JOINTS, 2]
        self._velocity_gain = column(
            (settings.reference_velocity * viscosity / stiffness / interval).tolist()
        )  # (7, 1)
        self._compliance = column((1.0 / stiffness).tolist())  # (7, 1) radians per newton metre
        self._largest_lag = column(settings.stall_torque) * self._compliance  # (7, 1) radians

    def hold(self) -> None:
        """Make every world's present pose its target."""
        columns = self._columns
        columns["hand_target"].copy_(columns["hand"])
        columns["joint_target"].copy_(columns["joints"])
        columns["joint_increment"].zero_()
        columns["finger_target"].fill_(robot.FINGER_TRAVEL)

    def command(self, action: Tensor, control: Tensor) -> None:
        """Turn actions (n, 4) in [-1, 1] into actuator targets, written to ``control`` (n, 9)."""
        settings, columns = self.settings, self._columns
        hand, target = columns["hand"], columns["hand_target"]
        joints, joint_target = columns["joints"], columns["joint_target"]
        increment, fingers = columns["joint_increment"], columns["finger_target"]
        moves = action.T

        target.add_(moves[:3], alpha=settings.displacement)
        lead = target - hand
        length = (lead * lead).sum(0).sqrt_().clamp_(min=settings.lead)
        torch.addcmul(hand, lead, settings.lead / length, out=target)
        torch.clamp(target, self._hand_low, self._hand_high, out=target)

        wanted = joint_increment(
            jacobian(columns["axes"], columns["anchors"], hand),
            torch.cat((target - hand, turn_to_down(columns["hand_quaternion"]))),
            joint_target - joints,
            (self._ready - joint_target) * settings.posture_gain,
            settings.damping,
        )
        increment.lerp_(wanted, 1.0 - settings.smoothing)
        # One factor for all joints, so that a limit slows the hand but does not bend its path.
        excess = (increment.abs() / self._largest_increment).amax(0).clamp_(min=1.0)
        increment.div_(excess)
        joint_target.add_(increment)
        torch.clamp(
            joint_target, joints - self._largest_lag, joints + self._largest_lag, out=joint_target
        )
        torch.clamp(joint_target, self._joint_low, self._joint_high, out=joint_target)

        fingers.sub_(moves[3:], alpha=settings.finger_speed * self._interval)
        fingers.clamp_(-settings.finger_press, robot.FINGER_TRAVEL)

        ahead = increment * self._velocity_gain
        ahead.addcmul_(columns["bias"], self._compliance)
        control[:, : robot.NUM_JOINTS] = ahead.add_(joint_target).T
        control[:, robot.NUM_JOINTS :] = fingers.T
