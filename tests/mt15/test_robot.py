"""The scene's robot against the published numbers."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tsil.mt15 import compile_scene, robot

ARM = slice(0, robot.NUM_JOINTS)


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return compile_scene("drawer_open.xml")


def rotation(axis: str, angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    turn = {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}
    transform = np.eye(4)
    transform[:3, :3] = turn[axis]
    return transform


def translation(x: float, y: float, z: float) -> np.ndarray:
    transform = np.eye(4)
    transform[:3, 3] = (x, y, z)
    return transform


def tool_frame(joints: np.ndarray) -> np.ndarray:
    """The tool centre point's frame by the product of Denavit-Hartenberg transforms."""
    frame = translation(*robot.BASE_POSITION) @ rotation("z", math.pi / 2)
    for a, d, alpha, angle in zip(
        robot.DH_A, robot.DH_D, robot.DH_ALPHA, (*joints, robot.HAND_TURN), strict=True
    ):
        frame = frame @ rotation("x", alpha) @ translation(a, 0, 0)
        frame = frame @ rotation("z", angle) @ translation(0, 0, d)
    return frame @ translation(0, 0, robot.TOOL_CENTRE)


def test_forward_kinematics_follow_the_published_parameters(model: mujoco.MjModel) -> None:
    data, generator = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(200):
        joints = generator.uniform(robot.POSITION_LOW, robot.POSITION_HIGH)
        data.qpos[ARM] = joints
        mujoco.mj_kinematics(model, data)
        expected = tool_frame(joints)
        assert np.abs(data.site("hand").xpos - expected[:3, 3]).max() < 1e-6
        turn = data.site("hand").xmat.reshape(3, 3)
        assert np.abs(turn - expected[:3, :3]).max() < 1e-6


def test_limits_in_the_scene_are_the_published_ones(model: mujoco.MjModel) -> None:
    assert [model.joint(number).name for number in range(robot.NUM_JOINTS)] == list(robot.JOINTS)
    np.testing.assert_allclose(model.jnt_range[ARM, 0], robot.POSITION_LOW)
    np.testing.assert_allclose(model.jnt_range[ARM, 1], robot.POSITION_HIGH)
    np.testing.assert_allclose(model.actuator_forcerange[ARM, 1], robot.TORQUE_LIMIT)
    np.testing.assert_allclose(model.actuator_forcerange[ARM, 0], -np.array(robot.TORQUE_LIMIT))
    for finger in robot.FINGERS:
        np.testing.assert_allclose(model.joint(finger).range, (0.0, robot.FINGER_TRAVEL))


def test_the_fingers_open_along_y_with_the_left_one_at_positive_y(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    data.qpos[ARM] = robot.READY
    for finger in robot.FINGERS:
        data.joint(finger).qpos = robot.FINGER_TRAVEL
    mujoco.mj_kinematics(model, data)
    left, right = data.site("left_pad").xpos, data.site("right_pad").xpos
    np.testing.assert_allclose(left - right, (0, 2 * robot.FINGER_TRAVEL + 0.006, 0), atol=1e-9)
    tip = (data.site("left_tip").xpos + data.site("right_tip").xpos) / 2
    np.testing.assert_allclose(data.site("hand").xpos - tip, (0, 0, 0.045), atol=1e-9)


def test_the_model_for_looking_at_has_the_same_state(model: mujoco.MjModel) -> None:
    visual = compile_scene("drawer_open.xml", visual=True)
    assert visual.ngeom > model.ngeom
    for field in ("nq", "nv", "nu", "nbody", "nsite"):
        assert getattr(visual, field) == getattr(model, field)
    np.testing.assert_array_equal(visual.body_mass, model.body_mass)
    np.testing.assert_array_equal(visual.body_inertia, model.body_inertia)


def test_explicit_pairs_are_the_contacts_that_the_contact_types_allow() -> None:
    """In many postures MuJoCo's own search finds the same contacts with the same parameters."""
    listed = compile_scene("drawer_open.xml")
    searched = compile_scene("drawer_open.xml", visual=True)
    generator, total = np.random.default_rng(0), 0
    for _ in range(300):
        posture = np.add(robot.READY, (0, 0.6, 0, 0.2, 0, 0.1, 0)) + generator.normal(0, 0.25, 7)
        found = []
        for model in (listed, searched):
            data = mujoco.MjData(model)
            data.qpos[ARM] = posture
            mujoco.mj_forward(model, data)
            rows = [
                (*c.pos, c.dist, *np.abs(c.frame[:3]), *c.friction, *c.solref, *c.solimp, c.dim)
                for c in data.contact
            ]
            found.append(np.array(sorted(rows)))
        np.testing.assert_allclose(*found, atol=1e-12)
        total += len(found[0])
    assert total > 100
