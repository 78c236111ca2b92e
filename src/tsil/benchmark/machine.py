"""The machine, and what else it was doing."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("tsil", "torch", "mujoco", "numpy")


def machine(threads: int) -> dict[str, object]:
    """What a reader of the figures needs to know about where they come from."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def load() -> float:
    """Processes that wanted a core during the last minute, on average."""
    return os.getloadavg()[0]


def _processor() -> str:
    facts = dict.fromkeys(("model name", "cpu family", "model"), "")
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if (name := name.strip()) in facts and not facts[name]:
                facts[name] = value.strip()
    except OSError:
        return platform.processor() or platform.machine()
    return "{model name} (family {cpu family}, model {model})".format(**facts)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
