"""A run whose numbers stop being finite leaves a state that can be looked at."""

import pytest
import torch

from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Configuration
from tsil.method.learner import NonFiniteError
from tsil.runs.directory import RunDirectory, Setup
from tsil.runs.files import read_tensors
from tsil.runs.training import Run


class Breaking(PracticeEnvironment):
    """Every world's reward is lost from some step on."""

    steps = 0

    def step(self, action):
        step = super().step(action)
        self.steps += 1
        if self.steps > 70:
            step.task_reward[:] = torch.nan
        return step


def test_the_run_stops_with_a_sentence_and_its_state(tmp_path):
    configuration = Configuration.preset(
        "desk",
        **{
            "environments": 8,
            "ppo.minibatch": 128,
            "network.hidden": (16,),
            "network.precision": "float32",
        },
    )
    directory = RunDirectory(tmp_path / "run")
    setup = Setup(task="practice", threads=1, checkpoint_every=1)
    run = Run(Breaking(8), configuration, setup, directory)
    with pytest.raises(
        NonFiniteError, match=r"8 of 8 worlds .* iteration 3 .*nonfinite\.safetensors"
    ):
        run.train()
    state, facts = read_tensors(directory.nonfinite)
    assert facts["task"] == "practice"
    assert int(state["progress.counts"][0]) == 2
    weights = [x for name, x in state.items() if name.startswith("policy.actor")]
    assert weights
    assert all(torch.isfinite(x).all() for x in weights)
    # The checkpoint before it is untouched, so training can go on from there.
    kept, _ = read_tensors(directory.checkpoint)
    assert int(kept["progress.counts"][0]) == 2
