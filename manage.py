#!/usr/bin/env python3
"""The command line: `manage.py help` lists all commands except `run` and `beat`, which keep running."""

import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path

VENV = Path(__file__).resolve().parent / ".venv"


def main() -> None:
    """Run a command of the house, by the Python that has its libraries."""
    if find_spec("django") is None and Path(sys.prefix) != VENV:
        python = VENV / "bin" / "python"
        if not python.exists():
            sys.exit("Sabot's libraries are not installed yet: `make run` does it, and opens the house.")
        os.execv(python, [str(python), *sys.argv])  # noqa: S606  (our own file, with the arguments that we were given)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    match sys.argv[1:]:
        case ["run", *arguments]:  # this and the next stay in memory, and do without Django's apps
            from ops import launcher

            launcher.main(arguments)
        case ["beat"]:
            from casino.celery import app
            from ops import beat

            beat.main(app)
        case _:
            from django.core.management import execute_from_command_line

            execute_from_command_line(sys.argv)
    gc.freeze()  # the process ends: nothing is gained by looking for garbage once more


if __name__ == "__main__":
    gc.set_threshold(500_000)  # nothing of what a start imports is garbage: looking for it took a fifth of every start
    main()
