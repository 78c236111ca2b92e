"""Subject: PPO of rsl_rl on worlds that cost nothing.

The same layer sizes (without LayerNorm), rollout and epochs as ours; the minibatch is the one it
is fastest with.
"""
# mypy: ignore-errors
# Runs in a virtual environment of its own.

import time

import torch
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict


class FreeWorlds(VecEnv):
    """Worlds that do nothing."""

    def __init__(self, worlds):
        self.num_envs, self.num_actions, self.max_episode_length = worlds, 4, 150
        self.episode_length_buf = torch.zeros(worlds, dtype=torch.long)
        self.device, self.cfg = "cpu", {}
        generator = torch.Generator().manual_seed(0)
        observation = torch.randn(worlds, 41, generator=generator)
        self._observation = TensorDict({"policy": observation}, batch_size=[worlds])
        self._reward = torch.randn(worlds, generator=generator)
        self._done = torch.zeros(worlds, dtype=torch.long)

    def get_observations(self):
        return self._observation

    def step(self, actions):
        return self._observation, self._reward, self._done, {}


def prepare(settings):
    """settings: threads, worlds, rollout, epochs, minibatches."""
    torch.set_num_threads(settings["threads"])
    fresh = settings["worlds"] * settings["rollout"]

    def training(minibatch):
        network = {
            "class_name": "MLPModel",
            "hidden_dims": [512, 256, 128, 64, 32],
            "activation": "tanh",
        }
        gaussian = {"class_name": "GaussianDistribution", "init_std": 1.0}
        runner = OnPolicyRunner(
            FreeWorlds(settings["worlds"]),
            {
                "num_steps_per_env": settings["rollout"],
                "save_interval": 10**9,
                "check_for_nan": False,
                "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
                "actor": {**network, "distribution_cfg": gaussian},
                "critic": dict(network),
                "algorithm": {
                    "class_name": "PPO",
                    "num_learning_epochs": settings["epochs"],
                    "num_mini_batches": fresh // minibatch,
                    "schedule": "fixed",
                },
            },
        )

        def repeat():
            runner.learn(1)
            return fresh

        return repeat

    candidates = {m: training(m) for m in settings["minibatches"] if m <= fresh}
    seconds = {}
    for minibatch, repeat in candidates.items():
        repeat()
        start = time.perf_counter()
        repeat()
        seconds[minibatch] = time.perf_counter() - start
    best = min(seconds, key=seconds.get)
    return {"repeat": candidates[best], "settings": lambda: {"minibatch": best}}
