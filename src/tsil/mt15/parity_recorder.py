"""Records what Meta-World's own rewards see and say; runs inside Meta-World's environment.

``tsil.mt15.parity`` starts this file with the Python of a virtual environment that has
``metaworld`` in it and nothing of ours, so it imports nothing of ours::

    python -I parity_recorder.py OUT STATES TASK [TASK ...]

For each task it plays ``EPISODES`` and, after every step, asks for the reward of the same state
with hand and objects put elsewhere: policies alone seldom come near the edges of a reward's
conditions. OUT/TASK.npz gets at most STATES of them, a third played and the others displaced: the
fields of ``tsil.mt15.state`` (those of ``Initial`` with the prefix ``initial_``), one row a
state, and the ``reward`` and ``success`` that Meta-World gave; and once what Meta-World draws
episodes from: ``drawn_low`` and ``drawn_high`` (object, then goal where it is drawn),
``hand_start``, ``hand_low`` and ``hand_high``.

"Initial" is whatever Meta-World's reward reads for it. In played states the pads' initial
positions are therefore the current ones (Meta-World keeps views of them, not copies).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
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

PART = {"assembly": "RoundNut", "peg-insert-side": "pegHead", "stick-pull": "stick_end"}
INITIAL_OBJECT = {"lever-pull": "_lever_pos_init", "stick-pull": "stick_init_pos"}
JOINT = {"hammer": "NailSlideJoint", "lever-pull": "LeverAxis"}
FINGERTIPS = ("leftEndEffector", "rightEndEffector")
PADS = ("leftpad", "rightpad")

Row = dict[str, Any]


def policy(kind: str, script: Any, rng: np.random.Generator) -> Callable[[Any], Any]:
    """From observation to action; noise and random actions are held for eight steps."""
    held = np.zeros(4)
    count = 0

    def act(observation: Any) -> Any:
        nonlocal held, count
        if count % 8 == 0:
            held = rng.uniform(-1, 1, 4)
        count += 1
        if kind == "random":
            return held
        action = np.clip(script.get_action(observation).astype(float), -1, 1)
        return action if kind == "scripted" else np.clip(action + 0.7 * held, -1, 1)

    return act


def evaluate(task: str, env: Any, observation: Any, action: Any) -> Row:
    """Meta-World's reward and success of its current state, and all that they read."""
    reward, info = env.evaluate_state(observation, action)
    initial_second = initial_part = part = np.zeros(3)
    if task in PART:
        part = env.data.site(PART[task]).xpos
    if task == "hammer":
        travel = env.data.joint(JOINT[task]).qpos.item()
        initial_second = observation[11:14] - np.array([0.0, travel, 0.0])
    elif task == "stick-pull":
        initial_second = env.obj_init_pos
    elif task == "peg-insert-side":
        initial_part = env.peg_head_pos_init
    row = {
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
        "part": part,
        "target": env._target_pos,
        "initial_tcp": env.init_tcp,
        "initial_left_pad": env.init_left_pad,
        "initial_right_pad": env.init_right_pad,
        "initial_object": getattr(env, INITIAL_OBJECT.get(task, "obj_init_pos")),
        "initial_second": initial_second,
        "initial_part": initial_part,
        "reward": reward,
        "success": bool(info["success"]),
    }
    return {key: np.array(value) for key, value in row.items()}


