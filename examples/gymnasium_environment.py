"""Train on any Gymnasium vector environment: here, a car that has to get up a hill.

python examples/gymnasium_environment.py --steps 500000
"""

import argparse
import json

import gymnasium

import tsil

WORLDS = 64


def car() -> tsil.GymnasiumEnvironment:
    """Sixty-four cars. Reaching the flag terminates the episode, which is what success means."""
    worlds = gymnasium.make_vec("MountainCarContinuous-v0", num_envs=WORLDS)
    return tsil.GymnasiumEnvironment(worlds, success=lambda step: step.terminated)


def main() -> None:
    """Train, then judge on starts that were not trained on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500_000)
    parser.add_argument("--trials", type=int, default=200)
    asked = parser.parse_args()

    environment = car()
    run = tsil.train(environment, "tsil", steps=asked.steps)
    environment.close()

    fresh = car()
    print(json.dumps(tsil.evaluate(run.policy, fresh, trials=asked.trials).summary(), indent=2))
    fresh.close()


if __name__ == "__main__":
    main()
