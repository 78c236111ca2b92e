"""Every task: its configurations can be started from, and its script solves them."""

from __future__ import annotations

from importlib.util import find_spec

import mujoco
import numpy as np
import pytest
import torch

from tsil.mt15 import NAMES, MT15Environment, make, task

HERE = [name for name in NAMES if find_spec(f"tsil.mt15.tasks.{name.replace('-', '_')}")]
DEEPEST = 2e-3
"""Metres that resting objects may sink into what they rest on."""


def environment(name: str, worlds: int) -> MT15Environment:
    made = make(name, worlds, threads=2)
    made.reset(seed=11)
    return made


@pytest.mark.parametrize("name", HERE)
def test_a_declaration_is_complete(name: str) -> None:
    declared = task(name)
    assert declared.name == name
    assert make(name, 1, threads=1).engine.model.site("object").id >= 0


@pytest.mark.parametrize("name", HERE)
def test_no_configuration_starts_in_success_in_collision_or_out_of_reach(name: str) -> None:
    started = environment(name, 1000)
    state = started.named_positions
    assert not started.task.outcome(state).success.any()
    wanted = torch.tensor(started.task.placement.hand_start)
    assert (state.hand - wanted).norm(dim=1).max() < 5e-3
    low, high = (
        torch.tensor(c) for c in (started.task.placement.hand_low, started.task.placement.hand_high)
    )
    assert ((state.object > low - 0.12) & (state.object < high + 0.12)).all()

    # One simulation per configuration, to look at its contacts.
    model, rows = started.engine.model, started.engine.state()["rows"].numpy()
    fields = {name: started.engine.model_field(name).numpy() for name in ("body_pos", "body_quat")}
    data = mujoco.MjData(model)
    hand = model.body("hand").id
    robots = {body for body in range(model.nbody) if hand in _ancestors(model, body)}
    for world in range(started.num_environments):
        for field, values in fields.items():
            getattr(model, field)[:] = values[world]
        mujoco.mj_setState(model, data, rows[world], mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(model, data)
        for contact in data.contact:
            bodies = {int(model.geom_bodyid[geom]) for geom in contact.geom}
            assert not bodies & robots, f"configuration {world}: the hand touches something"
            assert contact.dist > -DEEPEST, f"configuration {world}: objects are in each other"
    assert np.isfinite(rows).all()


def _ancestors(model: mujoco.MjModel, body: int) -> set[int]:
    found = {body}
    while body:
        body = int(model.body_parentid[body])
        found.add(body)
    return found


@pytest.mark.parametrize("worlds", [150, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", HERE)
def test_the_script_solves_95_percent_within_the_horizon(name: str, worlds: int) -> None:
    solving = environment(name, worlds)
    solved = torch.zeros(worlds, dtype=torch.bool)
    for _ in range(solving.horizon):
        solved |= solving.step(solving.task.script(solving.named_positions)).success
    assert solved.double().mean() >= 0.95
    assert solving.counters()["diverged"] == 0
