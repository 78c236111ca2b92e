"""D(φ): Eq. 1, and when it changes."""

from __future__ import annotations

import numpy as np
import torch

from tsil.method.targets import Targets


def test_targets_tighten_to_the_fastest_success_and_never_loosen():
    numbers = np.random.default_rng(0)
    n, longest = 5, 2.5
    targets = Targets(n, longest, torch.device("cpu"))
    expected = [longest] * n
    for _ in range(20):
        success = numbers.random((6, n)) < 0.1
        completion = numbers.uniform(0.1, 2.5, (6, n)).astype(np.float32)
        for i in range(n):
            for t in range(6):
                if success[t, i]:
                    expected[i] = min(expected[i], float(completion[t, i]))
        targets.tighten(torch.from_numpy(success), torch.from_numpy(completion))
        assert targets.seconds.tolist() == expected
    assert all(x < longest for x in expected)


def test_a_world_without_success_keeps_its_target():
    targets = Targets(2, 2.5, torch.device("cpu"))
    success = torch.tensor([[False, True]])
    targets.tighten(success, torch.tensor([[0.1, 0.4]]))
    assert targets.seconds.tolist() == [2.5, np.float32(0.4)]


def test_the_target_of_an_iteration_is_not_changed_by_tightening():
    targets = Targets(1, 2.5, torch.device("cpu"))
    during = targets.seconds
    targets.tighten(torch.tensor([[True]]), torch.tensor([[1.0]]))
    assert during.tolist() == [2.5]
    assert targets.seconds.tolist() == [1.0]
