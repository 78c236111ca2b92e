"""One look for every figure: a fixed colour per method, told apart by colour-blind eyes too."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle


@dataclass(frozen=True, slots=True)
class Ink:
    """How a method, or anything else that has a line of its own, is drawn."""

    light: str
    """Colour on white."""
    dark: str
    """Colour on black."""
    dash: str = ""
    """SVG dash pattern; empty for a solid line."""


# Okabe and Ito's palette, lifted where it would drown in a dark page.
METHOD_INK: dict[str, Ink] = {
    "tsil": Ink("#d55e00", "#ff8a3d"),
    "attl": Ink("#0072b2", "#4aa8e8"),
    "attl-sil": Ink("#009e73", "#2fcf9f"),
    "fttl": Ink("#56b4e9", "#8fd0f5", "7 3"),
    "d2s": Ink("#b5588f", "#e08dbf", "2 3"),
    "step-cost": Ink("#c98a00", "#f0b942", "7 3 2 3"),
    "ih": Ink("#7a7a7a", "#a8a8a8", "4 3"),
}

OTHER_INK: tuple[Ink, ...] = (
    Ink("#5b4db8", "#a99cff"),
    Ink("#8c564b", "#d09a8c", "7 3"),
    Ink("#1b7a7a", "#5fc7c7", "2 3"),
    Ink("#a03050", "#f08aa5", "7 3 2 3"),
)


def inks(names: list[tuple[str, str]]) -> dict[str, Ink]:
    """Ink for each (label, method): the method's own for its first label, others for the rest."""
    chosen: dict[str, Ink] = {}
    taken: set[str] = set()
    spare = cycle(OTHER_INK)
    for label, method in names:
        if method in METHOD_INK and method not in taken:
            chosen[label] = METHOD_INK[method]
            taken.add(method)
        else:
            chosen[label] = next(spare)
    return chosen
