"""The tasks of MT15 as ids of Gymnasium: ``gymnasium.make("tsil/DrawerOpen-v0")``.

``import tsil`` is enough, before or after Gymnasium is imported, and imports nothing itself: who
never asks for Gymnasium never waits for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from tsil.tasks import TASKS

HORIZON = 150
"""Control steps of an episode."""
IDS = {
    f"tsil/{''.join(word.title() for word in name.split('-'))}-v0": name
    for name, facts in TASKS.items()
    if facts.number is not None
}
"""Names of tasks by id."""


def register() -> None:
    """Make the ids known to Gymnasium."""
    import gymnasium

    for id, name in IDS.items():
        if id not in gymnasium.registry:
            gymnasium.register(
                id,
                entry_point="tsil.mt15.gymnasium_single:MT15Env",
                vector_entry_point="tsil.mt15.gymnasium_vector:MT15VectorEnv",
                max_episode_steps=HORIZON,
                kwargs={"task": name},
            )


def register_when_imported() -> None:
    """``register`` now if Gymnasium has been imported, and otherwise as soon as it is."""
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _BeforeGymnasium())


class _BeforeGymnasium(MetaPathFinder):
    """Finds Gymnasium as everybody does, with ``register`` to be run behind it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        found = find_spec(fullname)
        if found is None or found.loader is None:
            return None
        load = found.loader.exec_module

        def load_and_register(module: ModuleType) -> None:
            load(module)
            register()

        found.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return found
