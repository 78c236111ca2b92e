"""The page in a browser, and with hostile contents."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tsil.analysis.report import page, write_report
from tsil.analysis.report.data import read_report
from tsil.cli import main
from tsil.runs.directory import RunDirectory

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--virtual-time-budget=3000"),
)
POINT = """<script>
const drawing = document.querySelector("svg[data-chart]"), box = drawing.getBoundingClientRect();
drawing.dispatchEvent(new PointerEvent("pointermove",
  {clientX: box.left + box.width * 0.9, clientY: box.top + 20}));
document.title = document.getElementById("tip").innerText;
</script></body>"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds of TSIL and one of IH, evaluated, one of them filmed."""
    folder = tmp_path_factory.mktemp("runs")
    tiny = ("--envs", "16", "--rollout", "8", "--steps", "2k", "--network.hidden", "16", "8")
    paths = []
    for method, seed in (("tsil", 0), ("tsil", 1), ("ih", 0)):
        path = folder / f"{method}-{seed}"
        what = ("train", "practice", "--method", method, "--seed", str(seed), "--out", str(path))
        assert main([*what, *tiny, "--threads", "1"]) == 0
        assert main(["eval", str(path), "--trials", "20", "--threads", "1"]) == 0
        paths.append(path)
    film = str(paths[0] / "videos" / "best.mp4")
    what = ("play", str(paths[0]), "--configurations", "2", "--width", "320", "--threads", "1")
    assert main([*what, "--video", film]) == 0
    return paths


def test_the_page_has_every_part(runs: list[Path]) -> None:
    text = page(read_report(runs, "A <title>"))
    for part in ("Videos", "Learning", "Evaluation", "Health", "Where the time went"):
        assert f"<h2>{part}</h2>" in text
    assert "<title>A &lt;title&gt;</title>" in text
    assert "data:video/mp4;base64," in text
    assert "Beside the paper" not in text  # it has no number for the practice task
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert "http" not in text


def test_the_papers_numbers_stand_beside_a_task_that_it_has(
    runs: list[Path], tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(runs[0], tmp_path / "run"))
    config = copy / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "task": "drawer-open"}))
    assert "0.986 ± 0.022" in page(read_report([copy]))


def test_hostile_contents_stay_text(runs: list[Path], tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    copy = Path(shutil.copytree(runs[0], tmp_path / "run"))
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "task": evil}))
    (copy / "machine.json").write_text(json.dumps([{evil: evil}]))
    directory = RunDirectory(copy)
    line = {"success_rate": 0.5, "policy": evil, "asked": evil, "trials": evil, "target": evil}
    directory.record_evaluation({**line, "success_interval": evil, "completion_interval": [evil]})
    line = list(directory.lines())[-1]
    directory.append({**line, "iteration": 99, "counters": {evil: evil}})
    text = page(read_report([copy], evil))
    assert "<script>alert" not in text
    assert text.count("<script>") == 1


@pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_shows_it_without_complaint(runs: list[Path], tmp_path: Path, width: int) -> None:
    assert BROWSER is not None
    out = tmp_path / "report.html"
    write_report(runs, out)
    probe = tmp_path / "probe.html"
    probe.write_text(out.read_text().replace("</body>", POINT))
    done = subprocess.run(
        [
            BROWSER,
            *OPTIONS,
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},900",
            "--dump-dom",
            f"file://{probe}",
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title is not None
    assert "steps" in title[1]
    assert "TSIL" in title[1]
    assert "%" in title[1]
