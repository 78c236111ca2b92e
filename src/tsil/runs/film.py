"""Films of policies: several worlds in a grid, several policies side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from tsil.method.environment import Environment
from tsil.method.policy import Policy
from tsil.runs.files import named

Frame = NDArray[np.uint8]
"""(height, width, 3)."""

GAP = 6
"""Pixels between two worlds; between two policies there are three times as many."""
HEADING = 40
"""Pixels above each policy's worlds."""
BACKGROUND, TEXT = (24, 26, 31), (238, 240, 244)
DONE, FAILED = (0, 158, 115), (213, 94, 0)


@runtime_checkable
class Filmable(Protocol):
    """An environment that can be looked at."""

    def render(self, world: int, width: int, height: int) -> Frame:
        """A picture of one world, (height, width, 3) uint8; an OSError says what is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Actor:
    """A policy in a film."""

    title: str
    policy: Policy
    target: float
    """D that it is shown, seconds."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are in the picture; all sizes in pixels, and even, as video wants them."""

    actors: int
    worlds: int
    width: int = 1280
    """At the most."""

    @property
    def columns(self) -> int:
        """Worlds beside each other, for each policy."""
        return math.ceil(math.sqrt(self.worlds))

    @property
    def tile(self) -> tuple[int, int]:
        """Width and height of one world."""
        block = (self.width - (self.actors - 1) * 2 * GAP) // self.actors
        width = min(480, (block - GAP) // self.columns - GAP)
        return width // 2 * 2, width * 3 // 4 // 2 * 2

    @property
    def block(self) -> tuple[int, int]:
        """Width and height of one policy's worlds."""
        (w, h), rows = self.tile, math.ceil(self.worlds / self.columns)
        return self.columns * (w + GAP) + GAP, HEADING + rows * (h + GAP)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the film."""
        w, h = self.block
        return self.actors * w + (self.actors - 1) * 2 * GAP, h

    def corner(self, actor: int, world: int) -> tuple[int, int]:
        """Upper left corner of a world."""
        (w, h), (block, _) = self.tile, self.block
        row, column = divmod(world, self.columns)
        return actor * (block + 2 * GAP) + GAP + column * (w + GAP), HEADING + row * (h + GAP)


def film(
    environment: Environment,
    actors: Sequence[Actor],
    seed: int,
    every: int,
    hold: int,
    width: int = 1280,
) -> tuple[Layout, Iterator[Frame]]:
    """One episode of every world by every actor, all from the same configurations.

    There is a frame every ``every`` control steps. A world that has ended stands still until the
    others have, then ``hold`` frames longer.
    """
    if not isinstance(environment, Filmable):
        raise ValueError(f"{type(environment).__name__} cannot be filmed: it has no render method")
    layout = Layout(len(actors), environment.num_environments, width)
    takes = [list(_take(environment, actor, layout, seed, every)) for actor in actors]
    return layout, _composed(takes, actors, layout, hold)


@torch.no_grad()
def _take(
    environment: Environment, actor: Actor, layout: Layout, seed: int, every: int
) -> Iterator[list[Frame]]:
    """The tiles of every frame until all worlds have ended."""
    assert isinstance(environment, Filmable)
    n, device = environment.num_environments, environment.device
    observation = environment.reset(seed)
    elapsed = torch.zeros(n, dtype=torch.int64, device=device)
    target = torch.full((n,), actor.target, device=device)
    ended = [""] * n
    tiles: list[Frame] = [np.zeros((0, 0, 3), np.uint8)] * n
    for number in count():
        if number % every == 0 or all(ended):
            for world in range(n):
                if not ended[world]:
                    bare = environment.render(world, *layout.tile)
                    now = float(elapsed[world]) * environment.interval
                    tiles[world] = _labelled(bare, now, actor.target, None)
            yield list(tiles)
        if all(ended):
            return
        action = actor.policy.act(observation, elapsed * environment.interval, target)
        step = environment.step(action)
        elapsed = elapsed + (1 if step.valid is None else step.valid.to(torch.int64))
        over = step.success | step.timeout
        if step.failure is not None:
            over = over | step.failure
        for world in over.nonzero().flatten().tolist():
            if not ended[world]:
                # The world has begun anew by itself, so its last picture is the one before.
                ended[world] = "done" if bool(step.success[world]) else "over"
                now = float(elapsed[world]) * environment.interval
                tiles[world] = _labelled(tiles[world], now, actor.target, ended[world] == "done")
        observation = step.observation


def _labelled(picture: Frame, now: float, target: float, success: bool | None) -> Frame:
    """The picture with a line of text below, and a frame once the episode has ended."""
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    w, h = image.size
    size = max(11, h // 15)
    words = f"{now:.2f} s   target {target:.2f} s"
    colour = (60, 63, 70)
    if success is not None:
        words = f"done in {now:.2f} s   target {target:.2f} s" if success else "not done in time"
        colour = DONE if success else FAILED
    draw.rectangle((0, h - size - 10, w, h), fill=colour)
    draw.text((8, h - size - 6), words, fill="white", font=ImageFont.load_default(size))
    if success is not None:
        draw.rectangle((0, 0, w - 1, h - 1), outline=colour, width=4)
    return np.asarray(image)


def _composed(
    takes: list[list[list[Frame]]], actors: Sequence[Actor], layout: Layout, hold: int
) -> Iterator[Frame]:
    """All takes in one picture, each moment after the other."""
    empty = Image.new("RGB", layout.size, BACKGROUND)
    draw = ImageDraw.Draw(empty)
    for number, actor in enumerate(actors):
        x, _ = layout.corner(number, 0)
        draw.text((x, 9), actor.title, fill=TEXT, font=ImageFont.load_default(19))
    for moment in range(max(map(len, takes)) + hold):
        image = empty.copy()
        for number, take in enumerate(takes):
            for world, tile in enumerate(take[min(moment, len(take) - 1)]):
                image.paste(Image.fromarray(tile), layout.corner(number, world))
        yield np.asarray(image)


def write_film(path: Path, frames: Iterator[Frame], size: tuple[int, int], rate: float) -> None:
    """Write frames as mp4 or gif, by the ending of ``path``; whole or not at all."""
    writer = {".mp4": _write_mp4, ".gif": _write_gif}[path.suffix.lower()]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix.lower()}")
    try:
        with named(path):
            writer(temporary, frames, size, rate)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_mp4(path: Path, frames: Iterator[Frame], size: tuple[int, int], rate: float) -> None:
    import imageio_ffmpeg

    out = imageio_ffmpeg.write_frames(
        str(path),
        size,
        fps=rate,
        codec="libx264",
        macro_block_size=2,
        output_params=["-crf", "26", "-preset", "slow", "-movflags", "+faststart"],
        ffmpeg_log_level="error",
    )
    out.send(None)
    try:
        for frame in frames:
            out.send(np.ascontiguousarray(frame))
    finally:
        out.close()


def _write_gif(path: Path, frames: Iterator[Frame], size: tuple[int, int], rate: float) -> None:
    # A gif counts hundredths of a second, and viewers slow down what is faster than 2 of them.
    every = max(1, round(rate / 25))
    images = [Image.fromarray(frame) for number, frame in enumerate(frames) if number % every == 0]
    # One palette for all, from moments throughout, or the picture flickers and loses colours.
    samples = images[:: max(1, len(images) // 5)] + images[-1:]
    strip = Image.fromarray(np.concatenate([np.asarray(image) for image in samples]))
    palette = strip.quantize(255)
    pictures = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 * every / rate / 10) * 10,
        loop=0,
    )
