"""Records what Meta-World's own rewards see and say; runs inside Meta-World's environment.

``tsil.mt15.parity`` starts this file with the Python of a virtual environment that has
``metaworld`` in it and nothing of ours, so it imports nothing of ours::

    python -I parity_recorder.py OUT STEPS TASK [TASK ...]

For each task it plays ``EPISODES`` and writes OUT/TASK.npz: the fields of ``tsil.mt15.state``
(those of ``Initial`` with the prefix ``initial_``), one row a step, and the ``reward`` and
``success`` that Meta-World gave. "Initial" is whatever Meta-World's reward read for it: the pads'
initial positions there alias the current ones (``get_body_com`` gives a view), so they move.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("MUJOCO_GL", "disable")

import metaworld.env_dict  # type: ignore[import-not-found]
import numpy as np
from metaworld.policies import ENV_POLICY_MAP  # type: ignore[import-not-found]

EPISODES = [(seed, policy) for seed in range(3) for policy in ("scripted", "noisy", "random")]
LONGEST = 220
AFTER_SUCCESS = 8
"""Steps that an episode goes on after its first success."""
RENAMED = {"sweep-into-goal": "sweep-into"}

PART_SITE = {"assembly": "RoundNut", "peg-insert-side": "pegHead", "stick-pull": "stick_end"}
INITIAL_OBJECT = {"lever-pull": "_lever_pos_init", "stick-pull": "stick_init_pos"}


def actions(policy: str, script: Any, rng: np.random.Generator) -> Any:
    """The function from observation to action of one kind of episode."""
    held = np.zeros(4)
    count = 0

    def act(observation: Any) -> Any:
        nonlocal held, count
        if count % 8 == 0:
            held = rng.uniform(-1, 1, 4)
        count += 1
        if policy == "random":
            return held.astype(np.float32)
        action = np.clip(script.get_action(observation), -1, 1)
        return action if policy == "scripted" else np.clip(action + 0.7 * held, -1, 1)

    return act


def row(task: str, env: Any, observation: Any, action: Any) -> dict[str, Any]:
    """One step's state, as Meta-World's reward saw it."""
    nothing = np.zeros(3)
    initial_object = getattr(env, INITIAL_OBJECT.get(task, "obj_init_pos"))
    initial_second = initial_part = nothing
    if task == "hammer":
        travel = env.data.joint("NailSlideJoint").qpos.item()
        initial_second = observation[11:14] - np.array([0.0, travel, 0.0])
    elif task == "stick-pull":
        initial_second = env.obj_init_pos
    elif task == "peg-insert-side":
        initial_part = env.peg_head_pos_init
    return {
        "action": action,
        "hand": observation[:3],
        "tcp": env.tcp_center,
        "left_pad": env.data.body("leftpad").xpos,
        "right_pad": env.data.body("rightpad").xpos,
        "openness": observation[3],
        "object": observation[4:7],
        "object_quaternion": observation[7:11],
        "second": observation[11:14],
        "second_quaternion": observation[14:18],
        "part": env.data.site(PART_SITE[task]).xpos if task in PART_SITE else nothing,
        "target": env._target_pos,
        "initial_tcp": env.init_tcp,
        "initial_left_pad": env.init_left_pad,
        "initial_right_pad": env.init_right_pad,
        "initial_object": initial_object,
        "initial_second": initial_second,
        "initial_part": initial_part,
    }


def play(task: str, seed: int, policy: str) -> Iterator[dict[str, Any]]:
    """The rows of one episode."""
    name = RENAMED.get(task, task) + "-v3"
    env = metaworld.env_dict.ALL_V3_ENVIRONMENTS_GOAL_OBSERVABLE[f"{name}-goal-observable"](
        seed=seed
    )
    act = actions(policy, ENV_POLICY_MAP[name](), np.random.default_rng(seed))
    observation, _ = env.reset()
    left = LONGEST
    while left:
        action = act(observation)
        observation, reward, _, _, info = env.step(action)
        step = row(task, env, observation, action)
        step |= {"reward": reward, "success": bool(info["success"])}
        yield {key: np.array(value) for key, value in step.items()}
        left = min(left - 1, AFTER_SUCCESS) if info["success"] else left - 1


def record(task: str, steps: int, out: Path) -> None:
    """Play every episode and write about ``steps`` of their steps, evenly thinned."""
    rows = [row for seed, policy in EPISODES for row in play(task, seed, policy)]
    kept = [
        rows[index] for index in np.linspace(0, len(rows) - 1, min(steps, len(rows)), dtype=int)
    ]
    arrays: dict[str, Any] = {key: np.stack([row[key] for row in kept]) for key in kept[0]}
    partial = out / f"{task}.npz.partial"
    with partial.open("wb") as file:
        np.savez_compressed(file, **arrays)
    partial.rename(out / f"{task}.npz")
    print(f"{task}: {len(kept)} of {len(rows)} steps, {arrays['success'].sum()} of them successes")


if __name__ == "__main__":
    folder, wanted, *tasks = sys.argv[1:]
    for name in tasks:
        record(name, int(wanted), Path(folder))
