"""Subject: PPO of Stable-Baselines3 on worlds that cost nothing.

The same layer sizes (without LayerNorm), rollout and epochs as ours; the minibatch is the one it
is fastest with.
"""
# mypy: ignore-errors
# Runs in a virtual environment of its own.

import time

import numpy as np
import torch
from gymnasium.spaces import Box
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv


class FreeWorlds(VecEnv):
    """Worlds that do nothing."""

    def __init__(self, worlds):
        super().__init__(worlds, Box(-10, 10, (41,), np.float32), Box(-1, 1, (4,), np.float32))
        generator = np.random.default_rng(0)
        self._observation = generator.standard_normal((worlds, 41), np.float32)
        self._reward = generator.standard_normal(worlds, np.float32)
        self._done = np.zeros(worlds, bool)
        self._facts = [{} for _ in range(worlds)]

    def reset(self):
        return self._observation

    def step_async(self, actions):
        pass

    def step_wait(self):
        return self._observation, self._reward, self._done, self._facts

    def close(self):
        pass

    def get_attr(self, name, indices=None):
        return [None] * self.num_envs

    def set_attr(self, name, value, indices=None):
        raise NotImplementedError("free worlds have no attributes")

    def env_method(self, name, *arguments, indices=None, **named):
        raise NotImplementedError("free worlds have no methods")

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * self.num_envs


def prepare(settings):
    """settings: threads, worlds, rollout, epochs, minibatches."""
    torch.set_num_threads(settings["threads"])
    worlds = FreeWorlds(settings["worlds"])
    fresh = settings["worlds"] * settings["rollout"]

    def training(minibatch):
        hidden = [512, 256, 128, 64, 32]
        learner = PPO(
            "MlpPolicy",
            worlds,
            n_steps=settings["rollout"],
            batch_size=minibatch,
            n_epochs=settings["epochs"],
            policy_kwargs={"net_arch": {"pi": hidden, "vf": hidden}},
            device="cpu",
        )

        def repeat():
            learner.learn(fresh, reset_num_timesteps=False)
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
