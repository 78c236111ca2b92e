"""The method's folder imports torch and the standard library, and nothing else of ours."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import tsil.method.learner

FOLDER = Path(tsil.method.learner.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))


def imported(path: Path) -> list[str]:
    """Full names of the modules a file imports, at whatever depth of its code."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # A relative import of one dot stays in the folder; more dots would leave it.
            package = ["tsil", "method", *path.relative_to(FOLDER).parts[:-1]]
            base = package[: len(package) + 1 - node.level] if node.level else []
            names.append(".".join([*base, *([node.module] if node.module else [])]))
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_imports_stay_inside(path):
    for name in imported(path):
        top = name.partition(".")[0]
        if top == "tsil":
            assert name.startswith("tsil.method"), f"{path.name} imports {name}"
        else:
            allowed = top == "torch" or top in sys.stdlib_module_names
            assert allowed, f"{path.name} imports {name}"


def test_the_folder_was_read():
    assert {"learner.py", "memory.py", "ppo.py"} <= {path.name for path in FILES}
    assert "tsil.method.memory" in imported(FOLDER / "learner.py")
