"""Films: where things are in the picture, and what it shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tsil.environments.practice import PracticeEnvironment
from tsil.method.configuration import Network
from tsil.method.policy import Policy
from tsil.runs.film import Actor, Layout, film, write_film


class Still(PracticeEnvironment):
    """Counts pictures."""

    drawn = 0

    def render(self, world: int, width: int, height: int) -> np.ndarray:
        self.drawn += 1
        return super().render(world, width, height)


def straight(environment: PracticeEnvironment) -> Policy:
    """A policy that goes straight for the goal, which is what a linear actor can do."""
    policy = Policy(8, 2, environment.horizon * environment.interval, True, Network(hidden=(2,)))

    def mean(augmented: torch.Tensor) -> torch.Tensor:
        return 100.0 * augmented[:, 2:4]

    policy.mean = mean
    return policy


@pytest.mark.parametrize("actors", [1, 2, 3])
@pytest.mark.parametrize("worlds", [1, 2, 4, 9, 10])
@pytest.mark.parametrize("width", [320, 1280])
def test_worlds_lie_beside_each_other_within_the_width(
    actors: int, worlds: int, width: int
) -> None:
    layout = Layout(actors, worlds, width)
    (w, h), (across, down) = layout.size, layout.tile
    assert w <= width
    assert (w % 2, h % 2, across % 2, down % 2) == (0, 0, 0, 0)
    covered = np.zeros((h, w), int)
    for actor in range(actors):
        for world in range(worlds):
            x, y = layout.corner(actor, world)
            covered[y : y + down, x : x + across] += 1
    assert covered.max() == 1
    assert covered.sum() == actors * worlds * across * down


def test_a_world_that_is_done_stands_still_while_others_go_on() -> None:
    environment = Still(3)
    policy = straight(environment)
    _, frames = film(environment, [Actor("straight", policy, 1.0)], 0, every=1, hold=5, width=640)
    pictures = list(frames)
    lengths = []
    observation = environment.reset(0)
    done = torch.zeros(3, dtype=torch.int64)
    for step in range(1, 101):
        outcome = environment.step(policy.act(observation, torch.zeros(3), torch.zeros(3)))
        done = torch.where((done == 0) & outcome.success, step, done)
        observation = outcome.observation
    lengths = done.tolist()
    assert min(lengths) > 0
    assert len(pictures) == max(lengths) + 1 + 5
    assert environment.drawn == sum(lengths)
    assert all(np.array_equal(picture, pictures[-1]) for picture in pictures[-6:])
    assert not np.array_equal(pictures[0], pictures[5])


def test_skipped_steps_are_not_drawn() -> None:
    environment = Still(1)
    actor = Actor("straight", straight(environment), 1.0)
    _, frames = film(environment, [actor], 0, every=4, hold=0, width=320)
    few = len(list(frames))
    drawn, environment.drawn = environment.drawn, 0
    _, frames = film(environment, [actor], 0, every=1, hold=0, width=320)
    all_steps = len(list(frames))
    assert abs(few - all_steps / 4) <= 2
    assert abs(drawn - environment.drawn / 4) <= 2


def test_an_environment_without_pictures_is_refused() -> None:
    class Blind(PracticeEnvironment):
        render = None

    environment = Blind(1)
    with pytest.raises(ValueError, match="cannot be filmed"):
        film(environment, [Actor("straight", straight(environment), 1.0)], 0, 1, 0)


def test_a_film_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> object:
        yield np.zeros((64, 64, 3), np.uint8)
        raise RuntimeError("the projector fell")

    for name in ("film.mp4", "film.gif"):
        with pytest.raises(RuntimeError, match="projector"):
            write_film(tmp_path / name, broken(), (64, 64), 30)
    assert list(tmp_path.iterdir()) == []
