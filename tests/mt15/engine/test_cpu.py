"""The CPU engine against plain MuJoCo, one simulation at a time."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import torch

from tsil.mt15 import compile_scene
from tsil.mt15.engine.cpu import CpuEngine

WORLDS = 5
BALLS = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="ball" pos="0 0 0.3">
      <freejoint/>
      <geom size="0.05"/>
      <site name="centre"/>
    </body>
    <body name="post" pos="0.1 0 0.1"><geom type="box" size="0.02 0.02 0.1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def engine() -> CpuEngine:
    made = CpuEngine(mujoco.MjModel.from_xml_string(BALLS), WORLDS, threads=2)
    made.clear()
    velocity = made.field("qvel")
    velocity[:, 0] = torch.linspace(0.0, 1.0, WORLDS)
    return made


def test_worlds_are_plain_simulations(engine: CpuEngine) -> None:
    places = torch.linspace(-0.1, 0.1, WORLDS, dtype=torch.float64)
    engine.model_field("body_pos")[:, engine.model.body("post").id, 1] = places
    expected = []
    for world in range(WORLDS):
        model = mujoco.MjModel.from_xml_string(BALLS)
        model.body("post").pos[1] = places[world]
        data = mujoco.MjData(model)
        data.qvel[0] = engine.field("qvel")[world, 0]
        for _ in range(200):
            mujoco.mj_step(model, data)
        expected.append((data.qpos.copy(), data.site_xpos[0].copy()))
    sites = engine.field("site_xpos")
    for _ in range(50):
        engine.step(4)
        assert not engine.diverged.any()
    for world, (position, site) in enumerate(expected):
        np.testing.assert_array_equal(engine.field("qpos")[world], position)
        np.testing.assert_array_equal(sites[world, 0], site)


def test_forward_shows_the_present_state(engine: CpuEngine) -> None:
    sites = engine.field("site_xpos")
    engine.step(4)
    assert not torch.equal(sites[:, 0], engine.field("qpos")[:, :3])
    engine.forward()
    torch.testing.assert_close(sites[:, 0], engine.field("qpos")[:, :3], rtol=0, atol=0)


def test_rewinding_touches_only_the_chosen_worlds(engine: CpuEngine) -> None:
    engine.step(8)
    engine.mark()
    marked = engine.field("qpos").clone()
    engine.step(40)
    late = engine.field("qpos").clone()
    chosen = torch.tensor([True, False, False, True, False])
    engine.rewind(chosen)
    assert torch.equal(engine.field("qpos")[chosen], marked[chosen])
    assert torch.equal(engine.field("qpos")[~chosen], late[~chosen])


def test_a_rewound_world_repeats_itself(engine: CpuEngine) -> None:
    engine.step(30)
    engine.mark()
    engine.step(40)
    first = engine.field("qpos").clone()
    engine.rewind(torch.ones(WORLDS, dtype=torch.bool))
    engine.step(40)
    assert torch.equal(engine.field("qpos"), first)


def test_state_and_restore_go_on_to_the_bit(engine: CpuEngine) -> None:
    engine.model_field("body_pos")[:, engine.model.body("post").id, 0] = 0.15
    engine.mark()
    engine.step(40)
    state = engine.state()
    engine.step(40)
    expected = engine.field("qpos").clone()
    other = CpuEngine(mujoco.MjModel.from_xml_string(BALLS), WORLDS, threads=1)
    other.restore(state)
    other.step(40)
    assert torch.equal(other.field("qpos"), expected)
    other.rewind(torch.ones(WORLDS, dtype=torch.bool))
    engine.rewind(torch.ones(WORLDS, dtype=torch.bool))
    assert torch.equal(other.field("qpos"), engine.field("qpos"))


@pytest.mark.parametrize("field", ["qpos", "qvel"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_broken_physics_is_noticed_in_its_own_world_only(
    engine: CpuEngine, field: str, value: float
) -> None:
    engine.mark()
    engine.step(4)
    engine.field(field)[2, 0] = value
    engine.step(4)
    assert engine.diverged.tolist() == [False, False, True, False, False]
    engine.rewind(engine.diverged)
    engine.step(4)
    assert not engine.diverged.any()
    assert torch.isfinite(engine.field("qpos")).all()


@pytest.mark.parametrize("memory", ["1K", "2K"])
def test_an_error_or_warning_of_the_engine_counts_as_divergence(memory: str) -> None:
    """Too little memory for contacts: MuJoCo warns, or with a little more raises an error."""
    model = mujoco.MjModel.from_xml_string(
        BALLS.replace("<mujoco>", f'<mujoco><size memory="{memory}"/>')
    )
    small = CpuEngine(model, WORLDS, threads=2)
    small.clear()
    small.mark()
    small.field("qpos")[3, 2] = 0.04  # in contact, the others are in the air
    small.step(1)
    assert small.diverged.tolist() == [False, False, False, True, False]
    small.rewind(small.diverged)
    small.step(1)
    assert not small.diverged.any()


def test_the_drawer_scene_gives_the_same_bits_for_any_number_of_threads() -> None:
    model = compile_scene("drawer_open.xml")
    ends = []
    for threads in (1, 2):
        engine = CpuEngine(model, 16, threads)
        engine.clear()
        engine.field("qpos")[:, :7] = torch.tensor([0.0, 0.5, 0.0, -2.0, 0.0, 2.5, -0.8])
        engine.field("ctrl")[:, 1] = torch.linspace(-0.5, 1.0, 16, dtype=torch.float64)
        for _ in range(20):
            engine.step(4)
        ends.append(engine.field("qpos").clone())
    assert torch.equal(*ends)
