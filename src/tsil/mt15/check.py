"""Which tasks work: the check command.

``python -m tsil.mt15.check`` draws configurations of every task and prints, for each, what "a
task counts as working when" asks for: that no configuration starts in success, in collision or
out of reach; that the scripted policy solves at least 95 % of them within the horizon; that the
reward is Meta-World's on states recorded there; and, with ``--pictures``, what it looks like.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from json import dumps
from pathlib import Path

import mujoco
import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor

from tsil.mt15 import NAMES, MT15Environment, make
from tsil.mt15.parity import Comparison, compare, read_record
from tsil.mt15.scene import compile_scene

SOLVED = 0.95
"""Share of the configurations that a scripted policy has to solve."""
STRAY = 5e-3
"""Metres from its start position at which the hand may start."""
REACH = 0.12
"""Metres outside the box of the hand at which an object can still be worked on."""
DEEPEST = 2e-3
"""Metres that resting things may sink into what they rest on."""
RECORDS = Path(__file__).parents[3] / "tests" / "mt15" / "rewards" / "records"
"""Where a source checkout has the states recorded in Meta-World."""
ONE_ENGINE = "this version has one engine"


@dataclass(frozen=True, slots=True)
class Starts:
    """How many configurations start as they must not."""

    success: int
    collision: int
    out_of_reach: int

    @property
    def good(self) -> bool:
        return self.success == self.collision == self.out_of_reach == 0


@dataclass(frozen=True, slots=True)
class Script:
    """What the scripted policy does."""

    solved: float
    """Share of the configurations solved within the horizon."""
    mean_steps: float | None
    """Control steps to success, where it was reached; None if it nowhere was."""
    most_steps: int | None
    diverged: int
    """Episodes that ended because the physics broke down."""

    @property
    def good(self) -> bool:
        return self.solved >= SOLVED and self.diverged == 0


@dataclass(frozen=True, slots=True)
class Check:
    """All there is to say about one task."""

    task: str
    configurations: int
    starts: Starts
    script: Script
    reward: Comparison | None
    """Against Meta-World's; None if there is no record."""
    second_engine: None
    """Agreement of a second engine with the first; None while there is one only."""
    picture: str | None
    """Where it can be seen."""

    @property
    def works(self) -> bool:
        """Whether nothing that was checked is wrong."""
        return self.starts.good and self.script.good and (self.reward is None or self.reward.equal)


def available() -> tuple[str, ...]:
    """The tasks that are there."""
    return tuple(
        name for name in NAMES if find_spec(f"tsil.mt15.tasks.{name.replace('-', '_')}") is not None
    )


def check_starts(environment: MT15Environment) -> Starts:
    """Look at the starts of all worlds of an environment that has just been reset."""
    task, state = environment.task, environment.named_positions
    place = task.placement
    low, high, start = (
        torch.tensor(corner, device=environment.device)
        for corner in (place.hand_low, place.hand_high, place.hand_start)
    )
    far = torch.linalg.vector_norm(state.hand - start, dim=1) > STRAY
    far |= ((state.object < low - REACH) | (state.object > high + REACH)).any(dim=1)
    return Starts(
        success=int(task.outcome(state).success.sum()),
        collision=int(_collides(environment).sum()),
        out_of_reach=int(far.sum()),
    )


def _collides(environment: MT15Environment) -> Tensor:
    """(n,) bool: where the robot touches something, or two things are in each other."""
    engine = environment.engine
    model = compile_scene(environment.task.scene)
    data = mujoco.MjData(model)
    robot = _robot_geoms(model)
    positions = engine.field("qpos").cpu().numpy()
    places = {name: engine.model_field(name).cpu().numpy() for name in ("body_pos", "body_quat")}
    found = torch.zeros(environment.num_environments, dtype=torch.bool)
    for world, position in enumerate(positions):
        for name, values in places.items():
            getattr(model, name)[:] = values[world]
        data.qpos[:] = position
        mujoco.mj_fwdPosition(model, data)
        touching, depth = data.contact.geom, -data.contact.dist
        found[world] = bool(((robot[touching].any(axis=1) & (depth > 0)) | (depth > DEEPEST)).any())
    return found


