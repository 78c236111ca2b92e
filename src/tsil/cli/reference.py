"""The configuration reference, from the configuration itself.

``python -m tsil.cli.reference FILE`` writes it; a test compares.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from pathlib import Path
from textwrap import dedent

from tsil.method.configuration import Configuration, flatten

HEAD = """\
# Configuration
Written by `make docs` from `src/tsil/method/configuration.py`; edit there.

Every field can be given to `tsil train` by its name (`--ppo.clip 0.3`, dashes for underscores if
you like) and to `tsil.train` as a keyword (`**{"ppo.clip": 0.3}`). `--preset paper` is the paper's
tables 4 and 5; `--preset desk`, which is what `tsil` takes unless told otherwise, is the same
method sized for a few cores. Whole numbers may be written 500k or 3M. Where a rollout is smaller
than four minibatches of the preset's size, the minibatch is a quarter of the rollout.
"""


def reference() -> str:
    """The page, as Markdown."""
    return HEAD + "".join(_section(kind, name) for kind, name in _sections())


def _sections() -> list[tuple[type, str]]:
    """The configuration and the parts it is made of, with their prefixes."""
    parts = [
        (type(item.default_factory()), f"{item.name}.")
        for item in dataclasses.fields(Configuration)
        if item.default_factory is not dataclasses.MISSING
    ]
    return [(Configuration, ""), *parts]


def _section(kind: type, prefix: str) -> str:
    paper, desk = (flatten(Configuration.preset(name)) for name in ("paper", "desk"))
    rows = []
    for item in dataclasses.fields(kind):
        name = prefix + item.name
        if name not in paper:
            continue
        ours = "" if desk[name] == paper[name] else _shown(desk[name])
        explanation = field_docs(kind).get(item.name, "")
        rows.append(f"| `{name}` | {_shown(paper[name])} | {ours} | {explanation} |\n")
    title = (inspect.getdoc(kind) or "").splitlines()[0].rstrip(".")
    return (
        f"\n## {title}\n| field | paper | desk, if different | meaning |\n|---|---|---|---|\n"
        + "".join(rows)
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}".replace(",", " ")
    return str(value)


def field_docs(kind: type) -> dict[str, str]:
    """The string below each field of a class, as one line."""
    (node,) = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(node, ast.ClassDef)
    docs: dict[str, str] = {}
    name = ""
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=found)):
                name = found
            case ast.Expr(value=ast.Constant(value=str() as text)) if name:
                docs[name] = " ".join(text.split())
                name = ""
            case _:
                name = ""
    return docs


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference())
