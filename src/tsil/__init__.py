"""Temporal Self-Imitation Learning."""
