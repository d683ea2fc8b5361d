"""Stored rules of games (GLI-19 v3.0, 2.8.3, A.5.1).

The rules of a release are stored when it is installed and remain after later releases.
"""

import gettext
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.db import connection, transaction

from audit import log
from audit.log import Json
from games.engine.bets import Variant
from games.engine.chemin import rules as chemin_rules
from games.engine.odds import exact
from games.models import RulesVersion
from games.variants import GAMES, LANGUAGES, help_text
from games.variants.common import Game
from players.login import credentials

LOCK: Final = 0x5AB0_2083  # key of pg_advisory_xact_lock


@dataclass(frozen=True)
class Rules:
    """Stored rules of a game.

    *withdrawn_at* is the time of their replacement, None for the current rules.
    """

    stored: RulesVersion
    withdrawn_at: datetime | None


@transaction.atomic
def keep() -> Sequence[RulesVersion]:
    """Store the rules of every game whose newest stored rules differ.

    Return the new rows.

    Repeated or concurrent calls store nothing more.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    newest = {each.variant: each for each in RulesVersion.objects.order_by("id")}
    return [_keep(game, before) for game in GAMES.values() if _is_other(game, before := newest.get(game.slug))]


def versions(variant: str) -> list[Rules]:
    """Return every stored version of the rules of a game, newest first."""
    found = RulesVersion.objects.filter(variant=variant).order_by("-id")
    ends = [None, *(each.available_from for each in found)]
    return [Rules(each, end) for each, end in zip(found, ends, strict=False)]


def body(game: Game) -> dict[str, Any]:
    """Return all rules of a game that decide about money, as data.

    They include its bets with payouts and exact return as a fraction; for a game between players,
    its seats and its tax.
    """
    if isinstance(game, Variant):
        odds = exact(game)
        return {
            "decks": game.decks,
            "exclusions": sorted(sorted(rivals) for rivals in game.exclusions),
            "bets": {
                bet.code: {
                    "pays": [[prize.when.name, str(prize.pays)] for prize in bet.prizes],
                    "needs": sorted(bet.needs),
                    "commission": bet.commission,
                    "return": str(odds[bet.code].rtp),
                }
                for bet in game.bets
            },
        }
    return {
        "decks": game.decks,
        "seats": [chemin_rules.FEWEST_SEATS, chemin_rules.MOST_SEATS],
        "tax": str(chemin_rules.TAX),
    }


def _is_other(game: Game, newest: RulesVersion | None) -> bool:
    return newest is None or (newest.version, newest.digest) != (game.version, game.digest)


def _keep(game: Game, before: RulesVersion | None) -> RulesVersion:
    content = json.dumps({"version": game.version, "digest": game.digest, "body": body(game)})
    number = RulesVersion.objects.filter(variant=game.slug).count()
    proof = credentials.content_proof(f"rules:{game.slug}:{number}", content)
    written: RulesVersion = RulesVersion.objects.raw(
        "SELECT * FROM games_add_rules_version(%s, %s, %s)", [game.slug, content, proof]
    )[0]
    data: dict[str, Json] = {"before": _said(before) if before else None, "after": _said(written)}
    log.record("rules.stored", by="system", on=f"game:{game.slug}", data=data)
    return written


def _said(rules: RulesVersion) -> Mapping[str, Json]:
    return {"version": rules.version, "digest": rules.digest, "rules": rules.body}


SOURCE = "en"  # language of the source texts


def missing(slug: str) -> dict[str, list[str]]:
    """Return the missing texts of a game by language: keys of labels, "help", "messages".

    Empty if complete.

    Raises KeyError for an unknown game.
    """
    found = {language: list(_missing(slug, language)) for language in LANGUAGES}
    return {language: texts for language, texts in found.items() if texts}


def _missing(slug: str, language: str) -> Iterator[str]:
    labels = GAMES[slug].labels.get(language, {})
    yield from sorted(key for key in _keys(slug) if not labels.get(key, "").strip())
    try:
        if not help_text(slug, language).strip():
            yield "help"
    except OSError:
        yield "help"
    if language != SOURCE and not _has_messages(language):
        yield "messages"


def _keys(slug: str) -> set[str]:
    """Return the labels that the game has in any language, and those that its rules require."""
    game = GAMES[slug]
    keys = {"name", "tagline"}.union(*game.labels.values())
    if isinstance(game, Variant):
        keys |= {f"bet.{bet.code}" for bet in game.bets}
    return keys


@cache
def _has_messages(language: str) -> bool:
    return any(gettext.find("django", str(folder), [language]) for folder in settings.LOCALE_PATHS)
