"""MT15 as an environment: n worlds of one task behind the contract of ``tsil.method``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tsil.method.environment import Step
from tsil.mt15 import control, readings, robot
from tsil.mt15.columns import Columns
from tsil.mt15.control import Controller
from tsil.mt15.engine import Engine
from tsil.mt15.readings import FRAME, Readings
from tsil.mt15.start import start_posture
from tsil.mt15.state import Initial, State
from tsil.mt15.task import CONFIGURATION, Arrangement, Task, draw
from tsil.mt15.threads import one_thread

if TYPE_CHECKING:
    from tsil.mt15.render import Renderer

HORIZON = 150
INTERVAL = 1 / 60
SUBSTEPS = 4
"""Physics steps of 1/240 s in a control step."""
SETTLING = 15
"""Control steps that objects get to come to rest before the first episode."""


class MT15Environment:
    """n worlds of one task, each with its own configuration.

    The observation, (n, 39), is one moment (hand 3, gripper openness 1, position 3 and quaternion
    4 of the object and of the second thing, zeros where there is none), the same 18 numbers of the
    step before, and the target 3; metres. The action, (n, 4), is the hand's displacement in
    centimetres and the gripper command, > 0 closes.
    """

    num_environments: int
    horizon = HORIZON
    interval = INTERVAL
    observation_size = 2 * FRAME + 3
    action_size = 4

    def __init__(self, task: Task, engine: Engine) -> None:
        self.task = task
        self.engine = engine
        self.num_environments = n = engine.num_worlds
        self.device = device = engine.device
        self.configuration = torch.zeros(n, CONFIGURATION, device=device)
        """(n, 6) metres: φ, the drawn object position and goal position."""

        memory = {"previous": (FRAME,), "target": (3,)}
        self._columns = Columns({**readings.COLUMNS, **memory, **control.COLUMNS}, n, device)
        self._readings = Readings(engine, self._columns)
        self._controller = Controller(
            self._columns,
            engine.model,
            INTERVAL,
            (task.placement.hand_low, task.placement.hand_high),
            device,
        )
        self._control = engine.field("ctrl")  # (n, 9), live
        self._posture = start_posture(engine.model, task.placement.hand_start)
        self._frame = self._columns.rows("hand", "second_quaternion")  # (18, n)

        self._elapsed = torch.zeros(n, dtype=torch.int64, device=device)
        self._observation = torch.zeros(n, self.observation_size, device=device)
        self._final_observation = torch.zeros_like(self._observation)
        self._start_observation = torch.zeros_like(self._observation)
        self._diverged = torch.zeros((), dtype=torch.int64, device=device)
        self._action = torch.zeros(n, self.action_size, device=device)
        self._state = self._state_views()
        self._renderer: Renderer | None = None

    # The environment contract.

    def reset(self, seed: int, used: Tensor | None = None) -> Tensor:
        """Draw a configuration for every world and start its first episode."""
        return self.place(draw(self.task.placement, self.num_environments, seed), used)

    def place(self, configuration: Tensor, used: Tensor | None = None) -> Tensor:
        """Start the first episode in the given configurations, (n, 6) metres."""
        self.configuration.copy_(configuration)
        self.engine.clear()
        self._columns.clear()
        self._write(self.task.arrange(self.configuration[:, :3], self.configuration[:, 3:]))
        self.engine.forward()
        self._readings.read()
        self._controller.hold()
        self._action.zero_()
        for _ in range(SETTLING):
            self._controller.command(self._action, self._control)
            self.engine.step(SUBSTEPS)
            self._readings.read()
        self.engine.forward()
        self._readings.read()
        self._readings.read_starts()
        self._controller.hold()
        self._columns["previous"].copy_(self._frame)
        self.engine.mark()
        self._columns.mark()

        if used is None:
            self._elapsed.zero_()
        else:
            self._elapsed.copy_(used)
        self._diverged.zero_()
        self._observe(self._start_observation)
        return self._observation.copy_(self._start_observation)

    def step(self, action: Tensor) -> Step:
        """Advance every world by one control step."""
        with one_thread():
            return self._step(action)

    def _step(self, action: Tensor) -> Step:
        torch.clamp(action, -1.0, 1.0, out=self._action)
        self._columns["previous"].copy_(self._frame)
        self._controller.command(self._action, self._control)
        self.engine.step(SUBSTEPS)
        self._readings.read()

        sound = ~self.engine.diverged
        reward, done = self.task.outcome(self._state)
        success = done & sound
        self._elapsed += 1
        timeout = ((self._elapsed >= HORIZON) | ~sound) & ~success
        ended = success | timeout

        # A world whose physics broke down ends in the last moment that can be trusted.
        final = self._final_observation
        self._observe(final)
        torch.where(sound[:, None], final, self._observation, out=final)
        reward = torch.where(sound, reward, 0.0)
        self._diverged += (~sound).sum()

        self.engine.rewind(ended)
        self._columns.rewind(ended)
        self._elapsed.masked_fill_(ended, 0)
        torch.where(ended[:, None], self._start_observation, final, out=self._observation)
        return Step(self._observation, final, reward, success, timeout)

    def state(self) -> dict[str, Tensor]:
        """Everything ``restore`` needs to go on bit for bit."""
        parts = {
            **{f"engine.{name}": value for name, value in self.engine.state().items()},
            **{f"columns.{name}": value for name, value in self._columns.state().items()},
        }
        own = {name: getattr(self, f"_{name}").clone() for name in self._OWN}
        return {**parts, **own, "configuration": self.configuration.clone()}

    def restore(self, state: dict[str, Tensor]) -> Tensor:
        """Go back to a state of an equal environment; returns the current observation."""

        def part(prefix: str) -> dict[str, Tensor]:
            return {
                name.removeprefix(prefix): value
                for name, value in state.items()
                if name.startswith(prefix)
            }

        self.engine.restore(part("engine."))
        self._columns.restore(part("columns."))
        for name in self._OWN:
            getattr(self, f"_{name}").copy_(state[name])
        self.configuration.copy_(state["configuration"])
        return self._observation

    def counters(self) -> dict[str, int]:
        """``diverged``: episodes that ended because the physics broke down."""
        return {"diverged": int(self._diverged)}

    def render(
        self, world: int, width: int, height: int, positions: Tensor | None = None
    ) -> NDArray[np.uint8]:
        """A picture of one world, (height, width, 3); needs no screen.

        positions: (number of joint coordinates,), metres and radians, to show instead of its own.
        """
        if self._renderer is None:
            from tsil.mt15.render import Renderer

            self._renderer = Renderer(self)
        return self._renderer.render(world, width, height, positions)

    def close(self) -> None:
        """Give back threads, and the drawing context if there is one."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        self.engine.close()

    # What scripted policies and recordings look at.

    @property
    def named_positions(self) -> State:
        """The present moment as the task's reward and script see it: live views."""
        return self._state

    # Parts.

    _OWN = ("elapsed", "observation", "start_observation", "diverged")

    def _write(self, arrangement: Arrangement) -> None:
        """Put the robot into its start posture and everything else where it belongs."""
        model, position = self.engine.model, self.engine.field("qpos")
        arm = slice(0, robot.NUM_JOINTS)
        position[:, arm] = torch.tensor(self._posture, dtype=position.dtype, device=self.device)
        fingers = slice(robot.NUM_JOINTS, robot.NUM_JOINTS + len(robot.FINGERS))
        position[:, fingers] = robot.FINGER_TRAVEL
        for name, pose in arrangement.bodies.items():
            body = model.body(name)
            first = int(body.jntadr[0])
            if first >= 0 and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE:
                start = int(model.jnt_qposadr[first])
                position[:, start : start + pose.shape[1]] = pose.to(position.dtype)
                continue
            for part, columns in (("pos", slice(0, 3)), ("quat", slice(3, 7))):
                if columns.start < pose.shape[1]:
                    field = self.engine.model_field(f"body_{part}")
                    field[:, body.id] = pose[:, columns].to(field.dtype)
        for name, value in arrangement.joints.items():
            position[:, int(model.joint(name).qposadr[0])] = value.to(position.dtype)
        self._columns["target"].copy_(arrangement.target.T)

    def _observe(self, out: Tensor) -> None:
        """Assemble the observation of the present moment into ``out``, (n, 39)."""
        out[:, :FRAME] = self._frame.T
        out[:, FRAME : 2 * FRAME] = self._columns["previous"].T
        out[:, 2 * FRAME :] = self._columns["target"].T

    def _state_views(self) -> State:
        """The named positions as views (n, d) of the columns, made once."""
        columns = self._columns
        return State(
            action=self._action,
            hand=columns["hand"].T,
            tcp=columns["tcp"].T,
            left_pad=columns["left_pad"].T,
            right_pad=columns["right_pad"].T,
            openness=columns["openness"][0],
            object=columns["object"].T,
            object_quaternion=columns["object_quaternion"].T,
            second=columns["second"].T,
            second_quaternion=columns["second_quaternion"].T,
            part=columns["part"].T,
            target=columns["target"].T,
            initial=Initial(
                tcp=columns.marked("tcp").T,
                left_pad=columns.marked("left_pad").T,
                right_pad=columns.marked("right_pad").T,
                object=columns["object_start"].T,
                second=columns["second_start"].T,
                part=columns.marked("part").T,
            ),
        )
