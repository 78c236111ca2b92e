"""Pictures: they show the world that was asked for as it is, and nothing else changes."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tsil.mt15 import MT15Environment, make
from tsil.mt15.graphics import offscreen_context
from tsil.mt15.scene import compile_scene
from tsil.runs.film import Filmable

try:
    offscreen_context(8, 8).free()
except OSError as missing:
    pytest.skip(str(missing), allow_module_level=True)

SIZE = (96, 72)
"""Width and height of the pictures here."""


def made(worlds: int = 3) -> MT15Environment:
    environment = make("drawer-open", worlds, threads=1)
    environment.reset(seed=2)
    return environment


def difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


def test_it_can_be_filmed() -> None:
    environment = made()
    assert isinstance(environment, Filmable)
    picture = environment.render(1, *SIZE)
    assert picture.shape == (72, 96, 3)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous
    assert picture.std() > 20
    environment.close()


def test_a_picture_is_of_its_world_only() -> None:
    environment = made()
    before = [environment.render(world, *SIZE) for world in range(3)]
    assert difference(before[0], before[1]) > 0.5
    for _ in range(20):
        environment.step(torch.tensor([[0.0] * 4, [0.0, 0, 1, 0], [0.0] * 4]))
    after = [environment.render(world, *SIZE) for world in range(3)]
    assert difference(before[1], after[1]) > 0.5
    assert difference(before[0], after[0]) < 0.5
    # The same moment, another size between, the same picture.
    environment.render(1, 64, 64)
    assert np.array_equal(environment.render(1, *SIZE), after[1])
    environment.close()


def test_the_drawer_stands_where_its_world_has_it() -> None:
    environment = made(2)
    left, right = torch.tensor([-0.1, 0.9, 0.0]), torch.tensor([0.1, 0.9, 0.0])
    environment.place(torch.stack([torch.cat((p, torch.zeros(3))) for p in (left, right)]))
    columns = []
    for world in range(2):
        picture = environment.render(world, 320, 240).astype(float)
        red, green, blue = picture[..., 0], picture[..., 1], picture[..., 2]
        columns.append(np.nonzero((green > red + 30) & (green > blue + 20))[1].mean())
    assert columns[1] - columns[0] > 20
    environment.close()


def test_the_target_is_shown() -> None:
    environment = made(1)
    picture = environment.render(0, 320, 240)
    environment.named_positions.target[:] = torch.tensor([0.0, 5.0, -9.0])  # out of sight
    without = environment.render(0, 320, 240)
    changed = np.abs(picture.astype(int) - without).max(axis=2) > 20
    assert 20 < changed.sum() < 2000
    environment.close()


def test_looking_changes_nothing() -> None:
    seen, unseen = made(), made()
    moves = torch.randn(40, 3, 4, generator=torch.Generator().manual_seed(0))
    for number, move in enumerate(moves):
        if number % 10 == 5:
            seen.render(number % 3, *SIZE)
        one, other = seen.step(move), unseen.step(move)
        assert torch.equal(one.observation, other.observation)
        assert torch.equal(one.task_reward, other.task_reward)
    seen.close()


def test_the_model_for_looking_moves_as_the_one_that_is_stepped() -> None:
    stepped = compile_scene("drawer_open.xml")
    seen = compile_scene("drawer_open.xml", visual=True)
    for field in (
        "body_mass",
        "body_inertia",
        "body_ipos",
        "dof_armature",
        "jnt_range",
        "site_pos",
    ):
        assert np.array_equal(getattr(stepped, field), getattr(seen, field)), field
    paths = []
    for model in (stepped, seen):
        data = mujoco.MjData(model)
        data.ctrl[:7] = (0.3, -0.2, 0.1, -1.9, 0.0, 1.7, 0.8)
        path = []
        for _ in range(200):
            mujoco.mj_step(model, data)
            path.append(data.qpos.copy())
        paths.append(np.array(path))
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 64, 64), "world is 3.*nearest is 2"),
        ((-1, 64, 64), "world is -1.*nearest is 0"),
        ((0, 0, 64), "width is 0.*nearest is 1"),
        ((0, 64, 9000), "height is 9000.*nearest is 4096"),
    ],
)
def test_bad_input_is_answered_with_one_clear_sentence(
    arguments: tuple[int, int, int], message: str
) -> None:
    environment = made()
    with pytest.raises(ValueError, match=message):
        environment.render(*arguments)


HIDDEN = """
import ctypes, os, sys
os.environ.pop("MUJOCO_GL", None)
os.environ.pop("PYOPENGL_PLATFORM", None)
hidden, real = sys.argv[1].split(), ctypes.CDLL.__init__
def load(self, name, *rest, **more):
    if name and any(part in name for part in hidden):
        raise OSError(f"{name}: cannot open shared object file")
    real(self, name, *rest, **more)
ctypes.CDLL.__init__ = load
from tsil.mt15 import make
environment = make("drawer-open", 1, threads=1)
environment.reset(0)
try:
    print(environment.render(0, 64, 48).std() > 20, os.environ["MUJOCO_GL"])
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="EGL and OSMesa are Linux's")
@pytest.mark.parametrize(
    ("hidden", "said"),
    [
        ("", ("True egl", "True osmesa", "no OpenGL")),
        ("libEGL", ("True osmesa", "no OpenGL")),
        ("libEGL libOSMesa", ("no OpenGL to draw with: on Debian and Ubuntu, apt-get install",)),
    ],
)
def test_without_egl_it_is_osmesa_and_without_both_a_sentence(
    hidden: str, said: tuple[str, ...]
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", HIDDEN, hidden], capture_output=True, text=True, timeout=300
    )
    assert ran.stdout.startswith(said), ran.stdout + ran.stderr
