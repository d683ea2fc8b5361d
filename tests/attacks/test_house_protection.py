"""Somebody who owns the database takes away or changes what protects players: limits, agreements, exclusions, limits of
tables, significant events, liability. The signed log says otherwise, so the verification of the house names each.
"""

from collections.abc import Iterator

import pytest

from audit.models import Significant
from audit.sealing import sealer
from audit.significant import detection
from audit.verification import house
from games.models import Table, TableVersion
from players.models import Agreement, Exclusion, LimitChange, LimitOffer
from players.protection import exclusions
from tests.attacks.test_house_rounds import findings, others_notice_nothing, unguarded
from tests.builders import a_table
from tests.harness.databases import filled
from tests.people import a_member_of_staff
from tests.recorded import a_recorded_player
from wallet.ledger import hourly_totals


def protect() -> None:
    """Register players with limits, an offer that was declined and exclusions; open a table; count liability."""
    player, other = a_recorded_player(100_000), a_recorded_player(0, "GB")
    exclusions.pause(player=player, by=str(player))
    exclusions.exclude(player=other, days=None, reason="a test", by=a_member_of_staff())
    a_table()
    hourly_totals.take_snapshot()
    sealer.seal()
    detection.find()
    sealer.seal()


@pytest.fixture(scope="module")
def cloned_from(django_db_setup, django_db_blocker) -> Iterator[str]:
    with django_db_blocker.unblock(), filled(protect) as name:
        yield name


def test_an_untouched_house_is_verified(cloned_db):
    assert LimitChange.objects.count()
    assert LimitOffer.objects.count()
    assert Exclusion.objects.count() == 2
    assert Significant.objects.count()
    assert findings("protection") == ""
    assert findings("ledger") == ""
    assert house.run(is_whole=False) == []


# What is done as superuser -> what is said. `{…}`: from the rows before.
TAKEN = {
    "a limit": (
        "DELETE FROM players_limitchange WHERE id = {change}",
        "player:{player}: change {change} of a limit: amount: stored is nothing; event ",
    ),
    "a limit that was raised": (
        "UPDATE players_limitchange SET amount = 2 * amount WHERE id = {change}",
        "player:{player}: change {change} of a limit: amount: stored is 200000000000; event ",
    ),
    "a limit that nobody has set": (
        (
            'INSERT INTO players_limitchange SELECT (jsonb_populate_record(c, \'{{"id": 77, "amount": null}}\')).*'
            " FROM players_limitchange AS c WHERE id = {change}"
        ),
        "player:{player}: change 77 of a limit: no event speaks of it.",
    ),
    "the answer to the offer of limits": (
        "DELETE FROM players_limitoffer",
        "player:{other}: the answer to the offer of limits: is there: stored is false; event ",
    ),
    "an agreement to the terms": (
        "DELETE FROM players_agreement WHERE player_id = {player}",
        "player:{player}: the agreement to the terms {terms}: is there: stored is false; event ",
    ),
    "an agreement that nobody has made": (
        "INSERT INTO players_agreement (player_id, terms_version) VALUES ({player}, 'next')",
        "player:{player}: the agreement to the terms next: no event speaks of it.",
    ),
    "an exclusion": (
        "DELETE FROM players_exclusion WHERE id = {exclusion}",
        "player:{other}: exclusion {exclusion}: kind: stored is nothing; event ",
    ),
    "an exclusion that was made shorter": (
        "UPDATE players_exclusion SET until = begun + interval '1 day' WHERE id = {exclusion}",
        "player:{other}: exclusion {exclusion}: until: stored is ",
    ),
    "an exclusion that was lifted without a trace": (
        (
            "INSERT INTO players_exclusionlift (exclusion_id, reason, asked_by, decided_by)"
            " VALUES ({exclusion}, 'x', 'staff:1', 'staff:2')"
        ),
        "player:{other}: the lifting of exclusion {exclusion}: no event speaks of it.",
    ),
    "the limits of a table": (
        "UPDATE games_tableversion SET limits = jsonb_set(limits, '{{SEK,bets,tie,1}}', '100000000')",
        "table:{table}: version 1: limits: stored is ",
    ),
    "a significant event": (
        "DELETE FROM audit_significant WHERE id = {significant}",
        "significant:{significant}: is not there; event ",
    ),
    "what a significant event says": (
        "UPDATE audit_significant SET title = 'Nothing' WHERE id = {significant}",
        "significant:{significant} ({key}): says something else than it did; event ",
    ),
    "the liability of an hour": (
        "UPDATE wallet_accountsnapshot SET balance = balance - 1 WHERE account_kind = 'cash' AND balance > 0",
        "cash SEK R: stored is balance 99999, held 0; event ",
    ),
    "the snapshot of an hour": (
        "DELETE FROM wallet_accountsnapshot",
        "cash SEK R: stored is balance nothing, held nothing; event ",
    ),
}


@pytest.mark.parametrize("what", TAKEN)
def test_is_named(cloned_db, what):
    change = LimitChange.objects.earliest("pk")
    exclusion = Exclusion.objects.get(kind="staff")
    significant = Significant.objects.earliest("pk")
    rows = {
        "change": change.pk,
        "player": change.player_id,
        "other": exclusion.player_id,
        "terms": Agreement.objects.filter(player=change.player_id).get().terms_version,
        "exclusion": exclusion.pk,
        "table": Table.objects.get().pk,
        "significant": significant.pk,
        "key": significant.key,
    }
    assert TableVersion.objects.count() == 1
    statement, said = TAKEN[what]
    with unguarded(cloned_db) as superuser:
        assert superuser.execute(statement.format(**rows).encode()).rowcount
    others_notice_nothing()
    assert said.format(**rows) in findings("protection", "ledger")
