"""Runs: what a training leaves on disk, how it goes on after a stop, how its policy is judged."""
