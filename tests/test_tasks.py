"""The registry of tasks."""

import subprocess
import sys

import pytest

from tsil.method.environment import Environment
from tsil.tasks import TASKS, make_environment, task_named


def test_the_fifteen_are_the_ones_that_mt15_knows() -> None:
    mt15 = pytest.importorskip("tsil.mt15")
    assert [name for name in TASKS if name != "practice"] == list(mt15.NAMES)


def test_numbers_are_those_of_the_declarations() -> None:
    mt15 = pytest.importorskip("tsil.mt15")
    ready = [facts for facts in TASKS.values() if facts.ready and facts.number is not None]
    assert "drawer-open" in [facts.name for facts in ready]
    for facts in ready:
        assert mt15.task(facts.name).number == facts.number


@pytest.mark.parametrize("name", ["practice", "drawer-open"])
def test_a_name_becomes_an_environment(name: str) -> None:
    environment = make_environment(name, 3, threads=1)
    assert isinstance(environment, Environment)
    assert environment.reset(0).shape == (3, environment.observation_size)
    environment.close()


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'drawer-open'"):
        task_named("draweropen")


def test_practice_needs_neither_mujoco_nor_a_gl_library() -> None:
    program = (
        "import sys; sys.modules['mujoco'] = None\n"
        "from tsil.tasks import make_environment\n"
        "make_environment('practice', 2).reset(0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
