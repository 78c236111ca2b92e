"""The examples run, and so does what the README shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(*words: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=ONE_THREAD, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["gymnasium_environment.py", "tensor_environment.py"])
def test_environments_of_ones_own(name: str, tmp_path: Path) -> None:
    out = run(str(ROOT / "examples" / name), "--steps", "17000", "--trials", "20", cwd=tmp_path)
    assert json.loads(out)["trials"] == 20


def test_comparing_methods(tmp_path: Path) -> None:
    example = str(ROOT / "examples" / "compare_methods.py")
    words = ("--methods", "ih", "tsil", "--seeds", "0", "--steps", "9000", "--out", "here")
    assert "tsil      seed 0  success" in run(example, *words, cwd=tmp_path)
    page = (tmp_path / "here" / "report.html").read_text()
    assert "IH, TSIL" in page


def test_the_readmes_ten_lines(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    short = code.replace("steps=500_000", "steps=3000").replace("trials=200", "trials=20")
    assert short.count("3000") == 1
    assert "'trials': 20" in run("-c", short, cwd=tmp_path)
    assert (tmp_path / "runs" / "car" / "config.json").is_file()


@pytest.mark.parametrize(
    "page",
    [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))],
    ids=lambda p: p.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in link:
            assert (page.parent / link).exists(), link
