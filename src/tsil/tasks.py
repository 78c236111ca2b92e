"""Every task that a name stands for. Nothing is imported before a task is made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsil.method.environment import Environment


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What a person wants to know before choosing a task."""

    number: int | None
    """MTBench's id; None outside MT15."""
    name: str
    varies: str
    """What tells one configuration from another."""
    success: str
    """When an episode counts as done."""

    @property
    def ready(self) -> bool:
        """Whether this installation can make it."""
        if self.number is None:
            return True
        module = f"{self.name.replace('-', '_')}.py"
        declared = (Path(__file__).parent / "mt15" / "tasks" / module).is_file()
        return declared and find_spec("mujoco") is not None

    def summary(self) -> dict[str, object]:
        """The facts by name, for JSON."""
        return {**asdict(self), "status": "ready" if self.ready else "not available"}


TASKS: dict[str, TaskFacts] = {
    facts.name: facts
    for facts in (
        TaskFacts(
            None,
            "practice",
            "start, goal and staging area of a hand in the plane",
            "hand within 2 cm of the goal",
        ),
        TaskFacts(0, "assembly", "peg", "nut aligned with the peg and dropped over it"),
        TaskFacts(1, "basketball", "ball, hoop", "ball within 8 cm of the goal in the hoop"),
        TaskFacts(2, "bin-picking", "cube in the left bin", "cube within 5 cm of the right bin's"),
        TaskFacts(3, "box-close", "lid, box", "lid within 8 cm of its place on the box"),
        TaskFacts(14, "door-lock", "door", "lock turned down to within 2 cm"),
        TaskFacts(18, "drawer-open", "drawer", "handle within 3 cm of 20 cm pulled out"),
        TaskFacts(21, "hammer", "hammer", "nail driven in by more than 9 cm"),
        TaskFacts(22, "hand-insert", "object, hole", "object within 5 cm of the hole's floor"),
        TaskFacts(27, "lever-pull", "lever", "lever within 7.5° of upright"),
        TaskFacts(28, "peg-insert-side", "peg, box", "peg's head within 7 cm of the hole"),
        TaskFacts(29, "peg-unplug-side", "plug box", "plug within 7 cm of 15 cm pulled out"),
        TaskFacts(30, "pick-out-of-hole", "goal", "object within 7 cm of the goal"),
        TaskFacts(43, "soccer", "ball, goal", "ball within 7 cm of the goal"),
        TaskFacts(44, "stick-pull", "stick, goal", "thermos within 12 cm of the goal by the stick"),
        TaskFacts(46, "sweep-into-goal", "puck", "puck within 5 cm of the hole"),
    )
}


def task_named(name: str) -> TaskFacts:
    """The task called ``name``; an unknown name is refused with the nearest right one."""
    if name in TASKS:
        return TASKS[name]
    near = get_close_matches(name, TASKS, n=1, cutoff=0.4)
    hint = f": did you mean {near[0]!r}?" if near else ": tsil tasks lists them"
    raise ValueError(f"unknown task {name!r}{hint}")


def make_environment(
    task: str, environments: int, threads: int = 0, device: str = "cpu"
) -> Environment:
    """``environments`` worlds of a task. threads: for the physics, 0 is one per core."""
    facts = task_named(task)
    if device != "cpu":
        import torch

        if not torch.cuda.is_available():
            raise ValueError(f"device is {device!r}, but torch finds no CUDA device here: use cpu")
    if facts.number is None:
        from tsil.environments.practice import PracticeEnvironment

        return PracticeEnvironment(environments, device=device)
    if not facts.ready:
        raise ValueError(f"task {task!r} is not available in this installation")
    from tsil import mt15

    if device != "cpu":
        raise ValueError(f"device is {device!r}: task {task!r} needs cpu")
    return mt15.make(task, environments, threads or None)
