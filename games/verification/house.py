"""Rounds as a part of the verification of the house (`audit.verification.house`): the log is compared with the cards
and with what is stored.

- Of the log alone: every commitment came before its bets, a trusted dealer signed every deal, the seed deals these
  cards, and the rules pay these bets (`games.verification.deals`).
- Of the log and the rows: round, players, bets, balances, journals, coups, voids and shoes are what their events say,
  and each round has an event (`games/sql/functions/log_verification.sql`).

A finding about cards closes the table that the log names for the round or shoe, and the one that its row names. A table
that is closed serves neither kind of money.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from django.db import connection
from django.db.models import Q

from audit.models import Event
from audit.staff_text import marked, register_findings
from audit.verification import house
from audit.verification.house import Finding, Scope, Verifier, found_by
from games.engine.cards import Card
from games.engine.coup import deal
from games.engine.settle import line_of
from games.fairness.randomness import judgement
from games.models import LiveRound, Round, Shoe, Status, Table
from games.tables.status import close_table
from games.verification import records
from games.verification.deals import Deals, games_by_digest

NAME: Final = "rounds"
PARTICIPATIONS, JOURNALS = "games_participation", "wallet_journal"
DEALS: Final = "deals are committed to and signed by the dealer"
CARDS: Final = "cards match the log"
PAID: Final = "rounds pay what the rules say"
STOPS: Final = frozenset({DEALS, CARDS})
NAME_TABLE: Final = ("round.settled", "round.voided", "seat.committed", "shoe.opened")
"""Kinds of events that name the table of a round or shoe, or its version."""
SYSTEM: Final = "system"
SHARED_BETS: Final = """
    SELECT event."on", said.data ->> 'rules', said.data ->> 'cards', jsonb_agg(DISTINCT jsonb_build_array(
        wager.bet, wager.stake, wager.payout, wager.commission, wager.result))::text
    FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id AND event.kind = 'round.settled'
    CROSS JOIN LATERAL (SELECT convert_from(event.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS said
    JOIN games_participation AS part ON part.round_id = substr(event."on", 7)::uuid
    JOIN games_wager AS wager ON wager.participation_id = part.id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s AND said.data ? 'totals'
    GROUP BY event.id, event."on", said.data
"""

TEXTS: Final = (
    marked("finding", "deals are committed to and signed by the dealer"),
    marked("finding", "cards match the log"),
    marked("finding", "rounds pay what the rules say"),
    marked("finding", "every deal of the dealer is stored"),
    marked("finding", "rounds match the log"),
    marked("finding", "rounds move the amounts in the log"),
    marked("finding", "voids match the log"),
    marked("finding", "bets match the log"),
    marked("finding", "rounds have events"),
    marked("finding", "voids have events"),
    marked("finding", "tables match the log"),
    marked("finding", "%(round)s: event %(event)s (leaf %(leaf)s) has settled it; the row of the round is missing"),
    marked(
        "finding",
        "%(player)s: the ledger has moved %(moved)s; event %(event)s (leaf %(leaf)s) and the player’s part say "
        "%(said)s",
    ),
    marked(
        "finding",
        "%(what)s: the stored value is %(stored)s; event %(event)s (leaf %(leaf)s), which voided it, says %(said)s",
    ),
    marked(
        "finding",
        "%(round)s: event %(event)s (leaf %(leaf)s) has sealed %(count)s players’ bets under the root %(root)s; "
        "those that are stored have the root %(stored)s",
    ),
    marked("finding", "of nothing"),
    marked("finding", "is stored, but no event has settled or voided it"),
    marked(
        "finding",
        "journals %(journals)s move %(amount)s of player %(player)s, but no event has settled or voided the round",
    ),
    marked("finding", "this %(kind)s belongs to round %(round)s, which no event has voided"),
    marked("finding", "is stored as void, but no event has voided it"),
    marked("finding", "shoe %(shoe)s"),
    marked("finding", "version %(version)s"),
    marked("finding", "version %(version)s is in force, but %(newest)s is the newest"),
    marked("finding", "bet %(bet)s of %(stake)s"),
    marked("finding", "the stored value is %(stored)s, the rules give %(due)s"),
    marked("finding", "the log says %(said)s, the rules give %(due)s"),
    marked("finding", "epoch %(epoch)s"),
    marked("finding", "deal %(deal)s was dealt but not stored"),
    marked("finding", "deals %(first)s to %(last)s were dealt but not stored"),
    marked("finding", "deals of %(count)s more ranges were dealt but not stored"),
    marked("finding", "the shoe was not shuffled with the values that players added"),
    marked("finding", "the log has a different commitment before the cut"),
    marked("finding", "round %(number)s of the beacon already existed when it was chosen"),
    marked("finding", "the log has no commitment before it"),
    marked("finding", "the log has a different commitment before it"),
    marked("finding", "deal %(deal)s of epoch %(epoch)s is in the log twice"),
    marked("finding", "its seed is not the one committed to"),
    marked("finding", "its seed deals %(cards)s; %(log)s"),
    marked("finding", "the log says %(cards)s"),
    marked("finding", "the rules do not allow its bets"),
    marked("finding", "the round of the beacon is not the one that was chosen before"),
    marked("finding", "the shuffle used a beacon that was not chosen or did not arrive"),
    marked("finding", "its beacon is not verified: BEACON_CHAIN names a different one"),
    marked("finding", "round %(number)s of the beacon has a different signature"),
    marked("finding", "the shuffle did not use this round of the beacon"),
    marked("finding", "the log has no commitment to its shoe before it"),
    marked("finding", "begins with card %(card)s of its shoe, not %(due)s"),
    marked("finding", "its seed is in the log twice, or without a commitment before it"),
    marked("finding", "its seed does not give the cards that it was committed to"),
    marked("finding", "its seed gives different cards from card %(card)s on"),
    marked("finding", "this %(kind)s moves %(amount)s on account %(account)s for round %(round)s, which is not stored"),
    marked(
        "finding",
        "journals %(journals)s take %(staked)s from player %(player)s and leave a gain of %(gain)s; its "
        "participation says staked %(said)s, paid %(paid)s",
    ),
    marked(
        "finding",
        "wagers of player %(player)s add up to staked %(staked)s, paid %(paid)s; its participation says %(said)s "
        "and %(also)s",
    ),
    marked(
        "finding",
        "bet %(bet)s of player %(player)s pays %(paid)s for a stake of %(stake)s, at most %(most)s is allowed by "
        "version %(version)s",
    ),
    marked("finding", "account %(account)s holds %(held)s, its bets are %(bets)s"),
    marked("finding", "nothing is held for the bets %(bets)s of account %(account)s"),
    marked("finding", "table version"),
    marked("finding", "rules"),
    marked("finding", "mode"),
    marked("finding", "commitment"),
    marked("finding", "cards"),
    marked("finding", "seed"),
    marked("finding", "player’s value"),
    marked("finding", "players"),
    marked("finding", "table"),
    marked("finding", "balance before"),
    marked("finding", "session"),
    marked("finding", "wagers"),
    marked("finding", "total staked"),
    marked("finding", "total paid"),
    marked("finding", "total commission"),
    marked("finding", "balance before in the ledger"),
    marked("finding", "balance after in the ledger"),
    marked("finding", "code"),
    marked("finding", "shoe"),
    marked("finding", "first card"),
    marked("finding", "players and bets"),
    marked("finding", "coup"),
    marked("finding", "tax"),
    marked("finding", "tax in the ledger"),
    marked("finding", "tax by the rule"),
    marked("finding", "returned to players"),
    marked("finding", "clock"),
    marked("finding", "limits"),
    marked("finding", "jurisdictions"),
    marked("finding", "modes"),
    marked("finding", "number"),
    marked("finding", "signature"),
    marked("finding", "decks"),
    marked("finding", "dealer"),
    marked("finding", "entropy"),
    marked("finding", "cut"),
    marked("finding", "burned"),
    marked("finding", "ending"),
    marked("finding", "gone"),
    marked("finding", "is ended"),
)
"""Findings about rounds, shoes, deals and tables."""


def add() -> None:
    """Register the rounds, and the versions of tables among what protects players."""
    register_findings((*TEXTS, *records.TEXTS, *judgement.TEXTS))
    house.register(house.Part(NAME, Rounds, tables=(PARTICIPATIONS, JOURNALS), act=_stop_tables))
    house.register(house.Part(house.PROTECTION, TableVersions))


class Rounds(Verifier):
    """Verifies rounds and shoes in one run."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._deals = Deals()

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Verify the deals in these leaves, and the rows of which they speak."""
        for each in self._deals.findings(first, end):
            yield Finding(DEALS, each.on, each.text)
        yield from found_by("games_verify_logged_rounds", first, end)
        yield from found_by("games_verify_logged_shoes", first, end)
        yield from _mispaid(first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify that an event speaks of every row and, in a run over all leaves, that no deal is missing."""
        low = self.scope.low
        yield from found_by("games_verify_unlogged_rounds", low[PARTICIPATIONS], low[JOURNALS])
        yield from found_by("games_verify_unlogged_shoes")
        if self.scope.is_whole and not self.scope.first:
            for each in self._deals.missing():
                yield Finding("every deal of the dealer is stored", each.on, each.text)


class TableVersions(Verifier):
    """Verifies the versions of tables, above all their limits, in one run."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare the versions of which these leaves speak."""
        yield from found_by("games_verify_logged_versions", first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify that an event speaks of every version."""
        yield from found_by("games_verify_unlogged_versions")


def _mispaid(first: int, end: int) -> Iterator[Finding]:
    """Settle the bets of shared tables again, from the cards in the log and the rules that are installed."""
    games = games_by_digest()
    with connection.cursor() as cursor:
        cursor.execute(SHARED_BETS, [first, end])
        rows = cursor.fetchall()
    for subject, rules, cards, bets in rows:
        game = games.get(rules)
        if game is None:
            continue
        coup = deal([Card.parse(code) for code in cards.split()])
        for bet, stake, *stored in json.loads(bets):
            line = line_of(game.bet(bet), coup, stake)
            due = [line.payout, line.commission, str(line.result)]
            if stored != due:
                found = f"bet {bet} of {stake}: the stored value is {stored}, the rules give {due}."
                yield Finding(PAID, subject, f"{subject.replace(':', ' ')}: {found}")


def _stop_tables(found: Finding, is_new: bool) -> None:
    """Close the tables of a new finding about cards. Staff open them again when they know what has happened."""
    if not is_new or found.verified not in STOPS:
        return
    for table in _tables_of(found.on):
        close_table(table_id=table.pk, reason=f"The verification of the house: {found.text}"[:200], by=SYSTEM)


def _tables_of(subject: str) -> Iterable[Table]:
    """Return the tables of a round or a shoe that are not closed, by the log and by the row, which may be gone."""
    what, _colon, number = subject.partition(":")
    tables, versions = set(), set()
    for body in Event.objects.filter(on=subject, kind__in=NAME_TABLE).values_list("body", flat=True):
        data = json.loads(bytes(body))["data"]
        tables.add(data.get("table"))
        versions.add(data.get("table_version", (data.get("round") or {}).get("table_version")))
    if what == "shoe":
        tables.update(Shoe.objects.filter(pk=number).values_list("live_table__table", flat=True))
    elif what == "round":
        versions.update(Round.objects.filter(pk=number).values_list("table_version", flat=True))
        tables.update(LiveRound.objects.filter(pk=number).values_list("live_table__table", flat=True))
    named = Q(pk__in=tables - {None}) | Q(versions__in=versions - {None})
    return Table.objects.filter(named).exclude(status=Status.CLOSED).distinct()
