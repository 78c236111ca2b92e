"""What cannot be done is said in one sentence, with the right exit code, and leaves no trace."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from tsil.cli import main
from tsil.runs.directory import RunDirectory
from tsil.runs.files import read_tensors, write_tensors

Command = Callable[..., tuple[int, str, str]]
TRAIN = ("train", "practice")
PICKLED = b"the pickle was opened"

WORDS = [
    # What was typed, and a part of the answer.
    (("trian",), "did you mean 'train'"),
    (("dance",), "unknown command 'dance'"),
    (("train",), "name a task"),
    (("train", "draweropen"), "did you mean 'drawer-open'"),
    (("train", "zzz"), "tsil tasks lists them"),
    (("train", "practice", "hammer"), "unexpected argument 'hammer'"),
    ((*TRAIN, "--step", "3"), "did you mean '--steps'"),
    ((*TRAIN, "--ppo.clp", "0.3"), "did you mean '--ppo.clip'"),
    ((*TRAIN, "--method", "tsli"), "did you mean 'tsil'"),
    ((*TRAIN, "--method"), "--method needs a value"),
    ((*TRAIN, "--preset", "desc"), "did you mean 'desk'"),
    ((*TRAIN, "--steps", "many"), "'many' is not a whole number"),
    ((*TRAIN, "--steps", "1.5"), "'1.5' is not a whole number"),
    ((*TRAIN, "--steps", "0"), "steps is 0: it must be"),
    ((*TRAIN, "--envs", "0"), "environments is 0: it must be"),
    ((*TRAIN, "--envs", "-5"), "environments is -5"),
    ((*TRAIN, "--rollout", "0"), "rollout is 0"),
    ((*TRAIN, "--seed", "-1"), "seed is -1"),
    ((*TRAIN, "--seed", str(2**70)), "seed is"),
    ((*TRAIN, "--ppo.minibatch", "99999"), "ppo.minibatch is 99999: it must be at most"),
    ((*TRAIN, "--ppo.clip", "-0.1"), "ppo.clip is -0.1"),
    ((*TRAIN, "--ppo.clip", "wide"), "--ppo.clip: "),
    ((*TRAIN, "--ppo.gamma", "1.5"), "ppo.gamma is 1.5"),
    ((*TRAIN, "--ppo.learning-rate", "nan"), "ppo.learning_rate is nan"),
    ((*TRAIN, "--network.hidden", "0"), "network.hidden is (0,)"),
    ((*TRAIN, "--network.precision", "float16"), "must be float32 or bfloat16"),
    ((*TRAIN, "--imitation.sampling", "spilt"), "did you mean 'split'"),
    ((*TRAIN, "--disturb", "gradient=10"), "did you mean 'gradient-noise'"),
    ((*TRAIN, "--disturb", "gradient-noise"), "needs a number"),
    ((*TRAIN, "--disturb", "reward-dropout=2"), "disturbances.reward_dropout is 2.0"),
    ((*TRAIN, "--threads", "-1"), "threads is -1"),
    ((*TRAIN, "--device", "tpu"), "device is 'tpu'"),
    ((*TRAIN, "--checkpoint-every", "0"), "checkpoint_every is 0"),
    (("train", "--resume", "nowhere"), "nowhere is not a run"),
    (("train", "--like", "nowhere"), "nowhere is not a run"),
    (("train", "--like", "{run}", "--resume", "{run}"), "--like cannot be given with --resume"),
    (("train", "--resume", "{run}", "--steps", "9"), "--steps cannot be given with --resume"),
    (("train", "practice", "--resume", "{run}"), "leave 'practice' out"),
    ((*TRAIN, "--out", "{run}"), "go on with --resume"),
    (("eval",), "RUN is missing"),
    (("eval", "nowhere"), "nowhere is not a run"),
    (("eval", "{run}", "--trials", "0"), "--trials is 0"),
    (("eval", "{run}", "--envs", "0"), "--envs is 0"),
    (("eval", "{run}", "--target", "fast"), "must be max, median or a number"),
    (("eval", "{run}", "--target", "99"), "at most the horizon"),
    (("eval", "{run}", "--target", "nan"), "target is nan"),
    (("eval", "{run}", "--policy", "beste"), "has no policy 'beste': there are"),
    (("eval", "{run}", "--seed", "x"), "'x' is not a whole number"),
    (("eval", "{run}", "--seed", "-2"), "--seed is -2"),
    (("play", "{run}"), "opens no window: give --video"),
    (("play", "{run}", "--video", "film.avi"), "must end in .mp4 or .gif"),
    (("play", "{run}", "--video", "a.mp4", "--configurations", "0"), "--configurations is 0"),
    (("play", "{run}", "--video", "a.mp4", "--speed", "0"), "--speed is 0"),
    (("play", "{run}", "--video", "a.mp4", "--width", "3"), "--width is 3"),
    (("play", "{run}", "--video", "a.mp4", "--policy", "../../x"), "has no policy '../../x'"),
    (("report",), "name at least one run"),
    (("report", "nowhere"), "nowhere is not a run"),
    (("report", "{run}", "--out", "page.pdf"), "must end in .html"),
    (("export", "{run}"), "--onnx is missing"),
    (("export", "{run}", "--onnx", "policy.bin"), "must end in .onnx"),
    (("tasks", "--jsn"), "did you mean '--json'"),
]


def listing(path: Path) -> set[Path]:
    return set(path.rglob("*"))


def refused(answer: tuple[int, str, str], part: str, code: int = 2) -> None:
    """One line on stderr that says what was expected of it."""
    got, _, stderr = answer
    assert "Traceback" not in stderr
    assert got == code, stderr
    assert len(stderr.splitlines()) == 1, stderr
    assert stderr.startswith("tsil: ")
    assert part in stderr


@pytest.mark.parametrize(("words", "part"), WORDS, ids=[" ".join(words) for words, _ in WORDS])
def test_words(
    words: tuple[str, ...], part: str, tsil: Command, trained: Path, tmp_path: Path
) -> None:
    before = listing(trained), listing(tmp_path)
    refused(tsil(*(word.replace("{run}", str(trained)) for word in words)), part)
    assert (listing(trained), listing(tmp_path)) == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_no_cuda(tsil: Command, tmp_path: Path) -> None:
    refused(tsil(*TRAIN, "--device", "cuda", "--out", "run"), "finds no CUDA device")
    assert listing(tmp_path) == set()


def test_more_memory_than_there_is(tsil: Command, tmp_path: Path) -> None:
    answer = tsil(*TRAIN, "--envs", "100G", "--out", "run")
    refused(answer, "not enough memory", code=1)
    assert listing(tmp_path) == set()


# ------------------------------------------------------------------------- places to write to


def test_a_directory_with_something_in_it(tsil: Command, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("precious")
    refused(tsil(*TRAIN, "--out", "run"), "exists and is not empty")
    assert os.listdir(tmp_path / "run") == ["thesis.tex"]


def test_a_file_where_the_run_should_be(tsil: Command, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("precious")
    refused(tsil(*TRAIN, "--out", "run"), "exists and is not empty")
    assert (tmp_path / "run").read_text() == "precious"


def test_a_read_only_place(tsil: Command, tmp_path: Path) -> None:
    place = tmp_path / "closed"
    place.mkdir(mode=0o555)
    if os.access(place, os.W_OK):  # root may write anywhere but into the kernel's own files
        place = Path("/proc/self")
    refused(tsil(*TRAIN, "--envs", "16", "--out", place / "run"), str(place / "run"), code=1)


def run_with_little_room(path: Path, words: tuple[str, ...], room: int) -> tuple[int, str, str]:
    """A command that the system lets write files of ``room`` bytes at the most."""
    program = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))\n"
        "from tsil.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=path, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def test_a_full_disk_while_training(tmp_path: Path) -> None:
    words = (*TRAIN, "--envs", "16", "--rollout", "8", "--steps", "4k", "--network.hidden", "16")
    answer = run_with_little_room(tmp_path, (*words, "--threads", "1", "--out", "run"), 9000)
    refused(answer, "run/", code=1)
    run = RunDirectory(tmp_path / "run")
    run.read()
    for file in listing(run.path):
        assert file.suffix != ".tmp"
        if file.suffix == ".safetensors":
            read_tensors(file)


def test_a_full_disk_while_reporting(trained: Path, tmp_path: Path) -> None:
    answer = run_with_little_room(tmp_path, ("report", str(trained), "--out", "page.html"), 9000)
    refused(answer, "page.html", code=1)
    assert listing(tmp_path) == set()


def test_a_full_disk_while_filming(trained: Path, tmp_path: Path) -> None:
    words = ("play", str(trained), "--configurations", "1", "--video", "film.gif")
    refused(run_with_little_room(tmp_path, words, 9000), "film.gif", code=1)
    assert listing(tmp_path) == set()


# ---------------------------------------------------------------------------- damaged files


def test_a_truncated_checkpoint(tsil: Command, run_copy: Path) -> None:
    checkpoint = run_copy / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
    refused(tsil("train", "--resume", run_copy), "checkpoint.safetensors is damaged")


def test_a_checkpoint_of_another_task(tsil: Command, run_copy: Path) -> None:
    checkpoint = run_copy / "checkpoint.safetensors"
    tensors, facts = read_tensors(checkpoint)
    write_tensors(checkpoint, tensors, {**facts, "task": "hammer"})
    refused(tsil("train", "--resume", run_copy), "of task 'hammer', not of 'practice'")


def test_a_checkpoint_of_other_settings(tsil: Command, run_copy: Path) -> None:
    config = run_copy / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "ppo.gamma": 0.9}))
    refused(tsil("train", "--resume", run_copy), "ppo.gamma is 0.995 there and 0.9 here")


def test_a_checkpoint_with_a_tensor_missing(tsil: Command, run_copy: Path) -> None:
    checkpoint = run_copy / "checkpoint.safetensors"
    tensors, facts = read_tensors(checkpoint)
    del tensors["targets"]
    write_tensors(checkpoint, tensors, facts)
    refused(tsil("train", "--resume", run_copy), "does not fit this run")


def test_a_policy_where_the_checkpoint_should_be(tsil: Command, run_copy: Path) -> None:
    (run_copy / "policies" / "last.safetensors").replace(run_copy / "checkpoint.safetensors")
    refused(tsil("train", "--resume", run_copy), "is a policy, not a checkpoint")


def test_a_checkpoint_where_the_policy_should_be(tsil: Command, run_copy: Path) -> None:
    (run_copy / "checkpoint.safetensors").replace(run_copy / "policies" / "best.safetensors")
    refused(tsil("eval", run_copy), "not a policy")


def test_somebody_elses_tensors(tsil: Command, run_copy: Path) -> None:
    save_file({"weight": torch.zeros(3)}, run_copy / "policies" / "best.safetensors")
    refused(tsil("eval", run_copy), "not one that tsil wrote")


CLAIMS = [
    lambda shape: shape["network"].update(hidden=[10**9, 10**9]),
    lambda shape: shape["network"].update(hidden="wide"),
    lambda shape: shape["network"].update(precision="load"),
    lambda shape: shape["network"].update(colour="red"),
    lambda shape: shape.update(observation_size=10**12),
    lambda shape: shape.update(action_size=10**12),
    lambda shape: shape.update(longest="long"),
    lambda shape: shape.update(sees_time=7),
    lambda shape: shape.pop("network"),
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_policy_that_claims_what_it_is_not(
    claim: Callable[[dict[str, Any]], object], tsil: Command, run_copy: Path
) -> None:
    path = run_copy / "policies" / "best.safetensors"
    tensors, facts = read_tensors(path)
    claim(facts["shape"])
    write_tensors(path, tensors, facts)
    refused(tsil("eval", run_copy), "is not a policy that tsil can build")


def test_a_policy_for_another_environment(tsil: Command, run_copy: Path) -> None:
    path = run_copy / "policies" / "best.safetensors"
    tensors, facts = read_tensors(path)
    write_tensors(path, tensors, {**facts, "task": "drawer-open"})
    refused(tsil("eval", run_copy, "--trials", "2"), "but the environment has 39 and 4")


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "policies/best.safetensors"])
def test_a_pickle_under_a_harmless_name_is_not_opened(
    name: str, tsil: Command, run_copy: Path, tmp_path: Path
) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.write_bytes, (tmp_path / "proof", PICKLED)

    (run_copy / name).write_bytes(pickle.dumps(Hostile()))
    words = ("train", "--resume") if name.startswith("checkpoint") else ("eval",)
    refused(tsil(*words, run_copy), "is damaged or not a tsil file")
    pickle.loads(pickle.dumps(Hostile()))  # the trap does work
    assert (tmp_path / "proof").read_bytes() == PICKLED
    (tmp_path / "proof").unlink()
    torch.save(Hostile(), run_copy / name)
    refused(tsil(*words, run_copy), "is damaged or not a tsil file")
    assert not (tmp_path / "proof").exists()


METRICS = [
    ("not json at all\n{}\n", "metrics.jsonl is damaged at line 1"),
    ('{"iteration": 1}\n[1, 2]\n{"iteration": 3}\n', "metrics.jsonl is damaged at line 2"),
    ('{"iteration": "one"}\n{"iteration": 2}\n', "metrics.jsonl is damaged at line 1"),
    ("", "has no metrics yet"),
    ("[" * 100_000 + "\n{}", "metrics.jsonl is damaged at line 1"),
    ('{"iteration": ' + "9" * 5000 + "}\n{}", "metrics.jsonl is damaged at line 1"),
]


@pytest.mark.parametrize(("text", "part"), METRICS)
def test_corrupted_metrics(text: str, part: str, tsil: Command, run_copy: Path) -> None:
    (run_copy / "metrics.jsonl").write_text(text)
    refused(tsil("report", run_copy), part)


CONFIGS = [
    ("{", "config.json is not valid JSON"),
    ("[" * 100_000, "config.json is not JSON that tsil wrote"),
    ("[]", "must hold the settings of a run by name"),
    ('{"task": "practice"}', "lacks the field"),
    (lambda values: {**values, "color": "red"}, "unknown configuration field 'color'"),
    (lambda values: {**values, "steps": "many"}, "steps is 'many'"),
    (lambda values: {**values, "ppo.clip": [1]}, "ppo.clip is [1]"),
    (lambda values: {**values, "network.hidden": "wide"}, "network.hidden is 'wide'"),
    (lambda values: {**values, "threads": -3}, "threads is -3"),
    (lambda values: {**values, "device": 7}, "device is 7"),
    (lambda values: {**values, "task": "nail"}, "unknown task 'nail'"),
    (lambda values: {**values, "task": None}, "an environment of your own"),
    (lambda values: {**values, "task": [1]}, "task is [1]"),
]


@pytest.mark.parametrize(("change", "part"), CONFIGS)
def test_corrupted_settings(
    change: str | Callable[[dict[str, object]], object], part: str, tsil: Command, run_copy: Path
) -> None:
    config = run_copy / "config.json"
    values = json.loads(config.read_text())
    config.write_text(change if isinstance(change, str) else json.dumps(change(values)))
    refused(tsil("train", "--resume", run_copy), part)


# ------------------------------------------------------------------------- missing libraries


@pytest.fixture(scope="module")
def drawer_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a task that is drawn with OpenGL."""
    path = tmp_path_factory.mktemp("drawer") / "run"
    words = (
        *("train", "drawer-open", "--envs", "4", "--rollout", "8", "--steps", "32"),
        *("--network.hidden", "8", "--threads", "1", "--out", str(path)),
    )
    assert main(words) == 0
    return path


def test_no_gl_library(
    tsil: Command, drawer_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr("tsil.mt15.graphics._library", lambda *_: None)
    answer = tsil("play", drawer_run, "--video", "film.mp4", "--configurations", "1")
    refused(answer, "no OpenGL to draw with", code=1)
    assert listing(tmp_path) == set()


def test_no_screen(tsil: Command, drawer_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    refused(tsil("play", drawer_run), "no screen", code=1)


def test_no_onnx(tsil: Command, run_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tsil.cli.export.find_spec", lambda _: None)
    answer = tsil("export", run_copy, "--onnx", run_copy / "policy.onnx")
    refused(answer, "pip install tsil[onnx]", code=1)


def test_no_wandb(tsil: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    refused(tsil(*TRAIN, "--envs", "16", "--wandb", "--out", "run"), "wandb", code=1)
    assert listing(tmp_path) == set()