def _robot_geoms(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """(shapes,) whether each belongs to the robot."""
    base = model.body("base").id
    robot: NDArray[np.bool_] = np.zeros(model.nbody, bool)
    robot[base] = True
    for body in range(base + 1, model.nbody):  # parents come before their children
        robot[body] = robot[model.body_parentid[body]]
    owned: NDArray[np.bool_] = robot[model.geom_bodyid]
    return owned


def steps_to_success(environment: MT15Environment, see: Callable[[], None] | None = None) -> Tensor:
    """Play the scripted policy from the present start; (n,) int64, 0 where it fails.

    ``see`` is called at the start and before every further step.
    """
    taken = torch.zeros(environment.num_environments, dtype=torch.int64, device=environment.device)
    for number in range(1, environment.horizon + 1):
        if see is not None:
            see()
        step = environment.step(environment.task.script(environment.named_positions))
        # A world starts again by itself after its success, which alone counts.
        taken[step.success & (taken == 0)] = number
        if bool((taken > 0).all()):
            break
    return taken


def check_script(environment: MT15Environment) -> Script:
    """Play the scripted policy from the present start of all worlds."""
    taken = steps_to_success(environment)
    solved = taken[taken > 0]
    return Script(
        solved=len(solved) / len(taken),
        mean_steps=float(solved.double().mean()) if len(solved) else None,
        most_steps=int(solved.max()) if len(solved) else None,
        diverged=environment.counters()["diverged"],
    )


def check_task(
    name: str, configurations: int, seed: int, records: Path = RECORDS, pictures: Path | None = None
) -> Check:
    """Check one task on ``configurations`` drawn from ``seed``."""
    environment = make(name, configurations)
    try:
        environment.reset(seed)
        starts = check_starts(environment)
        script = check_script(environment)
    finally:
        environment.close()
    record = records / f"{name}.npz"
    picture = None
    if pictures is not None:
        from tsil.mt15.pictures import picture_task

        picture = str(picture_task(name, seed, pictures))
    return Check(
        task=name,
        configurations=configurations,
        starts=starts,
        script=script,
        reward=compare(name, read_record(record)) if record.is_file() else None,
        second_engine=None,
        picture=picture,
    )


HEADINGS = (
    f"{'task':<18}{'bad starts':>11}{'solved':>9}{'steps: mean':>13}{'most':>6}"
    f"{'reward off by':>15}{'engines':>9}  works  picture"
)


def row(check: Check) -> str:
    """One task, under ``HEADINGS``."""
    starts, script, reward = check.starts, check.script, check.reward
    bad = f"{starts.success}/{starts.collision}/{starts.out_of_reach}"
    mean = "–" if script.mean_steps is None else f"{script.mean_steps:.1f}"
    most = "–" if script.most_steps is None else str(script.most_steps)
    off = "not checked" if reward is None else f"{reward.difference:.1e}"
    if reward is not None and reward.mismatches:
        off += f" ({reward.mismatches})"
    return (
        f"{check.task:<18}{bad:>11}{script.solved:>9.1%}{mean:>13}{most:>6}{off:>15}{'–':>9}"
        f"  {'yes' if check.works else 'NO':<5}  {check.picture or '–'}"
    )


def legend(checks: Sequence[Check], records: Path) -> str:
    """What the columns mean, and why some are empty."""
    lines = [
        f"bad starts: in success/in collision/out of reach, of {checks[0].configurations}; "
        f"solved: by the scripted policy, at least {SOLVED:.0%} wanted; "
        f"steps: control steps of 1/60 s to success",
        f"engines: – ({ONE_ENGINE})",
    ]
    if any(check.reward is None for check in checks):
        lines.append(
            f"reward: not checked where {records} has no record (a source checkout has them under "
            f"tests/; --records names another folder)"
        )
    return "\n".join(lines)


def main(
    tasks: tyro.conf.Positional[tuple[str, ...]] = (),
    configurations: int = 1000,
    seed: int = 0,
    records: Path = RECORDS,
    pictures: Path | None = None,
    json: bool = False,
) -> int:
    """Check the tasks of MT15; 0 when all that were checked work.

    Args:
        tasks: Names of the tasks; all that are there by default.
        configurations: How many to draw of each task.
        seed: What they are drawn from.
        records: Folder with the states recorded in Meta-World, as the parity command keeps them.
        pictures: Folder for a contact sheet of all tasks, and a strip and a film of each.
        json: Print JSON.
    """
    chosen = tasks or available()
    for name in chosen:
        if name not in NAMES:
            nearest = get_close_matches(name, NAMES, n=1, cutoff=0.0)[0]
            raise ValueError(f"There is no task {name!r}; did you mean {nearest!r}?")
    checks = []
    if not json:
        print(HEADINGS)
    for name in chosen:
        checks.append(check_task(name, configurations, seed, records, pictures))
        if not json:
            print(row(checks[-1]), flush=True)
    sheet = None
    if pictures is not None:
        from tsil.mt15.pictures import contact_sheet

        sheet = contact_sheet(chosen, pictures)
    if json:
        _print_json(checks, sheet)
    else:
        print(legend(checks, records))
        if sheet is not None:
            print(f"contact sheet: {sheet}")
    return 0 if all(check.works for check in checks) else 1


def _print_json(checks: Sequence[Check], sheet: Path | None) -> None:
    tasks = [{**asdict(check), "works": check.works} for check in checks]
    found = {
        "tasks": tasks,
        "second_engine": ONE_ENGINE,
        "contact_sheet": None if sheet is None else str(sheet),
    }
    print(dumps(found, indent=2))


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(main))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
