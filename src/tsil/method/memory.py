"""B(φ): for every configuration, the trajectories worth imitating.

The memory holds ragged episodes of many worlds in one arena. The arena is cut into pages of a
few steps; an episode owns the pages it fills, from its first step on, so that one that spans
several rollouts is written once and one that is worth keeping is kept without a copy. What is
discarded gives its pages back.

Rewards are stored raw, that is before the reward normalizer and without the success bonus.
Both are applied when a replay batch is drawn, so a stored trajectory is always seen under the
current target and the current normalizers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from tsil.method.rollout import Rollout

PAGE = 8
"""Steps per page: half a page is lost per trajectory, one index is needed per page."""


@dataclass(slots=True)
class Slots:
    """Stored trajectories, S per world, in the order in which they came; length 0 is empty."""

    pages: Tensor
    """(n, S, P) int32: pages of the arena, -1 beyond the last."""
    length: Tensor
    """(n, S) int64: |τ|, so K for a success."""
    success: Tensor
    """(n, S) bool: ended by success."""
    cut: Tensor
    """(n, S) bool: ended by truncation, so that the return needs V of the final observation."""
    task_return: Tensor
    """(n, S) float32: Σ γ^t r_task over the whole trajectory."""
    final_observation: Tensor
    """(n, S, observation_size): ô_|τ|, minus the center."""

    def columns(self) -> dict[str, Tensor]:
        """Every field by name."""
        return {name: getattr(self, name) for name in self.__slots__}


class Memory:
    """Ranked, ragged, paged trajectories of n configurations."""

    def __init__(
        self,
        environments: int,
        observation_size: int,
        action_size: int,
        horizon: int,
        k: int,
        ranking: Literal["fast", "return"],
        pool: Literal["fill", "split"],
        gamma: float,
        half_precision: bool,
        device: torch.device,
    ) -> None:
        """ranking: what the memory is for, fast successes or high returns.

        pool: for fast successes, whether the return-ranked fallback fills the slots that
        successes leave empty, or is a full pool of its own beside them.
        """
        self.horizon, self.k, self.gamma = horizon, k, gamma
        self.ranking, self.pool = ranking, pool
        self.device = device
        slots = 2 * k if ranking == "fast" and pool == "split" else k
        pages = -(-horizon // PAGE)
        coarse = torch.float16 if half_precision else torch.float32

        def full(*shape: int, value: float = 0, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.full(shape, value, dtype=dtype, device=device)

        n = environments
        self.slots = Slots(
            pages=full(n, slots, pages, value=-1, dtype=torch.int32),
            length=full(n, slots, dtype=torch.int64),
            success=full(n, slots, dtype=torch.bool),
            cut=full(n, slots, dtype=torch.bool),
            task_return=full(n, slots),
            final_observation=full(n, slots, observation_size, dtype=coarse),
        )
        self.open = full(n, pages, value=-1, dtype=torch.int32)
        """(n, P) int32: pages of each world's episode under way."""
        self.center: Tensor | None = None
        """(observation_size,) float32: mean of the first rollout. Stored observations are
        differences from it, which is what makes 16 bits fine enough."""
        self.observation = full(0, observation_size, dtype=coarse)
        self.action = full(0, action_size)
        self.reward = full(0)
        """(rows,) float32: r_task, raw."""
        self.task_return = full(0)
        """(rows,) float32: Σ_{j≥t} γ^{j-t} r_task,j of finished episodes, raw."""
        self.free = full(0, dtype=torch.int32)
        """(pages not in use,) int32, used from the end."""

    # ------------------------------------------------------------------------------ update

    @torch.no_grad()
    def update(self, rollout: Rollout, reward: Tensor, bonus: Tensor) -> None:
        """B_i ← Top-k(B_{i-1} ∪ T_i) for every configuration.

        reward: (T, n) raw task reward as the learner counts it. bonus: (n, horizon) raw
        success reward of a completion at step 1 … horizon under the current targets.
        """
        valid, ended, elapsed = rollout.valid, rollout.over, rollout.elapsed
        n = valid.shape[1]
        if self.center is None:
            self.center = rollout.observation[valid].mean(dim=0)
        # An episode's ordinal in this rollout, 0 for the one that was under way.
        ordinal = ended.cumsum(dim=0) - ended.to(torch.int64)
        finished = ended.sum(dim=0)
        most = int(finished.max())
        tables = torch.full(
            (n, most + 1, self.open.shape[1]), -1, dtype=torch.int32, device=self.device
        )
        tables[:, 0] = self.open
        t, i = (valid & (elapsed % PAGE == 0)).nonzero(as_tuple=True)
        tables[i, ordinal[t, i], elapsed[t, i] // PAGE] = self._take(len(t))
        self._write(rollout, reward, tables, ordinal)
        world = torch.arange(n, device=self.device)
        self.open = tables[world, finished]

        if most > 0:
            t, i = ended.nonzero(as_tuple=True)
            j = ordinal[t, i]
            # What was dropped arrives empty: no ranking keeps it, and its pages come back.
            length = (elapsed[t, i] + 1).masked_fill(rollout.dropped[t, i], 0)
            arrivals = Slots(
                pages=tables[i, j],
                length=length,
                success=rollout.success[t, i],
                cut=rollout.timeout[t, i],
                task_return=self._returns(tables[i, j], length),
                final_observation=(rollout.final_observation[t, i] - self.center).to(
                    self.observation.dtype
                ),
            )
            for round_ in range(most):
                chosen = (j == round_).nonzero().squeeze(1)
                self._insert(
                    i[chosen], {name: x[chosen] for name, x in arrivals.columns().items()}, bonus
                )
        self._compact()

    def _write(self, rollout: Rollout, reward: Tensor, tables: Tensor, ordinal: Tensor) -> None:
        """Put every valid transition of the rollout where its episode's pages say."""
        assert self.center is not None
        t, i = rollout.valid.nonzero(as_tuple=True)
        elapsed = rollout.elapsed[t, i]
        page = tables[i, ordinal[t, i], elapsed // PAGE].to(torch.int64)
        row = page * PAGE + elapsed % PAGE
        self.observation[row] = (rollout.observation[t, i] - self.center).to(self.observation.dtype)
        self.action[row] = rollout.action[t, i]
        self.reward[row] = reward[t, i]

    def _returns(self, pages: Tensor, length: Tensor) -> Tensor:
        """Discounted task return-to-go of finished episodes, stored; returns its first entry.

        pages: (m, P). length: (m,). As a product with the matrix of discounts: (m,).
        """
        steps = torch.arange(self.horizon, device=self.device)
        inside = steps < length.unsqueeze(1)
        row = (pages[:, steps // PAGE].to(torch.int64) * PAGE + steps % PAGE).clamp(min=0)
        reward = self.reward[row].masked_fill(~inside, 0.0)
        ahead = (steps.unsqueeze(1) - steps).clamp(min=0)
        discount = torch.where(
            steps.unsqueeze(1) >= steps, self.gamma ** ahead.to(torch.float32), 0.0
        )
        returns = reward @ discount
        self.task_return[row[inside]] = returns[inside]
        return returns[:, 0]

    def _insert(self, world: Tensor, arrival: dict[str, Tensor], bonus: Tensor) -> None:
        """Offer one finished episode to each of some worlds; the ranking decides who stays."""
        current = self.slots.columns()
        joined = {
            name: torch.cat((x[world], arrival[name].unsqueeze(1)), dim=1)
            for name, x in current.items()
        }
        keep = self._keep(joined["length"], joined["success"], joined["task_return"], bonus[world])
        evicted = joined["pages"][~keep]
        self._give(evicted[evicted >= 0])
        joined["length"] = joined["length"].masked_fill(~keep, 0)
        joined["pages"] = joined["pages"].masked_fill(~keep.unsqueeze(2), -1)
        # Survivors keep their order of arrival, which is what breaks ties for the older.
        order = (~keep).to(torch.int8).argsort(dim=1, stable=True)[:, : current["length"].shape[1]]
        for name, x in joined.items():
            index = order if x.dim() == 2 else order.unsqueeze(2).expand(-1, -1, x.shape[2])
            current[name][world] = x.gather(1, index)

    def _keep(self, length: Tensor, success: Tensor, task_return: Tensor, bonus: Tensor) -> Tensor:
        """Which of m x s trajectories stay, (m, s) bool. bonus: (m, horizon)."""
        filled = length > 0
        value = self._rank_value(length, success, task_return, bonus)
        if self.ranking == "return":
            return filled & (_rank(value.masked_fill(~filled, -torch.inf)) < self.k)
        fast = self._fast(length, success)
        if self.pool == "split":
            return fast | (filled & (_rank(value.masked_fill(~filled, -torch.inf)) < self.k))
        others = filled & ~fast
        gaps = self.k - fast.sum(dim=1, keepdim=True)
        return fast | (others & (_rank(value.masked_fill(~others, -torch.inf)) < gaps))

    def _fast(self, length: Tensor, success: Tensor) -> Tensor:
        """Which trajectories are among the k fastest successes: (m, s) bool."""
        done = success & (length > 0)
        speed = (-length).to(torch.float32).masked_fill(~done, -torch.inf)
        return done & (_rank(speed) < self.k)

    def _rank_value(
        self, length: Tensor, success: Tensor, task_return: Tensor, bonus: Tensor
    ) -> Tensor:
        """Discounted return under the current target: (m, s)."""
        last = (length - 1).clamp(min=0)
        paid = bonus.gather(1, last) * self.gamma ** last.to(torch.float32)
        return task_return + paid * success

    def abandon(self, worlds: Tensor) -> None:
        """Forget the episodes under way in some worlds: (n,) bool."""
        pages = self.open[worlds]
        self._give(pages[pages >= 0])
        self.open[worlds] = -1

    # ------------------------------------------------------------------------------- pools

    def fast_successes(self) -> Tensor:
        """(n, S) bool: the k fastest successes of each configuration."""
        return self._fast(self.slots.length, self.slots.success)

    def pools(self, bonus: Tensor) -> tuple[Tensor, Tensor]:
        """Fast successes and the rest of what replay may draw from: (n, S) bool each.

        A return-ranked memory has no fast pool. With ``split`` a trajectory may be in both.
        """
        slots = self.slots
        filled = slots.length > 0
        if self.ranking == "return":
            return torch.zeros_like(filled), filled
        fast = self.fast_successes()
        if self.pool == "fill":
            return fast, filled & ~fast
        value = self._rank_value(slots.length, slots.success, slots.task_return, bonus)
        return fast, filled & (_rank(value.masked_fill(~filled, -torch.inf)) < self.k)

    def rows(self, trajectory: Tensor, step: Tensor) -> Tensor:
        """Arena rows of steps of trajectories, numbered through the (n, S) slots: (m,)."""
        pages = self.slots.pages
        page = pages.view(-1, pages.shape[2])[trajectory, step // PAGE]
        return page.to(torch.int64) * PAGE + step % PAGE

    def observations(self, row: Tensor) -> Tensor:
        """Stored observations, (m, observation_size) float32."""
        assert self.center is not None
        return self.observation[row].to(torch.float32) + self.center

    def final_observations(self, trajectory: Tensor) -> Tensor:
        """ô_|τ| of trajectories, numbered through the slots: (m, observation_size) float32."""
        assert self.center is not None
        final = self.slots.final_observation
        return final.view(-1, final.shape[2])[trajectory].to(torch.float32) + self.center

    # ------------------------------------------------------------------------------- pages

    def _take(self, count: int) -> Tensor:
        """Page numbers to write to: (count,) int32."""
        if count > len(self.free):
            used = self.capacity - len(self.free)
            self._resize(max(used + count, self.capacity + self.capacity // 8))
        split = len(self.free) - count
        taken, self.free = self.free[split:], self.free[:split].clone()
        return taken

    def _give(self, pages: Tensor) -> None:
        self.free = torch.cat((self.free, pages))

    @property
    def capacity(self) -> int:
        """Pages in the arena, used or not."""
        return len(self.reward) // PAGE

    def _resize(self, pages: int) -> None:
        fresh = torch.arange(self.capacity, pages, dtype=torch.int32, device=self.device)
        extra = (pages - self.capacity) * PAGE
        for name in ("observation", "action", "reward", "task_return"):
            old = getattr(self, name)
            setattr(self, name, torch.cat((old, old.new_zeros(extra, *old.shape[1:]))))
        self.free = torch.cat((self.free, fresh))

    def _compact(self) -> None:
        """Move what is stored together once more than a third of the arena lies idle."""
        if len(self.free) * 3 <= self.capacity:
            return
        tables = (self.slots.pages, self.open)
        live = torch.cat([table[table >= 0] for table in tables]).to(torch.int64)
        spare = len(live) // 16
        moved = torch.full((self.capacity + 1,), -1, dtype=torch.int32, device=self.device)
        moved[live] = torch.arange(len(live), dtype=torch.int32, device=self.device)
        row = (live.unsqueeze(1) * PAGE + torch.arange(PAGE, device=self.device)).flatten()
        for name in ("observation", "action", "reward", "task_return"):
            old = getattr(self, name)
            new = old.new_zeros((len(live) + spare) * PAGE, *old.shape[1:])
            new[: len(row)] = old[row]
            setattr(self, name, new)
        for table in tables:
            table.copy_(moved[table.to(torch.int64)])  # -1 reads the last entry, which is -1
        self.free = torch.arange(
            len(live), len(live) + spare, dtype=torch.int32, device=self.device
        )

    # ------------------------------------------------------------------------------- state

    def _tensors(self) -> dict[str, Tensor]:
        named = {f"slots.{name}": x for name, x in self.slots.columns().items()}
        for name in ("open", "observation", "action", "reward", "task_return", "free"):
            named[name] = getattr(self, name)
        if self.center is not None:
            named["center"] = self.center
        return named

    def nbytes(self) -> int:
        """Bytes held, episodes under way and idle pages included."""
        return sum(x.numel() * x.element_size() for x in self._tensors().values())

    def state(self) -> dict[str, Tensor]:
        """Everything ``restore`` needs: copies."""
        return {name: x.clone() for name, x in self._tensors().items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from a state of an equal memory."""
        self.center = None  # absent from a state taken before the first rollout
        for name, x in state.items():
            holder, _, field = name.rpartition(".")
            setattr(self.slots if holder else self, field, x.to(self.device, copy=True))


def _rank(value: Tensor) -> Tensor:
    """Rank of each entry in its row, 0 for the largest; ties rank the earlier first."""
    order = value.argsort(dim=1, descending=True, stable=True)
    return order.argsort(dim=1)
