"""The check command sees what is wrong, and says what it did not look at."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tsil.mt15 import MT15Environment, make
from tsil.mt15.check import (
    RECORDS,
    Starts,
    available,
    check_script,
    check_starts,
    check_task,
    main,
    steps_to_success,
)
from tsil.mt15.graphics import offscreen_context


def made(worlds: int = 5) -> MT15Environment:
    environment = make("drawer-open", worlds, threads=1)
    environment.reset(seed=1)
    return environment


def place(environment: MT15Environment, world: int, drawer: tuple[float, float, float]) -> None:
    configuration = environment.configuration.clone()
    configuration[world, :3] = torch.tensor(drawer)
    environment.place(configuration)


def test_good_starts_are_good() -> None:
    assert check_starts(made()) == Starts(0, 0, 0)
    assert check_starts(made()).good


def test_a_start_in_success_is_seen() -> None:
    environment = made()
    environment.named_positions.target[3] = environment.named_positions.object[3]
    assert check_starts(environment) == Starts(success=1, collision=0, out_of_reach=0)


def test_a_start_in_collision_is_seen() -> None:
    environment = made()
    place(environment, 2, (0.0, 0.62, 0.1))  # the case stands where the hand is
    assert check_starts(environment).collision == 1


def test_things_in_each_other_are_seen() -> None:
    environment = make("soccer", 5, threads=1)
    environment.reset(seed=1)
    assert check_starts(environment) == Starts(0, 0, 0)
    ball = int(environment.engine.model.body("ball").jntadr[0])
    height = int(environment.engine.model.jnt_qposadr[ball]) + 2
    environment.engine.field("qpos")[:, height] -= torch.tensor([0.0, 0.001, 0.003, 0.01, 0.0])
    assert check_starts(environment).collision == 2


def test_a_start_out_of_reach_is_seen() -> None:
    environment = made()
    place(environment, 4, (0.0, 1.5, 0.0))
    assert check_starts(environment).out_of_reach == 1
    environment = made()
    environment.named_positions.hand[1, 2] += 0.006
    assert check_starts(environment).out_of_reach == 1


def test_steps_to_success_are_those_of_the_first_success() -> None:
    environment, counted = made(), made()
    for one in (environment, counted):  # goes on to the end, so that the others succeed again
        one.named_positions.target[0] = torch.tensor([0.0, 5.0, 0.0])
    seen = 0

    def see() -> None:
        nonlocal seen
        seen += 1

    taken = steps_to_success(environment, see)
    assert seen == 150
    first = torch.zeros(5, dtype=torch.int64)
    for number in range(1, 151):
        step = counted.step(counted.task.script(counted.named_positions))
        for world in step.success.nonzero()[:, 0].tolist():
            first[world] = first[world] or number
    assert torch.equal(taken, first)
    assert taken[0] == 0
    assert 0 < taken[1:].min() <= taken.max() < 75


def test_what_the_script_cannot_solve_is_counted() -> None:
    environment = made()
    environment.named_positions.target[0] = torch.tensor([0.0, 5.0, 0.0])
    script = check_script(environment)
    assert script.solved == 0.8
    assert not script.good
    assert script.most_steps is not None
    assert script.most_steps < 150
    none = made()
    none.named_positions.target[:] = torch.tensor([0.0, 5.0, 0.0])
    nothing = check_script(none)
    assert (nothing.solved, nothing.mean_steps, nothing.most_steps) == (0.0, None, None)


def test_the_table_has_a_row_a_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("drawer-open",), configurations=20) == 0
    heading, row, *rest = capsys.readouterr().out.splitlines()
    assert heading.split()[0] == "task"
    name, bad, solved, mean, most, off, engines, works, picture = row.split()
    assert (name, bad, solved, works, picture) == ("drawer-open", "0/0/0", "100.0%", "yes", "–")
    assert 40 < float(mean) <= int(most) < 70
    assert float(off) < 1e-5
    assert engines == "–"
    assert "this version has one engine" in "".join(rest)


def test_without_records_rewards_are_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("drawer-open",), configurations=3, records=tmp_path) == 0
    said = capsys.readouterr().out
    assert "not checked" in said.splitlines()[1]
    assert f"where {tmp_path} has no record" in said


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("drawer-open",), configurations=3, json=True) == 0
    found = json.loads(capsys.readouterr().out)
    task = found["tasks"][0]
    assert task["works"] is True
    assert task["starts"] == {"success": 0, "collision": 0, "out_of_reach": 0}
    assert task["script"]["solved"] == 1.0
    assert task["reward"]["difference"] < 1e-5
    assert found["second_engine"] == "this version has one engine"


def test_a_task_that_does_not_work_is_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with np.load(RECORDS / "drawer-open.npz", allow_pickle=False) as arrays:
        wrong = {name: arrays[name] for name in arrays.files}
    wrong["reward"] = wrong["reward"] + 0.1
    np.savez(tmp_path / "drawer-open.npz", **wrong)
    assert main(("drawer-open",), configurations=3, records=tmp_path) == 1
    assert "NO" in capsys.readouterr().out.splitlines()[1]


def test_an_unknown_task_is_named_with_the_nearest() -> None:
    assert "drawer-open" in available()
    with pytest.raises(ValueError, match=r"no task 'drawer-opn'; did you mean 'drawer-open'"):
        main(("drawer-opn",))


def test_pictures_of_a_task_and_a_sheet_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        offscreen_context(8, 8).free()
    except OSError as missing:
        pytest.skip(str(missing))
    assert main(("drawer-open",), configurations=3, pictures=tmp_path / "new") == 0
    folder = tmp_path / "new"
    assert sorted(path.name for path in folder.iterdir()) == [
        "contact-sheet.png",
        "drawer-open.mp4",
        "drawer-open.png",
    ]
    assert str(folder / "contact-sheet.png") in capsys.readouterr().out
    with Image.open(folder / "drawer-open.png") as strip:
        assert strip.size == (3 * 640, 480)
        start, middle, end = np.split(np.asarray(strip).astype(int), 3, axis=1)
    assert np.abs(start - middle).mean() > 1
    assert np.abs(middle - end).mean() > 1


def test_a_check_is_the_same_again() -> None:
    assert check_task("drawer-open", 6, seed=3) == check_task("drawer-open", 6, seed=3)
