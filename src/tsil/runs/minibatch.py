"""How many transitions a gradient step takes where nobody says."""


def fitting_minibatch(usual: int, fresh: int) -> int:
    """The preset's ``usual`` size, or a quarter of a rollout of ``fresh`` transitions if less."""
    return min(usual, max(1, fresh // 4))
