"""The shared reward terms against scalar references written from their definitions."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tsil.mt15.rewards.shared import (
    beneath_hand,
    clearance,
    dense_grasp,
    distance,
    funnel,
    grasp,
    hamacher,
    orientation,
    straddle,
    tolerance,
)
from tsil.mt15.state import Initial, State

Vector = list[float]

SIGMOIDS = (
    "gaussian",
    "hyperbolic",
    "long_tail",
    "reciprocal",
    "cosine",
    "linear",
    "quadratic",
    "tanh_squared",
)


def slow_sigmoid(x: float, value: float, sigmoid: str) -> float:
    """Each kind as dm_control defines it: a scale that makes it ``value`` at 1."""
    if sigmoid == "gaussian":
        scale = math.sqrt(-2 * math.log(value))
        return math.exp(-0.5 * (x * scale) ** 2)
    if sigmoid == "hyperbolic":
        return 1 / math.cosh(min(x * math.acosh(1 / value), 700))
    if sigmoid == "long_tail":
        return 1 / ((x * math.sqrt(1 / value - 1)) ** 2 + 1)
    if sigmoid == "reciprocal":
        return 1 / (abs(x) * (1 / value - 1) + 1)
    if sigmoid == "cosine":
        scaled = x * math.acos(2 * value - 1) / math.pi
        return (1 + math.cos(math.pi * scaled)) / 2 if scaled < 1 else 0.0
    if sigmoid == "linear":
        scaled = x * (1 - value)
        return 1 - scaled if scaled < 1 else 0.0
    if sigmoid == "quadratic":
        scaled = x * math.sqrt(1 - value)
        return 1 - scaled**2 if scaled < 1 else 0.0
    assert sigmoid == "tanh_squared"
    return 1 - math.tanh(x * math.atanh(math.sqrt(1 - value))) ** 2


def slow_tolerance(
    x: float,
    bounds: tuple[float, float],
    margin: float,
    sigmoid: str = "long_tail",
    value_at_margin: float = 0.1,
) -> float:
    lower, upper = bounds
    if lower <= x <= upper:
        return 1.0
    if margin == 0:
        return 0.0
    outside = lower - x if x < lower else x - upper
    return slow_sigmoid(outside / margin, value_at_margin, sigmoid)


def slow_hamacher(a: float, b: float) -> float:
    return a * b / (a + b - a * b) if a + b - a * b > 0 else 0.0


def slow_distance_xz(a: Vector, b: Vector) -> float:
    return math.hypot(a[0] - b[0], a[2] - b[2])


def slow_grasp(
    world: dict[str, Vector],
    position: Vector,
    start: Vector,
    radius: float,
    pad_reach: float,
    xz_reach: float,
    effort: float,
) -> tuple[float, float]:
    sides = []
    for pad in ("left_pad", "right_pad"):
        y = world[pad][1]
        margin = abs(abs(y - start[1]) - pad_reach)
        sides.append(slow_tolerance(abs(y - position[1]), (radius, pad_reach), margin))
    margin = slow_distance_xz(start, world["initial_tcp"]) - xz_reach
    reach = slow_tolerance(slow_distance_xz(world["tcp"], position), (0, xz_reach), margin)
    caging = slow_hamacher(slow_hamacher(*sides), reach)
    closing = min(max(world["action"][3], 0), effort) / effort
    return caging, slow_hamacher(caging, closing if caging > 0.97 else 0.0)


def slow_straddle(world: dict[str, Vector], radius: float, slack: float, xz_reach: float) -> float:
    y, pad_reach = world["object"][1], 0.05
    caging, gripping = [], []
    for pad, sign in (("left_pad", 1), ("right_pad", -1)):
        side = sign * (world[pad][1] - y)
        margin = abs(abs(y - world[f"initial_{pad}"][1]) - pad_reach)
        caging.append(slow_tolerance(side, (radius, pad_reach), margin))
        gripping.append(slow_tolerance(side, (radius, radius + slack), margin))
    margin = slow_distance_xz(world["initial_object"], world["initial_tcp"]) - xz_reach
    reach = slow_tolerance(slow_distance_xz(world["tcp"], world["object"]), (0, xz_reach), margin)
    caged = slow_hamacher(slow_hamacher(*caging), reach)
    return (caged + (slow_hamacher(*gripping) if caged > 0.95 else 0.0)) / 2


def hand_near_object(number: int, seed: int) -> tuple[State, list[dict[str, Vector]]]:
    """Worlds with the hand around the object: as a state, and world by world as lists."""
    rng = torch.Generator().manual_seed(seed)

    def normal(scale: float, size: int = 3) -> Tensor:
        return torch.randn(number, size, generator=rng, dtype=torch.float64) * scale

    thing = torch.tensor([0.1, 0.7, 0.02], dtype=torch.float64) + normal(0.05)
    spread = 10 ** (3 * torch.rand(number, 1, generator=rng, dtype=torch.float64) - 4)
    tcp = thing + spread * normal(1.0)
    opening = 0.06 * torch.rand(number, 2, generator=rng, dtype=torch.float64)
    left, right = tcp.clone(), tcp.clone()
    left[:, 1] += opening[:, 0]
    right[:, 1] -= opening[:, 1]
    columns = {
        "action": normal(1.0, 4),
        "hand": tcp + torch.tensor([0.0, 0.0, 0.045], dtype=torch.float64),
        "tcp": tcp,
        "left_pad": left,
        "right_pad": right,
        "object": thing,
        "object_quaternion": torch.tensor([1.0, 0, 0, 0], dtype=torch.float64) + normal(0.1, 4),
    }
    initial = {
        "tcp": torch.tensor([0.0, 0.6, 0.15], dtype=torch.float64) + normal(0.02),
        "left_pad": torch.tensor([0.0, 0.65, 0.2], dtype=torch.float64) + normal(0.02),
        "right_pad": torch.tensor([0.0, 0.55, 0.2], dtype=torch.float64) + normal(0.02),
        "object": thing + normal(0.02),
    }
    zeros, nothing = torch.zeros_like(thing), torch.zeros(number, 4, dtype=torch.float64)
    state = State(
        **columns,
        openness=torch.ones(number, dtype=torch.float64),
        second=zeros,
        second_quaternion=nothing,
        part=zeros,
        target=zeros,
        initial=Initial(**initial, second=zeros, part=zeros),
    )
    lists = {name: value.tolist() for name, value in columns.items()}
    lists |= {f"initial_{name}": value.tolist() for name, value in initial.items()}
    worlds = [{name: value[world] for name, value in lists.items()} for world in range(number)]
    return state, worlds


@pytest.mark.parametrize("sigmoid", SIGMOIDS)
@given(
    x=st.lists(st.floats(-3, 3), min_size=1, max_size=8),
    lower=st.floats(-1, 1),
    width=st.floats(0, 1),
    margin=st.sampled_from([0.0, 0.01, 0.3, 2.0]),
    value=st.floats(0.01, 0.9),
)
def test_tolerance(
    sigmoid: str, x: Vector, lower: float, width: float, margin: float, value: float
) -> None:
    bounds = (lower, lower + width)
    ours = tolerance(torch.tensor(x, dtype=torch.float64), bounds, margin, sigmoid, value)  # type: ignore[arg-type]
    slow = [slow_tolerance(one, bounds, margin, sigmoid, value) for one in x]
    torch.testing.assert_close(ours, torch.tensor(slow, dtype=torch.float64), atol=1e-9, rtol=0)


@pytest.mark.parametrize("sigmoid", SIGMOIDS)
def test_tolerance_is_the_value_at_the_margin(sigmoid: str) -> None:
    x = torch.tensor([0.9, 1.0, 1.5, 2.0, 2.5], dtype=torch.float64)
    value = tolerance(x, (1.0, 2.0), torch.tensor(0.5), sigmoid, 0.3)  # type: ignore[arg-type]
    assert value[1:4].tolist() == [1, 1, 1]
    assert value[4].item() == pytest.approx(0.3)
    assert 0.3 < value[0].item() < 1


def test_tolerance_takes_a_margin_for_each_world() -> None:
    x, margin = torch.tensor([0.0, 0.5, 0.5, 0.5]), torch.tensor([0.0, 0.0, 0.5, 1.0])
    value = tolerance(x, (0.0, 0.0), margin)
    assert value.tolist() == pytest.approx([1, 0, 0.1, 1 / (1 + 9 / 4)])


def test_tolerance_refuses_what_makes_no_sense() -> None:
    x = torch.zeros(1)
    with pytest.raises(ValueError, match=r"lower <= upper, not \(1.0, 0.0\)"):
        tolerance(x, (1.0, 0.0), 1.0)
    with pytest.raises(ValueError, match="between 0 and 1, not 0"):
        tolerance(x, (0.0, 1.0), 1.0, value_at_margin=0.0)
    assert tolerance(x + 2, (0.0, 1.0), 1.0, "linear", 0.0).tolist() == [0]


@given(a=st.floats(0, 1), b=st.floats(0, 1))
def test_hamacher(a: float, b: float) -> None:
    ours = hamacher(torch.tensor([a], dtype=torch.float64), torch.tensor([b], dtype=torch.float64))
    assert ours.item() == pytest.approx(slow_hamacher(a, b), abs=1e-12)


def test_hamacher_of_nothing_is_nothing() -> None:
    zero, one = torch.zeros(1), torch.ones(1)
    assert hamacher(zero, zero).item() == hamacher(zero, one).item() == 0
    assert hamacher(one, one).item() == 1


@pytest.mark.parametrize("elsewhere", [False, True])
def test_grasp(elsewhere: bool) -> None:
    state, worlds = hand_near_object(400, seed=1)
    start = state.initial.object + 0.05 if elsewhere else None
    sizes = {"radius": 0.015, "pad_reach": 0.05, "xz_reach": 0.01, "effort": 0.7}
    ours = grasp(state, state.object, **sizes, start=start)
    dense = dense_grasp(state, state.object, **sizes, start=start)
    gripped = 0
    for index, world in enumerate(worlds):
        origin = [value + 0.05 * elsewhere for value in world["initial_object"]]
        caging, gripping = slow_grasp(world, world["object"], origin, **sizes)
        assert ours.caging[index].item() == pytest.approx(caging, abs=1e-9)
        assert ours.gripping[index].item() == pytest.approx(gripping, abs=1e-9)
        assert dense[index].item() == pytest.approx((caging + gripping) / 2, abs=1e-9)
        gripped += gripping > 0
    assert 5 < gripped < 300


def test_straddle() -> None:
    state, worlds = hand_near_object(400, seed=2)
    ours = straddle(state, radius=0.02, grip_slack=0.005, xz_reach=0.01)
    slow = [slow_straddle(world, 0.02, 0.005, 0.01) for world in worlds]
    torch.testing.assert_close(ours, torch.tensor(slow, dtype=torch.float64), atol=1e-9, rtol=0)
    assert 5 < sum(value > 0.5 for value in slow) < 300


def test_beneath_hand_slides_along_x_only_within_reach() -> None:
    state, worlds = hand_near_object(50, seed=3)
    position = beneath_hand(state, 0.01)
    for ours, world in zip(position.tolist(), worlds, strict=True):
        near = abs(world["object"][0] - world["hand"][0]) < 0.01
        assert ours == [world["hand"][0] if near else world["object"][0], *world["object"][1:]]
    assert state.object.tolist() == [world["object"] for world in worlds]


def test_orientation() -> None:
    state, worlds = hand_near_object(50, seed=4)
    ideal = (0.9, 0.1, 0.0, 0.0)
    for ours, world in zip(orientation(state, ideal, 0.4).tolist(), worlds, strict=True):
        error = math.dist(world["object_quaternion"], ideal)
        assert ours == pytest.approx(max(1 - error / 0.4, 0))


def test_funnel_and_clearance() -> None:
    radius = torch.tensor([0.0, 0.03, 0.031, 0.1, 0.4], dtype=torch.float64)
    floor = funnel(radius, 0.03, 0.02, 0.2)
    slow = [0.02 * math.log(r - 0.03) + 0.2 if r > 0.03 else 0.0 for r in radius.tolist()]
    assert floor.tolist() == pytest.approx(slow)

    heights = torch.tensor([0.3, 0.2, 0.191, 0.15, 0.0], dtype=torch.float64)
    value = clearance(heights, torch.full((5,), 0.2, dtype=torch.float64), 0.05)
    below = [slow_tolerance(max(0.2 - h, 0), (0, 0.01), 0.05) for h in heights.tolist()]
    assert value.tolist() == pytest.approx(below)
    assert value[:3].tolist() == [1, 1, 1]


def test_distance_stretches_axes() -> None:
    a, b = torch.rand(5, 3, dtype=torch.float64), torch.rand(5, 3, dtype=torch.float64)
    for ours, p, q in zip(distance(a, b, (3.0, 1.0, 0.5)).tolist(), a, b, strict=True):
        stretched = [
            (x - y) * s for x, y, s in zip(p.tolist(), q.tolist(), (3, 1, 0.5), strict=True)
        ]
        assert ours == pytest.approx(math.hypot(*stretched))
    torch.testing.assert_close(distance(a, b), torch.linalg.vector_norm(a - b, dim=-1))
