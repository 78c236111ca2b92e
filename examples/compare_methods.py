"""Compare methods of the paper on the practice environment, and write a report about them.

python examples/compare_methods.py --methods ih fttl tsil --seeds 0 1 --steps 500000
"""

import argparse
from pathlib import Path

import tsil
from tsil.analysis.report import write_report
from tsil.method.configuration import Configuration
from tsil.runs.directory import RunDirectory, Setup
from tsil.runs.training import Run

WORLDS = 256


def main() -> None:
    """Train every method with every seed, judge each, and put all on one page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=["ih", "fttl", "tsil"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--steps", type=int, default=500_000)
    parser.add_argument("--out", type=Path, default=Path("runs/compare"))
    asked = parser.parse_args()

    paths = []
    for method in asked.methods:
        for seed in asked.seeds:
            configuration = Configuration.preset(
                "desk",
                **{
                    "method": method,
                    "seed": seed,
                    "steps": asked.steps,
                    "environments": WORLDS,
                    "ppo.minibatch": WORLDS * 8,
                    "network.hidden": (64, 32),
                },
            )
            directory = RunDirectory(asked.out / f"{method}-{seed}")
            environment = tsil.make_environment("practice", WORLDS)
            run = Run(environment, configuration, Setup("practice"), directory).train()
            fresh = tsil.make_environment("practice", WORLDS)
            outcome = tsil.evaluate(run.policy, fresh, trials=500)
            line = {"policy": "last", "asked": "max", **outcome.summary()}
            directory.record_evaluation(line)
            print(f"{method:9} seed {seed}  success {outcome.success_rate:.1%}")
            paths.append(directory.path)
    write_report(paths, asked.out / "report.html", "Methods on the practice environment")
    print(f"The report is at {asked.out / 'report.html'}")


if __name__ == "__main__":
    main()
