"""The Gymnasium faces of MT15, and the way back through our own adapter."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from torch import Tensor

from tsil.environments import GymnasiumEnvironment
from tsil.gymnasium_ids import HORIZON, IDS
from tsil.method.environment import Step
from tsil.mt15 import NAMES, MT15Environment, environment, make
from tsil.mt15.graphics import offscreen_context
from tsil.mt15.gymnasium_single import MT15Env
from tsil.mt15.gymnasium_vector import MT15VectorEnv

ID = "tsil/DrawerOpen-v0"
WORLDS = 6


def can_draw() -> bool:
    try:
        offscreen_context(8, 8).free()
    except OSError:
        return False
    return True


drawing = pytest.mark.skipif(not can_draw(), reason="no OpenGL here")


@pytest.fixture
def single() -> Iterator[MT15Env]:
    made = gymnasium.make(ID)
    assert isinstance(made.unwrapped, MT15Env)
    yield made.unwrapped
    made.close()


@pytest.fixture
def vector() -> Iterator[MT15VectorEnv]:
    made = gymnasium.make_vec(ID, num_envs=WORLDS, threads=1)
    assert isinstance(made, MT15VectorEnv)
    yield made
    made.close()


def scripted(of: MT15Environment) -> np.ndarray[Any, Any]:
    return of.task.script(of.named_positions).numpy().copy()


def test_every_task_has_an_id() -> None:
    assert tuple(IDS.values()) == NAMES
    assert IDS[ID] == "drawer-open"
    assert IDS["tsil/PegInsertSide-v0"] == "peg-insert-side"
    assert environment.HORIZON == HORIZON
    for id, name in IDS.items():
        spec = gymnasium.spec(id)
        assert (spec.kwargs, spec.max_episode_steps) == ({"task": name}, HORIZON)


@pytest.mark.parametrize(
    "imports",
    ["import tsil, gymnasium", "import gymnasium, tsil", "import tsil; import tsil.tasks"],
)
def test_ids_are_known_whatever_is_imported_first_and_cost_nothing(imports: str) -> None:
    code = (
        f"import sys; {imports}\n"
        "heavy = {'torch', 'mujoco', 'gymnasium'} & sys.modules.keys()\n"
        "import gymnasium\n"
        f"print({ID!r} in gymnasium.registry, *sorted(heavy))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    expected = "True gymnasium" if "gymnasium" in imports else "True"
    assert ran.stdout.strip() == expected, ran.stderr


@pytest.mark.parametrize("id", IDS)
def test_gymnasiums_own_check_passes(id: str) -> None:
    made = gymnasium.make(id)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(made.unwrapped, skip_render_check=True)
    made.close()
    # Things may be thrown anywhere, so positions have no bounds, and that is all there is to say.
    assert [str(w.message) for w in said if "infinity" not in str(w.message)] == []


CHECK = (
    "import gymnasium, tsil; from gymnasium.utils.env_checker import check_env;"
    f"e = gymnasium.make({ID!r}, render_mode='human'); check_env(e.unwrapped); e.close();"
    "print('passed')"
)


@drawing
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="no virtual screen here")
def test_gymnasiums_own_check_passes_with_a_window() -> None:
    ran = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-W", "ignore", "-c", CHECK],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.stdout.strip().endswith("passed"), ran.stdout + ran.stderr


def test_a_seed_decides_the_configuration_and_no_seed_draws_another(single: MT15Env) -> None:
    first, info = single.reset(seed=4)
    assert info == {"success": False}
    other, _ = single.reset()
    again, _ = single.reset(seed=4)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_success_terminates_and_is_told(single: MT15Env) -> None:
    single.reset(seed=0)
    for _ in range(HORIZON - 1):
        observation, reward, terminated, truncated, info = single.step(
            scripted(single.environment)[0]
        )
        assert info["success"] is terminated
        if terminated or truncated:
            break
    assert terminated
    assert not truncated
    assert 9 < reward <= 10
    # The observation is the end of the episode, not the start of another.
    assert np.linalg.norm(observation[4:7] - observation[36:]) <= 0.03


def test_the_horizon_truncates(single: MT15Env) -> None:
    single.reset(seed=0)
    ends = [single.step(np.zeros(4, np.float32))[2:4] for _ in range(HORIZON)]
    assert ends == [(False, False)] * (HORIZON - 1) + [(False, True)]


@drawing
def test_pictures_of_one_and_of_many() -> None:
    one = gymnasium.make(ID, render_mode="rgb_array", width=96, height=72)
    one.reset(seed=0)
    first = one.render()
    assert isinstance(first, np.ndarray)
    assert first.shape == (72, 96, 3)
    core = one.unwrapped
    assert isinstance(core, MT15Env)
    terminated = False
    while not terminated:
        _, _, terminated, _, _ = one.step(scripted(core.environment)[0])
    last = one.render()
    assert isinstance(last, np.ndarray)
    # What an ended episode shows is its end, not the next start.
    assert np.abs(last.astype(int) - first).mean() > 1
    one.close()
    many = gymnasium.make_vec(ID, num_envs=2, threads=1, render_mode="rgb_array")
    many.reset(seed=0)
    pictures = many.render()
    assert pictures is not None
    assert [p.shape for p in pictures] == [(240, 320, 3)] * 2
    many.close()


def test_the_vector_environment_says_how_it_resets(vector: MT15VectorEnv) -> None:
    assert vector.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    start, _ = vector.reset(seed=1)
    assert vector.observation_space.contains(start)
    assert vector.action_space.contains(vector.action_space.sample())
    done = np.zeros(WORLDS, bool)
    for _ in range(HORIZON):
        observation, _, terminated, truncated, info = vector.step(scripted(vector.environment))
        ended = terminated | truncated
        assert np.array_equal(info["success"], terminated)
        assert ("final_obs" in info) == ended.any()
        if ended.any():
            assert np.array_equal(info["_final_obs"], ended)
            assert np.array_equal(info["final_info"]["success"], terminated)
            assert np.array_equal(observation[ended], start[ended])
            assert not np.array_equal(info["final_obs"][ended], start[ended])
        done |= terminated
    assert done.all()


def test_what_it_returned_stays_as_it_was(vector: MT15VectorEnv) -> None:
    first, _ = vector.reset(seed=1)
    kept = first.copy()
    second = vector.step(np.ones((WORLDS, 4), np.float32))[0]
    vector.step(np.ones((WORLDS, 4), np.float32))
    assert np.array_equal(first, kept)
    assert not np.array_equal(second, first)


def assert_same(one: Step, other: Step, tolerance: float = 0.0) -> None:
    for field in ("observation", "final_observation", "task_reward"):
        torch.testing.assert_close(
            getattr(one, field), getattr(other, field), atol=tolerance, rtol=0
        )
    assert torch.equal(one.success, other.success)
    assert torch.equal(one.timeout, other.timeout)
    assert one.failure is None or not one.failure.any()
    assert one.valid is None or one.valid.all()


def moves(native: MT15Environment, steps: int) -> Iterator[Tensor]:
    """Scripted in half of the worlds, random in the others, from what the native one shows."""
    source = torch.Generator().manual_seed(0)
    for _ in range(steps):
        action = native.task.script(native.named_positions).clone()
        action[::2] = torch.rand(action[::2].shape, generator=source) * 2 - 1
        yield action


def test_through_the_adapter_the_numbers_are_those_of_the_native_environment(
    vector: MT15VectorEnv,
) -> None:
    adapted, native = (
        GymnasiumEnvironment(vector, keep_configuration=False),
        make("drawer-open", WORLDS, threads=1),
    )
    assert (adapted.horizon, adapted.interval) == (native.horizon, native.interval)
    seed = int(np.random.default_rng((7, 0)).integers(2**31, size=WORLDS)[0])
    assert torch.equal(adapted.reset(7), native.reset(seed))
    successes = timeouts = 0
    for action in moves(native, 330):
        theirs = adapted.step(action)
        ours = native.step(action)
        assert_same(theirs, ours)
        successes += int(ours.success.sum())
        timeouts += int(ours.timeout.sum())
    assert successes >= 3
    assert timeouts >= 6
    assert adapted.counters()["idle_steps"] == 0


def test_so_they_are_with_gymnasiums_own_vector_environment_of_single_ones() -> None:
    worlds: Any = gymnasium.make_vec(ID, num_envs=3, vectorization_mode="sync")
    adapted = GymnasiumEnvironment(worlds)
    native = make("drawer-open", 3, threads=1)
    used = torch.tensor([100, 50, 0])
    start = adapted.reset(7, used=used)
    configurations = [e.unwrapped.environment.configuration for e in worlds.envs]
    assert torch.equal(start, native.place(torch.cat(configurations), used))
    ended = 0
    for action in moves(native, 160):
        theirs = adapted.step(action)
        ours = native.step(action)
        # One world by itself and three together are rounded differently in the last place.
        assert_same(theirs, ours, 1e-3)
        ended += int((ours.success | ours.timeout).sum())
    assert ended >= 4
    adapted.close()


def test_a_window_is_refused_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "linux":
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        with pytest.raises(OSError, match="no screen to open a window on"):
            MT15Env("drawer-open", render_mode="human").reset()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"render_mode": "ansi"}, "render_mode is 'ansi'"),
        ({"max_episode_steps": 100}, "max_episode_steps is 100"),
        ({"num_envs": 0}, "num_environments is 0"),
        ({"task": "drawer-opn"}, "nearest is 'drawer-open'"),
    ],
)
def test_bad_input_is_answered_with_one_clear_sentence(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MT15VectorEnv(**{"task": "drawer-open", **given})
