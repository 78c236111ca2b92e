"""Orders go in, times come out, and what a subject prints is in nobody's way."""

from __future__ import annotations

import time

import pytest

from tsil.benchmark.process import Subject, Worker
from tsil.benchmark.worker import timed

SCRIPT = """
def prepare(settings):
    print("a subject may print")
    count = 0
    def repeat():
        nonlocal count
        count += 1
        print("also while working")
        return settings["size"] * count
    def fail():
        raise RuntimeError("out of luck")
    return {"repeat": repeat, "threads": lambda: settings["threads"], "fail": fail}
"""


@pytest.fixture
def subject(tmp_path):
    script = tmp_path / "subject.py"
    script.write_text(SCRIPT)
    return Subject("an example", script, {"size": 7})


def test_a_worker_keeps_its_state_between_orders(subject):
    with Worker(subject, threads=3) as worker:
        worker.wait_ready()
        answers = [worker.order("repeat") for _ in range(3)]
        assert [answer["value"] for answer in answers] == [7, 14, 21]
        assert all(answer["seconds"] > 0 for answer in answers)
        assert worker.order("threads")["value"] == 3


def test_a_failing_worker_says_what_happened(subject):
    with pytest.raises(OSError, match=r"measuring an example failed: .*out of luck"):
        fail(subject)


def fail(subject):
    with Worker(subject, threads=1) as worker:
        worker.wait_ready()
        worker.order("fail")


def test_waiting_takes_time_but_no_processor():
    answer = timed(lambda: time.sleep(0.2))
    assert answer["seconds"] >= 0.2
    assert answer["processor_seconds"] < 0.1