def displace(task: str, env: Any, observation: Any, rng: np.random.Generator) -> Any:
    """Put objects and hand elsewhere in the simulator's results; returns the observation.

    The object goes near where it is, near its target, a little up or anywhere around its target;
    the hand near where it is or near the object. Near is from a millimetre to a decimetre.
    """

    def near() -> Any:
        return rng.normal(0, 10 ** rng.uniform(-3, -1), 3)

    def moved(position: Any, target: Any) -> Any:
        up, around = np.array([0, 0, rng.uniform(0, 0.03)]), rng.uniform(-0.15, 0.15, 3)
        return (position + near(), target + near(), position + up, target + around)[rng.integers(4)]

    observation = observation.copy()
    hand, thing, second = observation[:3], observation[4:7], observation[11:14]
    part = env.data.site(PART[task]).xpos if task in PART else thing.copy()
    before = part.copy()
    if task == "lever-pull":
        angle = rng.choice((rng.uniform(0, 2), rng.normal(np.pi / 2, 0.2)))
        env.data.joint(JOINT[task]).qpos[:] = -angle
        thing[:] = env._target_pos + 0.2 * np.array([0, -np.cos(angle), np.sin(angle) - 1])
    elif task == "stick-pull":
        second[:] = moved(second, env._target_pos)
        part[:] = moved(part, second)
    else:
        part[:] = moved(part, env._target_pos)
    if task != "lever-pull":
        thing += part - before
    if task == "hammer":
        travel = rng.uniform(0.08, 0.1)
        second[1] += travel - env.data.joint(JOINT[task]).qpos.item()
        env.data.joint(JOINT[task]).qpos[:] = travel
    observation[7:11] += rng.normal(0, 0.05, 4)

    observation[3] = rng.choice((0.0, rng.uniform(0.3, 0.6), rng.uniform(0.3, 0.6), 1.0))
    goal = thing if rng.random() < 0.7 else hand.copy()
    hand[:] = goal + near() + (np.array([0.0, 0.0, 0.045]) if rng.random() < 0.7 else 0.0)
    for side, name in zip((1, -1), FINGERTIPS, strict=True):
        offset = np.array([0.0, side * 0.05 * observation[3], -0.045])
        env.data.site(name).xpos[:] = hand + offset
    for side, name in zip((1, -1), PADS, strict=True):
        offset = np.array([0.0, side * rng.uniform(0.005, 0.06), 0.0])
        env.data.body(name).xpos[:] = hand + offset
    return observation


def evaluate_displaced(task: str, env: Any, observation: Any, rng: np.random.Generator) -> Row:
    """``evaluate`` of a displaced state, the simulator left as it was."""
    data, pads = env.data, (env.init_left_pad, env.init_right_pad)
    kept = [(array, array.copy()) for array in (data.qpos, data.xpos, data.site_xpos)]
    try:
        env.init_left_pad = pads[0] + rng.normal(0, 0.02, 3)
        env.init_right_pad = pads[1] + rng.normal(0, 0.02, 3)
        return evaluate(task, env, displace(task, env, observation, rng), rng.uniform(-1, 1, 4))
    finally:
        env.init_left_pad, env.init_right_pad = pads
        for array, values in kept:
            array[:] = values


def name_of(task: str) -> str:
    """Meta-World's name of a task."""
    return RENAMED.get(task, task) + "-v3"


def make(task: str, seed: int) -> Any:
    """Meta-World's environment of a task, its configuration drawn from the seed."""
    environments = metaworld.env_dict.ALL_V3_ENVIRONMENTS_GOAL_OBSERVABLE
    return environments[f"{name_of(task)}-goal-observable"](seed=seed)


def placement(task: str) -> Row:
    """What Meta-World draws a task's episodes from."""
    env = make(task, 0)
    drawn = env._random_reset_space
    return {
        "drawn_low": drawn.low,
        "drawn_high": drawn.high,
        "hand_start": env.hand_init_pos,
        "hand_low": env.hand_low,
        "hand_high": env.hand_high,
    }


def play(task: str, seed: int, kind: str) -> Iterator[tuple[Row, list[Row]]]:
    """The states of one episode, each with two displaced ones."""
    env = make(task, seed)
    rng = np.random.default_rng(seed)
    act = policy(kind, ENV_POLICY_MAP[name_of(task)](), rng)
    observation, _ = env.reset()
    left = LONGEST
    while left:
        action = act(observation)
        observation = env.step(action)[0]
        row = evaluate(task, env, observation, action)
        yield row, [evaluate_displaced(task, env, observation, rng) for _ in range(2)]
        left = min(left - 1, AFTER_SUCCESS) if row["success"] else left - 1


def record(task: str, count: int, out: Path) -> None:
    """Play every episode and write ``count`` of the states, or all where there are fewer."""
    states = [pair for seed, kind in EPISODES for pair in play(task, seed, kind)]
    played = [row for row, _ in states]
    displaced = [row for _, rows in states for row in rows]
    kept = [*thinned(played, count // 3), *thinned(displaced, count - count // 3)]
    arrays: Row = {key: np.stack([row[key] for row in kept]) for key in kept[0]} | placement(task)
    partial = out / f"{task}.npz.partial"
    with partial.open("wb") as file:
        np.savez_compressed(file, **arrays)
    partial.rename(out / f"{task}.npz")
    print(f"{task}: played {len(played)} steps")


def thinned(rows: list[Row], count: int) -> list[Row]:
    """``count`` of the rows, evenly spread."""
    return [rows[i] for i in np.linspace(0, len(rows) - 1, min(count, len(rows)), dtype=int)]


if __name__ == "__main__":
    folder, wanted, *tasks = sys.argv[1:]
    for name in tasks:
        record(name, int(wanted), Path(folder))
