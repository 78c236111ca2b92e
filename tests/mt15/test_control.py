"""The control stack: its maths against slow references, and what the hand then does."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mujoco
import numpy as np
import pytest
import torch
from torch import Tensor

from tsil.mt15 import MT15Environment, compile_scene, control, make, robot

ARM = slice(0, robot.NUM_JOINTS)
WORLDS = 64


@pytest.fixture
def environment() -> Iterator[MT15Environment]:
    made = make("drawer-open", WORLDS, threads=2)
    made.reset(seed=0)
    yield made
    made.close()


def tilt(environment: MT15Environment) -> Tensor:
    """Angles (n,) in degrees between the hand and pointing down with the fingers along y."""
    quaternion = environment.engine.field("xquat")[:, environment.engine.model.body("hand").id]
    return torch.rad2deg(2 * torch.acos(quaternion[:, 2].abs().clamp(max=1.0)))


def test_solve_spd_solves() -> None:
    generator = np.random.default_rng(0)
    factors = generator.normal(size=(50, 6, 7))
    matrices = factors @ factors.transpose(0, 2, 1) + 0.0025 * np.eye(6)
    rights = generator.normal(size=(50, 6))
    solved = control.solve_spd(torch.tensor(matrices).permute(1, 2, 0), torch.tensor(rights).T)
    for matrix, right, x in zip(matrices, rights, solved.T.numpy(), strict=True):
        np.testing.assert_allclose(x, np.linalg.solve(matrix, right), rtol=1e-8)


def test_jacobian_is_mujocos() -> None:
    model = compile_scene("drawer_open.xml")
    data, generator = mujoco.MjData(model), np.random.default_rng(0)
    hand = model.site("hand").id
    for _ in range(20):
        data.qpos[ARM] = generator.uniform(robot.POSITION_LOW, robot.POSITION_HIGH)
        mujoco.mj_fwdPosition(model, data)
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacSite(model, data, linear, angular, hand)
        ours = control.jacobian(
            torch.tensor(data.xaxis[ARM]).T.unsqueeze(2),
            torch.tensor(data.xanchor[ARM]).T.unsqueeze(2),
            torch.tensor(data.site_xpos[hand]).unsqueeze(1),
        )[:, :, 0]
        np.testing.assert_allclose(ours, np.vstack((linear[:, ARM], angular[:, ARM])), atol=1e-12)


def test_turn_to_down_is_the_rotation_that_is_missing() -> None:
    generator = np.random.default_rng(0)
    down = np.array([0.0, 0.0, 1.0, 0.0])
    for _ in range(50):
        axis = generator.normal(size=3)
        vector = axis / np.linalg.norm(axis) * generator.uniform(0, 0.2)
        missing, start = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(missing, vector / np.linalg.norm(vector), np.linalg.norm(vector))
        inverse = np.zeros(4)
        mujoco.mju_negQuat(inverse, missing)
        mujoco.mju_mulQuat(start, inverse, down)
        for sign in (1, -1):  # a quaternion and its negative are the same orientation
            turn = control.turn_to_down(torch.tensor(sign * start).unsqueeze(1))[:, 0]
            np.testing.assert_allclose(turn, vector, atol=1e-3)


def test_joint_increment_is_damped_least_squares_about_the_wished_posture() -> None:
    generator = np.random.default_rng(0)
    jacobian, error = generator.normal(size=(6, 7)), generator.normal(size=6)
    lag, posture = generator.normal(size=7), generator.normal(size=7)
    # The increments x minimize |J x - (error - J lag)|^2 + damping^2 |x - posture|^2.
    stacked = np.vstack((jacobian, 0.05 * np.eye(7)))
    right = np.concatenate((error - jacobian @ lag, 0.05 * posture))
    expected = np.linalg.lstsq(stacked, right, rcond=None)[0]
    found = control.joint_increment(
        torch.tensor(jacobian)[:, :, None],
        *(torch.tensor(vector)[:, None] for vector in (error, lag, posture)),
        damping=0.05,
    )
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-8)


@pytest.mark.parametrize("steps", [10, 20, 40])
def test_straight_lines_end_where_commanded_with_the_hand_upright(
    environment: MT15Environment, steps: int
) -> None:
    """10 cm in many directions, in 10 steps along the axes, slower in others."""
    generator = torch.Generator().manual_seed(0)
    directions = torch.randn(WORLDS, 3, generator=generator)
    directions[:6] = torch.cat((torch.eye(3), -torch.eye(3)))
    directions /= directions.norm(dim=1, keepdim=True)
    if steps == 10:
        directions = directions[torch.arange(WORLDS) % 6]
    action = torch.zeros(WORLDS, 4)
    action[:, :3] = directions * 10 / steps
    start = environment.named_positions.hand.clone()
    steepest = torch.zeros(WORLDS, dtype=torch.float64)
    for moment in range(steps + 20):
        environment.step(action if moment < steps else torch.zeros_like(action))
        steepest = torch.maximum(steepest, tilt(environment))
    error = (environment.named_positions.hand - start - 0.1 * directions).norm(dim=1)
    assert error.max() < 0.01
    assert steepest.max() < 5.0


def test_the_hand_stays_in_its_box(environment: MT15Environment) -> None:
    corner = torch.ones(WORLDS, 4)
    corner[:, :3] = torch.tensor([[1.0, -1, 1], [-1, -1, -1], [0.5, -1, 1], [0, 0, -1]]).repeat(
        16, 1
    )
    for _ in range(120):
        environment.step(corner)
    hand, placement = environment.named_positions.hand, environment.task.placement
    assert (hand > torch.tensor(placement.hand_low) - 0.01).all()
    assert (hand < torch.tensor(placement.hand_high) + 0.01).all()


def test_a_hand_that_is_held_back_lets_go_at_once(environment: MT15Environment) -> None:
    """The Cartesian target does not run away from a blocked hand."""
    down = torch.tensor([[0.0, 0.0, -1.0, 0.0]]).repeat(WORLDS, 1)
    for _ in range(100):
        environment.step(down)
    before = environment.named_positions.hand[:, 2].clone()
    for _ in range(10):
        environment.step(-down)
    assert (environment.named_positions.hand[:, 2] - before).min() > 0.05


def test_the_gripper_closes_on_positive_commands(environment: MT15Environment) -> None:
    action = torch.zeros(WORLDS, 4)
    openness = []
    for command in (1.0, -1.0):
        action[:, 3] = command
        for _ in range(30):
            environment.step(action)
        openness.append(environment.named_positions.openness.mean().item())
    assert openness[0] < 0.13
    assert openness[1] > 0.9


def test_smoothing_weighs_the_last_increment() -> None:
    """With smoothing s, one unit step comes through as 1 - s, then s (1 - s) more, and so on."""
    environment = make("drawer-open", 1, threads=1)
    environment.reset(seed=0)
    settings = control.ControlSettings(smoothing=0.5)
    smoothed = control.Controller(
        environment._columns,
        environment.engine.model,
        environment.interval,
        (environment.task.placement.hand_low, environment.task.placement.hand_high),
        environment.device,
        settings,
    )
    commands = environment.engine.field("ctrl")
    columns = environment._columns
    action = torch.tensor([[0.2, 0.0, 0.0, 0.0]])
    columns["joint_increment"].zero_()
    environment._controller.command(action, commands)
    full = columns["joint_increment"].clone()
    smoothed.hold()
    smoothed.command(action, commands)
    torch.testing.assert_close(columns["joint_increment"], 0.5 * full, rtol=1e-3, atol=1e-6)


def random_actions(worlds: int, steps: int, seed: int) -> Iterator[Tensor]:
    """Noise by the step for a while, then actions held for some twenty steps, in turns."""
    generator = torch.Generator().manual_seed(seed)
    action = torch.zeros(worlds, 4)
    for moment in range(steps):
        share = 1.0 if moment % 400 < 100 else 0.05
        fresh = torch.rand(worlds, 1, generator=generator) < share
        drawn = (torch.rand(worlds, 4, generator=generator) * 2 - 1) * (1 + moment % 2)
        action = torch.where(fresh, drawn, action)
        yield action


@pytest.mark.parametrize(
    ("worlds", "steps"), [(256, 400), pytest.param(512, 2000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("in_the_way", [False, True])
def test_limits_hold_under_random_actions(worlds: int, steps: int, in_the_way: bool) -> None:
    """Positions and torques always; velocities wherever nothing knocks against the arm.

    A hand driven into a cabinet or the table at half a metre a second folds at the wrist faster
    than the wrist may turn by itself, as any would; that must be rare and must pass.
    """
    environment = make("drawer-open", worlds, threads=2)
    environment.reset(seed=0)
    if not in_the_way:
        environment.configuration[:, 1] += 3.0
        environment.place(environment.configuration.clone())
    position, velocity = (environment.engine.field(name)[:, ARM] for name in ("qpos", "qvel"))
    torque = environment.engine.field("actuator_force")[:, ARM]
    low, high, fastest, strongest = (
        torch.tensor(limit, dtype=torch.float64)
        for limit in (
            robot.POSITION_LOW,
            robot.POSITION_HIGH,
            robot.VELOCITY_LIMIT,
            robot.TORQUE_LIMIT,
        )
    )
    too_fast = 0.0
    for action in random_actions(worlds, steps, seed=1):
        environment.step(action)
        assert ((position > low) & (position < high)).all()
        assert (torque.abs() <= strongest + 1e-9).all()
        free = environment.named_positions.tcp[:, 2] > 0.01
        excess = (velocity.abs() > fastest) & (free | in_the_way).unsqueeze(1)
        too_fast += excess.double().mean().item() / steps
        assert (velocity.abs() < 3 * fastest).all()
    assert too_fast < 1e-3 if in_the_way else too_fast == 0.0
    assert environment.counters()["diverged"] == 0
    assert math.isfinite(environment.named_positions.hand.sum().item())
    environment.close()
