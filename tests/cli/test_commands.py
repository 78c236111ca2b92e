"""The commands on a small run, as a person types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
import torch
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tsil.method.configuration import Configuration
from tsil.runs.directory import RunDirectory
from tsil.runs.files import read_tensors
from tsil.runs.policies import load_policy

Command = Callable[..., tuple[int, str, str]]
TINY = ("--envs", "16", "--rollout", "8", "--network.hidden", "16", "8", "--threads", "1")


# ----------------------------------------------------------------------------------- train


def test_every_setting_can_be_given(tsil: Command, tmp_path: Path) -> None:
    words = (
        *("train", "practice", *TINY, "--method", "attl-sil", "--steps", "1k", "--seed", "3"),
        *("--ppo.clip", "0.3", "--imitation.k=2", "--rewards.success", "50", "--no-stagger"),
        *("--disturb", "gradient-noise=10", "clip-ratio=.5", "--out", "run"),
    )
    assert tsil(*words)[0] == 0
    configuration, setup = RunDirectory(tmp_path / "run").read()
    assert configuration == Configuration.preset(
        "desk",
        **{
            "method": "attl-sil",
            "steps": 1000,
            "seed": 3,
            "environments": 16,
            "rollout": 8,
            "stagger": False,
            "network.hidden": (16, 8),
            "ppo.clip": 0.3,
            "ppo.minibatch": 32,
            "imitation.k": 2,
            "rewards.success": 50.0,
            "disturbances.gradient_noise": 10.0,
            "disturbances.clip_ratio": 0.5,
        },
    )
    assert (setup.task, setup.threads) == ("practice", 1)


def test_a_run_like_another(tsil: Command, trained: Path, tmp_path: Path) -> None:
    assert tsil("train", "--like", trained, "--seed", "5", "--steps", "256", "--out", "run")[0] == 0
    model, setup = RunDirectory(trained).read()
    configuration, own_setup = RunDirectory(tmp_path / "run").read()
    assert configuration == model.override(seed=5, steps=256)
    assert own_setup == setup


def test_without_out_every_run_gets_a_place_of_its_own(tsil: Command, tmp_path: Path) -> None:
    for _ in range(2):
        assert tsil("train", "practice", *TINY, "--steps", "256")[0] == 0
    assert sorted(os.listdir(tmp_path / "runs")) == ["practice-tsil-seed0", "practice-tsil-seed0-2"]


def test_what_is_printed_without_a_terminal(tsil: Command, tmp_path: Path) -> None:
    code, out, _ = tsil("train", "practice", *TINY, "--steps", "1k", "--out", "run")
    assert code == 0
    assert "1.02k / 1.00k steps  success" in out
    assert "Trained 1.02k steps" in out
    assert "tsil eval run" in out


def test_a_finished_run_is_left_alone(tsil: Command, trained: Path) -> None:
    before = (trained / "checkpoint.safetensors").read_bytes()
    code, out, _ = tsil("train", "--resume", trained)
    assert code == 0
    assert "is finished" in out
    assert (trained / "checkpoint.safetensors").read_bytes() == before


def test_tensorboard_reads_the_events(trained: Path) -> None:
    events = EventAccumulator(str(trained / "events")).Reload()
    steps = [event.step for event in events.Scalars("success/success_rate")]
    assert steps == [128 * n for n in range(1, 13)]
    assert "ppo/value_loss" in events.Tags()["scalars"]


def wait_for_lines(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    patience = time.monotonic() + 600
    while time.monotonic() < patience and process.poll() is None:
        if path.is_file() and len(path.read_text().splitlines()) >= count:
            return
        time.sleep(0.02)
    raise AssertionError("the training did not begin")


def start(path: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tsil.cli", "train", *words],
        cwd=path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interrupt_saves_and_resume_goes_on(
    number: signal.Signals, tsil: Command, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "run")
    process = start(tmp_path, "practice", *TINY, "--steps", "100M", "--out", "run")
    wait_for_lines(run.metrics, 3, process)
    process.send_signal(number)
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    assert "then saving" in out
    assert "tsil train --resume run" in out
    last = list(run.lines())[-1]
    assert load_policy(run.last)[1]["steps"] == last["steps"]

    process = start(tmp_path, "--resume", "run")
    wait_for_lines(run.metrics, last["iteration"] + 2, process)
    process.kill()
    process.communicate()
    iterations = [line["iteration"] for line in run.lines()]
    assert iterations == list(range(1, len(iterations) + 1))


def test_two_interrupts_quit_at_once(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    # Iterations long enough that the second interrupt meets the first one's iteration.
    words = ("practice", "--envs", "2k", "--ppo.epochs", "500", "--steps", "100M", "--threads", "1")
    process = start(tmp_path, *words, "--out", "run")
    patience = time.monotonic() + 600
    while not run.events.is_dir() and time.monotonic() < patience:
        time.sleep(0.02)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 1
    assert err == "tsil: interrupted\n"


# ------------------------------------------------------------------------------------ eval


def test_eval_in_words_and_as_json(tsil: Command, run_copy: Path) -> None:
    code, out, _ = tsil("eval", run_copy, "--trials", "50", "--threads", "1")
    assert code == 0
    assert "95 % interval" in out
    assert "of 50 trials" in out
    code, out, _ = tsil("eval", run_copy, "--trials", "50", "--json", "--target", "0.8")
    found = json.loads(out)
    assert code == 0
    assert found["trials"] == 50
    assert found["target"] == pytest.approx(0.8)
    assert 0 <= found["success_interval"][0] <= found["success_rate"]
    assert [line["asked"] for line in RunDirectory(run_copy).evaluated()] == ["median", "0.8"]


def test_the_median_target_is_the_one_that_training_ended_with(
    tsil: Command, run_copy: Path
) -> None:
    state, _ = read_tensors(RunDirectory(run_copy).checkpoint)
    median = float(state["targets"].median())
    words = ("eval", run_copy, "--policy", "last", "--target", "median", "--trials", "5", "--json")
    assert json.loads(tsil(*words)[1])["target"] == pytest.approx(median)


def test_eval_of_a_run_that_cannot_be_written_to(
    tsil: Command, run_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(RunDirectory, "record_evaluation", refuse)
    code, out, err = tsil("eval", run_copy, "--trials", "5")
    assert code == 0
    assert "success" in out
    assert "not kept with the run: Permission denied" in err


# ------------------------------------------------------------------------------------ play


def test_a_film_is_as_long_as_the_episodes(tsil: Command, run_copy: Path, tmp_path: Path) -> None:
    words = ("play", run_copy, "--configurations", "2", "--width", "400", "--policy", "early")
    assert tsil(*words, "last", "--video", "film.mp4", "--threads", "1")[0] == 0
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "film.mp4"))
    facts = next(frames)
    assert facts["size"][0] <= 400
    assert facts["fps"] == 30  # half of the policy's 60 Hz
    count = len(list(frames))
    assert count <= 101 + 45 + 1
    assert count >= 45


def test_a_film_as_gif(tsil: Command, run_copy: Path, tmp_path: Path) -> None:
    words = ("play", run_copy, "--configurations", "1", "--width", "200", "--speed", "1")
    assert tsil(*words, "--video", "film.gif", "--threads", "1")[0] == 0
    with Image.open(tmp_path / "film.gif") as film:
        assert film.is_animated
        assert len(np.unique(np.asarray(film.convert("RGB")).reshape(-1, 3), axis=0)) > 5


# ---------------------------------------------------------------------------------- export


@pytest.mark.parametrize("method", ["tsil", "ih"])
def test_an_exported_policy_acts_like_the_original(
    method: str, tsil: Command, tmp_path: Path
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    words = ("train", "practice", *TINY, "--steps", "1k", "--network.precision", "float32")
    assert tsil(*words, "--method", method, "--out", "run")[0] == 0
    assert tsil("export", "run", "--onnx", "policy.onnx")[0] == 0
    policy, _ = load_policy(RunDirectory(tmp_path / "run").policy())
    session = runtime.InferenceSession(str(tmp_path / "policy.onnx"))
    for count in (1, 7):
        observation, elapsed, target = torch.randn(count, 8), torch.rand(count), torch.rand(count)
        given = {"observation": observation, "elapsed": elapsed, "target": target}
        names = [put.name for put in session.get_inputs()]
        assert names == (list(given) if policy.sees_time else ["observation"])
        (action,) = session.run(None, {name: given[name].numpy() for name in names})
        expected = policy.act(observation, elapsed, target).numpy()
        np.testing.assert_allclose(action, expected, atol=1e-5)


# ---------------------------------------------------------------------------------- report


def test_a_report_of_several_runs(tsil: Command, trained: Path, tmp_path: Path) -> None:
    code, out, _ = tsil("report", trained, "--out", "page.html", "--title", "Mine")
    assert code == 0
    assert "The report is at" in out
    assert "<h1>Mine</h1>" in (tmp_path / "page.html").read_text()
