"""What the scripted policies look like: a strip and a film of each task, a sheet of all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from tsil.mt15 import MT15Environment, make
from tsil.mt15.check import steps_to_success
from tsil.runs.files import write_bytes
from tsil.runs.film import write_film

Picture = NDArray[np.uint8]
"""(height, width, 3)."""

WORLDS = 4
"""Configurations in a film."""
STILL = (640, 480)
TILE = (320, 240)
"""Width and height of a strip's pictures, and of a world in a film."""
EVERY, FRAMES = 2, 30
"""Control steps in a frame of film, and frames in a second: as fast as the world goes."""
HOLD = 30
"""Frames for which a film stands still at its end."""
CLOSE = (125, 85, 605, 445)
"""Left, upper, right and lower edge of what the sheet shows of a still: the work."""
CELL = (320, 240)
"""Width and height of a picture on the sheet."""
GAP, LABEL = 10, 34
"""Pixels around a task's pictures on the sheet, and above them."""
PAPER, INK = (250, 250, 248), (40, 42, 48)


def picture_task(name: str, seed: int, folder: Path) -> Path:
    """Make ``NAME.mp4`` and ``NAME.png`` (start, middle, end) in ``folder``; returns the latter."""
    environment = make(name, WORLDS)
    try:
        environment.reset(seed)
        positions: list[Tensor] = []
        taken = steps_to_success(
            environment, lambda: positions.append(environment.engine.field("qpos").clone())
        )
        # What never succeeds is shown to the end of its time.
        moments = torch.where(taken > 0, taken, environment.horizon).tolist()
        world = int((taken > 0).to(torch.int64).argmax())
        strip = [
            environment.render(world, *STILL, positions[moment][world])
            for moment in (0, moments[world] // 2, moments[world] - 1)
        ]
        path = folder / f"{name}.png"
        _write_png(path, np.concatenate(strip, axis=1))
        frames = _film(environment, positions, moments)
        size = (TILE[0] * 2, TILE[1] * (WORLDS // 2))
        write_film(folder / f"{name}.mp4", frames, size, FRAMES)
    finally:
        environment.close()
    return path


def _film(
    environment: MT15Environment, positions: Sequence[Tensor], moments: Sequence[int]
) -> Iterator[Picture]:
    """All worlds beside and below each other; one that has succeeded stands still."""
    tiles = [np.zeros((TILE[1], TILE[0], 3), np.uint8)] * WORLDS
    for number in range(0, len(positions), EVERY):
        for world in range(WORLDS):
            if number < moments[world]:
                tiles[world] = environment.render(world, *TILE, positions[number][world])
        yield _grid(tiles)
    for _ in range(HOLD):
        yield _grid(tiles)


def _grid(tiles: Sequence[Picture]) -> Picture:
    rows = [np.concatenate(tiles[first : first + 2], axis=1) for first in range(0, len(tiles), 2)]
    return np.concatenate(rows, axis=0)


def contact_sheet(names: Sequence[str], folder: Path) -> Path:
    """Put the strips of ``picture_task`` together in ``contact-sheet.png``; returns its path."""
    columns = min(2, len(names))
    width, height = 3 * CELL[0] + 2 * GAP, CELL[1] + LABEL + GAP
    rows = math.ceil(len(names) / columns)
    sheet = Image.new("RGB", (columns * width, rows * height + GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(20)
    for number, name in enumerate(names):
        x, y = (number % columns) * width + GAP, (number // columns) * height + GAP
        draw.text((x, y), name, fill=INK, font=font)
        with Image.open(folder / f"{name}.png") as strip:
            for moment in range(3):
                still = strip.crop((moment * STILL[0], 0, (moment + 1) * STILL[0], STILL[1]))
                close = still.crop(CLOSE).resize(CELL, Image.Resampling.LANCZOS)
                sheet.paste(close, (x + moment * CELL[0], y + LABEL - GAP))
    path = folder / "contact-sheet.png"
    _write_png(path, np.asarray(sheet))
    return path


def _write_png(path: Path, picture: Picture) -> None:
    memory = BytesIO()
    Image.fromarray(picture).save(memory, "PNG")
    write_bytes(path, memory.getvalue())
