"""The ``tsil`` command. One file a command; nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module

COMMANDS = {
    "train": ("tsil.cli.train", "train a policy, or go on with a stopped run"),
    "eval": ("tsil.cli.evaluate", "judge a policy on configurations it has never seen"),
    "play": ("tsil.cli.play", "watch a policy, or record a video of it"),
    "report": ("tsil.cli.report", "write one page about one or more runs"),
    "export": ("tsil.cli.export", "turn a policy into an ONNX file"),
    "bench": ("tsil.cli.bench", "measure how fast it is here, and where the time goes"),
    "tasks": ("tsil.cli.tasks", "list what can be trained"),
}
"""Module and purpose of every command. A module offers ``run(arguments) -> exit code``."""

EXAMPLE = """\
  tsil train drawer-open --steps 1M --out runs/first
  tsil eval runs/first
  tsil play runs/first --video first.mp4
  tsil report runs/first --out first.html"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. 0: done; 1: something failed on the way; 2: it could not be asked for."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if words[0] in ("-V", "--version"):
        from importlib.metadata import version

        print(f"tsil {version('tsil')}")
        return 0
    return _guarded(words[0], words[1:])


def overview() -> str:
    """What ``tsil --help`` prints."""
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name:{width}}  {what}" for name, (_, what) in COMMANDS.items())
    return (
        "usage: tsil COMMAND …\n\n"
        "Temporal Self-Imitation Learning: PPO that remembers, times and imitates its own\n"
        "fastest successes.\n\n"
        f"commands (tsil COMMAND --help says more):\n{listing}\n\n"
        f"a first session:\n{EXAMPLE}"
    )


def _guarded(name: str, arguments: list[str]) -> int:
    """Run a command; what goes wrong becomes one sentence and an exit code."""
    try:
        return _command(name)(arguments)
    except SystemExit as stop:  # --help, and what the parser refuses on its own
        return stop.code if isinstance(stop.code, int) else 2
    except ValueError as error:
        return _say(str(error), 2)
    except KeyboardInterrupt:
        return _say("interrupted", 1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone: nobody is left to tell
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}", 1)
    except ModuleNotFoundError as error:
        return _say(f"the Python package {error.name} is missing; pip install {error.name}", 1)
    except ArithmeticError as error:  # training stopped because numbers were not finite
        return _say(str(error), 1)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        return _say("there is not enough memory for this: try fewer --envs", 1)


def _command(name: str) -> Callable[[list[str]], int]:
    if name not in COMMANDS:
        near = get_close_matches(name, COMMANDS, n=1, cutoff=0.4)
        hint = f": did you mean {near[0]!r}?" if near else f": there are {', '.join(COMMANDS)}"
        raise ValueError(f"unknown command {name!r}{hint}")
    run: Callable[[list[str]], int] = import_module(COMMANDS[name][0]).run
    return run


def _say(sentence: str, code: int) -> int:
    print(f"tsil: {' '.join(sentence.split())}", file=sys.stderr)
    return code
