"""The public names."""

import subprocess
import sys

import pytest

import tsil


@pytest.mark.parametrize("name", tsil.__all__)
def test_every_public_name_is_there(name: str) -> None:
    found = getattr(tsil, name)
    home = getattr(found, "__module__", None)
    assert home is None or home.startswith(("tsil", "builtins"))


def test_names_and_homes_are_the_same_list() -> None:
    assert sorted(tsil._HOMES) == sorted(tsil.__all__) == sorted(dir(tsil))


def test_what_is_not_there_is_missed() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = tsil.trian


def test_the_import_alone_is_light() -> None:
    program = "import sys, tsil; assert not {'torch', 'numpy', 'mujoco'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", program], check=True)
