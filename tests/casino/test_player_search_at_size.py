"""The player search with many players: it reads only as much as it shows."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import psycopg
import pytest
from django.db import connection

from backoffice.lists import paging
from backoffice.players.profile import PlayerSessions
from backoffice.players.search import FINDERS, PAGE
from players.models import Player, Session
from players.search import ENOUGH
from tests.builders import a_newcomer
from tests.harness.databases import Database
from tests.staff_lists import asked_for
from wallet.models import PayoutAccount

MANY = 20_000
LARGE = {
    "players_user",
    "players_player",
    "players_session",
    "players_searchword",
    "players_trait",
    "wallet_payout_account",
    "games_chatname",
}

# All players are called Anna, have one address and one browser, and bank accounts with the same
# last digits.
PEOPLE = """
INSERT INTO players_user (password, is_superuser, email, language, is_active, is_demo)
SELECT '', false, format('anna%%s@example.com', n), 'sv', true, false FROM generate_series(1, %(many)s::int) AS n;
INSERT INTO players_player (user_id, jurisdiction_id, currency, birth_date)
SELECT id, 'SE', 'SEK', '1990-01-01' FROM players_user WHERE email LIKE 'anna%%';
INSERT INTO players_session (id, user_id, ip, browser, why)
SELECT gen_random_uuid(), user_id, '192.0.2.7', 'Mozilla/5.0 (X11; Linux x86_64) Firefox', ''
FROM players_player, generate_series(1, 2);
INSERT INTO players_searchword (player_id, field, word)
SELECT id, field, word FROM players_player, (VALUES ('name', 'anna'), ('address', 'storgatan')) AS said (field, word);
INSERT INTO players_searchword (player_id, field, word)
SELECT id, 'name', 'ek' || id %% 1000 FROM players_player;
INSERT INTO players_trait (player_id, ground, fingerprint)
SELECT id, 'phone', sha256(id::text::bytea) FROM players_player;
INSERT INTO wallet_payout_account (id, player_id, country, last_four, sealed, fingerprint)
SELECT gen_random_uuid(), id, 'SE', '7466', '', sha256(id::text::bytea) FROM players_player;
INSERT INTO players_session (id, user_id, ip, browser, why, began_at)
SELECT gen_random_uuid(), (SELECT user_id FROM players_player ORDER BY id DESC LIMIT 1), '192.0.2.9', '', '',
    now() - make_interval(mins => n) FROM generate_series(1, %(many)s::int) AS n;
INSERT INTO games_chatname (player_id, name) SELECT id, 'Anna ' || id FROM players_player;
"""


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def plans_of(action: Callable[[], object]) -> list[dict[str, Any]]:
    """Return PostgreSQL's plan of each query that *action* executes."""
    asked: list[tuple[str, Any]] = []

    def remember(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(remember):
        action()
    found = []
    with connection.cursor() as cursor:
        for sql, params in asked:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
            (answer,) = cursor.fetchone()
            found.append((answer if isinstance(answer, list) else json.loads(answer))[0]["Plan"])
    return found


@pytest.fixture
def crowd(cloned_db: Database, owner: psycopg.Connection) -> int:
    """Create many players; return one from the middle."""
    a_newcomer()
    for statement in PEOPLE.split(";\n"):
        owner.execute(statement, {"many": MANY})
    owner.execute("ANALYZE")
    return PayoutAccount.objects.order_by("player").values_list("player", flat=True)[MANY // 2]


@pytest.mark.sweep
def test_no_search_and_no_list_of_a_player_reads_all_there_is(crowd: int) -> None:
    for typed in (
        str(crowd),
        "anna",
        "anna ek77",
        "annna",
        "annna bergg",
        "storgatan",
        "anna1@",
        "192.0.2.7",
        "Mozilla/5.0 (X11; Linux x86_64) Firefox",
        "7466",
        "070-123 45 67",
        "SB0123456789",
        "7Q4K-0193-BD2M",
        "withdrawal 7",
        "0f7dfd43-4a3f-4c4f-9f4e-0a2a2b1c9d11",
        "AB1234567",
    ):
        for finder, after in product(FINDERS, (0, crowd)):
            for plan in plans_of(partial(finder.find, typed, after, PAGE + 1)):
                for node in nodes(plan):
                    where = (typed, finder.name, after, node)
                    assert node["Node Type"] != "Seq Scan" or node["Relation Name"] not in LARGE, where
                    seen = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
                    assert seen <= ENOUGH + PAGE, where
    most_seen = Player.objects.latest("pk")
    listing = asked_for(PlayerSessions, most_seen)
    middle = Session.objects.filter(user=most_seen.user_id).order_by("-began_at")[MANY // 2]
    for start in ((), (middle.began_at, middle.pk)):
        for plan in plans_of(partial(listing.read, listing.order, start, paging.PAGE + 1)):
            for node in nodes(plan):
                assert node["Actual Rows"] + node.get("Rows Removed by Filter", 0) <= paging.PAGE + 2, node
