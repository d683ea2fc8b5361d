"""`manage.py odds SLUG`: the exact return of every bet of a game, and how it comes about."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from games.engine.odds import BadDecks
from games.engine.odds_sheet import as_json, as_table
from games.variants import VARIANTS


class Command(BaseCommand):
    """Counts every coup of a fresh shoe; touches no database."""

    help = "Exact returns and chances of every bet of a game, in percent, or as fractions in JSON."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", choices=sorted(VARIANTS))
        parser.add_argument("--decks", type=int, help="instead of the number the game is played with")
        parser.add_argument("--json", action="store_true", help="exact fractions, for machines")

    def handle(self, *args: Any, slug: str, decks: int | None, **options: Any) -> None:
        variant = VARIANTS[slug]
        decks = variant.decks if decks is None else decks
        try:
            written = [json.dumps(as_json(variant, decks), indent=2)] if options["json"] else as_table(variant, decks)
            for line in written:
                self.stdout.write(line)
        except BadDecks as fault:
            raise CommandError(str(fault)) from fault
