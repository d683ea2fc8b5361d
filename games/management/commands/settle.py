"""`manage.py settle SLUG`: settlement calculator, JSON lines from standard input to standard
output.
"""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from games.engine.desk import answers
from games.variants import VARIANTS


class Command(BaseCommand):
    """Answer line by line. Exit status 1 if a line is invalid. Uses no database."""

    help = 'Settle lines of {"cards": [codes in dealing order], "stakes": {bet: minor units}} by the rules of a game.'
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", choices=sorted(VARIANTS))

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        status = 0
        for answer in answers(VARIANTS[slug], sys.stdin.buffer):
            self.stdout.write(json.dumps(answer))
            self.stdout.flush()
            status = 1 if "error" in answer else status
        sys.exit(status)
