"""`manage.py simulate SLUG --coups N`: deal very many coups and compare returns with the computed
ones.
"""

import json
import time
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, OutputWrapper

from games import simulation
from games.simulation import Run, as_json, as_table, compare
from games.variants import VARIANTS

SECONDS_BETWEEN_REPORTS = 1.0


class Command(BaseCommand):
    """Simulate a game.

    Progress goes to standard error, the result to standard output. Uses no database.
    """

    help = "Deal coups, settle every bet on each by itself, and compare actual returns with the exact ones."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", choices=sorted(VARIANTS))
        parser.add_argument("--coups", type=_at_least_one, default=100_000, help="how many (default: 100000)")
        parser.add_argument("--fast", action="store_true", help="deal with NumPy arrays, not by the engine")
        parser.add_argument("--json", action="store_true", help="the result for machines")

    def handle(self, *args: Any, slug: str, coups: int, fast: bool, **options: Any) -> None:
        variant = VARIANTS[slug]
        simulate = simulation.simulate if fast else simulation.simulate_by_engine
        started = time.perf_counter()
        paid = simulate(variant, coups, Progress(self.stderr, coups))
        run = Run(variant, coups, time.perf_counter() - started, fast, tuple(compare(variant, paid)))
        for line in [json.dumps(as_json(run), indent=2)] if options["json"] else as_table(run):
            self.stdout.write(line)


class Progress:
    """Prints the progress of a simulation about once a second, and at the end."""

    def __init__(self, out: OutputWrapper, coups: int) -> None:
        self._out = out
        self._coups = coups
        self._started = self._said = time.monotonic()

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self._said < SECONDS_BETWEEN_REPORTS and done < self._coups:
            return
        self._said = now
        pace = round(done / max(now - self._started, 1e-6))
        line = f"{done:,} of {self._coups:,} coups ({done * 100 // self._coups} %), {pace:,} a second"
        self._out.write(line, style_func=str)  # standard error would be red, like an error


def _at_least_one(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise ArgumentTypeError(f"{text!r} is no number of coups")
    return int(text)
