"""Environments that need no simulator of ours: any of Gymnasium's, and one to practise on."""

from tsil.environments.gymnasium import GymnasiumEnvironment
from tsil.environments.practice import PracticeEnvironment, PracticeSettings
from tsil.environments.success import VectorStep

__all__ = ["GymnasiumEnvironment", "PracticeEnvironment", "PracticeSettings", "VectorStep"]
