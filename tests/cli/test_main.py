"""What a person meets first."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tsil.cli import COMMANDS, main, overview
from tsil.cli.arguments import whole_number


@pytest.mark.parametrize(
    ("text", "value"),
    [("3M", 3_000_000), ("500k", 500_000), ("1.5M", 1_500_000), ("20_480", 20_480), ("1e6", 10**6)],
)
def test_numbers_are_read_as_people_write_them(text: str, value: int) -> None:
    assert whole_number(text) == value


@pytest.mark.parametrize("text", ["", "M", "1.5", "nan", "inf", "1e400", "three", "3m", "0x10"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a whole number"):
        whole_number(text)


def test_large_seeds_stay_exact() -> None:
    assert whole_number(str(2**62 + 1)) == 2**62 + 1


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert overview() in shown
    for name in COMMANDS:
        assert f"\n  {name}" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"tsil {name}" in shown
    assert len(shown.splitlines()) > 5


def test_help_and_the_list_of_tasks_import_neither_torch_nor_mujoco() -> None:
    program = (
        "import sys\n"
        "from tsil.cli import COMMANDS, main\n"
        "assert main(['--help']) == 0\n"
        "assert main(['tasks', '--json']) == 0\n"
        "assert all(main([name, '--help']) == 0 for name in COMMANDS)\n"
        "assert not {'torch', 'mujoco', 'numpy'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_tasks_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "--json"]) == 0
    tasks = {task["name"]: task for task in json.loads(capsys.readouterr().out)}
    assert len(tasks) == 16
    assert tasks["drawer-open"]["number"] == 18
    assert tasks["practice"]["status"] == "ready"


def test_tasks_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks"]) == 0
    assert "sweep-into-goal" in capsys.readouterr().out
