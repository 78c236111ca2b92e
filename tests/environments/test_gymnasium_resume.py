"""Training on a Gymnasium environment goes on after a restore, in new episodes."""

import gymnasium
import torch

from tsil.environments.gymnasium import GymnasiumEnvironment
from tsil.method.configuration import Configuration
from tsil.method.learner import Learner

WORLDS = 4


def pendulums():
    vector = gymnasium.make_vec(
        "Pendulum-v1", num_envs=WORLDS, vectorization_mode="sync", max_episode_steps=50
    )
    return GymnasiumEnvironment(vector, success=lambda step: step.reward > -0.5, horizon=50)


def test_worlds_that_cannot_be_put_back_begin_new_episodes():
    configuration = Configuration.preset(
        "desk",
        **{
            "environments": WORLDS,
            "ppo.minibatch": 64,
            "network.hidden": (16,),
            "network.precision": "float32",
        },
    )
    learner = Learner(pendulums(), configuration)
    learner.iterate()
    state = learner.state()
    resumed = Learner(pendulums(), configuration)
    resumed.restore(state)
    assert (resumed.collector.elapsed == 0).all()
    assert (resumed.memory.open == -1).all()
    assert (resumed.scale.running == 0).all()
    for _ in range(4):  # past the horizon of the episodes that were under way
        record = resumed.iterate()
    assert record.iteration == 5
    assert torch.equal(resumed.collector.sound, torch.ones(WORLDS, dtype=torch.bool))
