"""`manage.py odds SLUG`: print the exact odds of every bet of a game.

Chemin de Fer has policies instead of bets: the ways to use the free choices of the rule.
"""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from games.engine.chemin.odds import SLUG as CHEMIN_DE_FER
from games.engine.chemin.odds import chemin_odds_json, chemin_odds_table
from games.engine.chemin.rules import DECKS as CHEMIN_DECKS
from games.engine.odds import BadDecks, as_json, as_table
from games.variants import GAMES, VARIANTS


class Command(BaseCommand):
    """Print exact odds, computed from all coups of a fresh shoe. Uses no database."""

    help = "Exact returns and chances of every bet of a game, in percent, or as fractions in JSON."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", choices=sorted(GAMES))
        parser.add_argument("--decks", type=int, help="instead of the number the game is played with")
        parser.add_argument("--json", action="store_true", help="exact fractions, for machines")

    def handle(self, *args: Any, slug: str, decks: int | None, **options: Any) -> None:
        try:
            for line in _written(slug, decks, for_machines=options["json"]):
                self.stdout.write(line)
        except BadDecks as fault:
            raise CommandError(str(fault)) from fault


def _written(slug: str, decks: int | None, *, for_machines: bool) -> list[str]:
    if slug == CHEMIN_DE_FER:
        decks = CHEMIN_DECKS if decks is None else decks
        return [json.dumps(chemin_odds_json(decks), indent=2)] if for_machines else chemin_odds_table(decks)
    variant = VARIANTS[slug]
    decks = variant.decks if decks is None else decks
    return [json.dumps(as_json(variant, decks), indent=2)] if for_machines else as_table(variant, decks)
