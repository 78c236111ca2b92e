"""Files that are whole or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Gives failures while writing, which do not say where, the name of the file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``path`` under a temporary name, then rename: a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with named(path), open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as readable JSON."""
    write_bytes(path, (json.dumps(value, indent=2) + "\n").encode())


def read_json(path: Path) -> Any:
    """Read JSON; a file that is not JSON is refused by name."""
    try:
        return json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not valid JSON (line {error.lineno}): {error.msg}") from None
    except (UnicodeDecodeError, RecursionError):
        raise ValueError(f"{path} is not JSON that tsil wrote") from None


def write_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors as safetensors with JSON ``facts`` in its header."""
    packed = {name: x.detach().cpu().contiguous() for name, x in tensors.items()}
    write_bytes(path, save(packed, {"tsil": json.dumps(facts)}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts that ``write_tensors`` wrote. Runs nobody's code: there is no pickle."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    try:
        with safe_open(path, "pt") as file:
            facts = json.loads((file.metadata() or {}).get("tsil", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, json.JSONDecodeError, RecursionError, OSError) as error:
        raise ValueError(f"{path} is damaged or not a tsil file: {error}") from None
    if not isinstance(facts, dict):
        raise ValueError(f"{path} is a safetensors file, but not one that tsil wrote")
    return tensors, facts
