"""The configuration reference says what the configuration is."""

from pathlib import Path

from tsil.cli.reference import field_docs, reference
from tsil.method.configuration import PPO, Configuration, flatten

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == reference(), "run make docs"


def test_every_field_is_explained() -> None:
    text = reference()
    for name in flatten(Configuration()):
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        assert len(row.split("|")[4].strip()) > 3


def test_explanations_are_the_strings_below_the_fields() -> None:
    assert field_docs(PPO)["clip"] == "ε of the clipped surrogate."
