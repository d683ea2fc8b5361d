"""A solo round is finished by one function of the database, which believes nothing that it can look up.

Each attack runs as the login role of web and workers. It is refused, and it succeeds once the owner
has taken the guard away.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from audit.log import canonical
from audit.models import Event
from games.engine.coup import Outcome, deal
from games.engine.settle import settle
from games.engine.shoe import commitment, shuffle
from games.models import HighestOdds, Participation, Round, SoloSeat
from games.rounds import FINISH
from games.rounds.database_refusals import NotCommitted, NotTaken, WrongSeed, WrongWagers, round_refusals
from games.seeds import Purpose, new_sealed_seed, unseal
from games.solo import play_round
from games.tables.status import close_table, pause_table
from games.variants import VARIANTS
from players.account import terms
from tests.builders import a_player, a_round, a_seat, a_shared_table, a_table
from tests.harness.rows_written import rows_written
from tests.people import events
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Mode

MONEY = 1_000_000
STAKE = 1_000


@dataclass(frozen=True)
class Asked:
    """The arguments of ``games_finish_solo_round``, as the product gives them unless changed."""

    seat: int
    round_id: UUID
    account: int
    seed: bytes
    cards: str
    outcome: str
    bets: list[str]
    stakes: list[int]
    payouts: list[int]
    commissions: list[int]
    results: list[str]
    next_round: UUID = field(default_factory=uuid4)
    next_commitment: str = "a" * 64
    next_seed: bytes = b"sealed"
    session: UUID | None = None
    terms: str = terms.VERSION

    def send(self) -> int:
        """Call the function as the login role and return the balance afterwards."""
        values: list[Any] = [
            *(self.seat, self.round_id, uuid4().hex[:14], self.account, self.seed, "", self.cards, self.outcome),
            *(self.bets, self.stakes, self.payouts, self.commissions, self.results, self.session),
            *(ledger.system_key(self.round_id, "stake"), ledger.system_key(self.round_id, "settle")),
            *(self.next_round, self.next_commitment, self.next_seed, "{}", "{}", self.terms, 60),
        ]
        with transaction.atomic(), round_refusals(), ledger.refusals(), connection.cursor() as cursor:
            cursor.execute(FINISH, values)
            balance: int = cursor.fetchone()[0]
        return balance


def as_played(seat: SoloSeat, **bets: int) -> Asked:
    """Return the arguments with which the product would finish the round of a seat."""
    seed = unseal(Purpose.SOLO, seat.round_id, bytes(seat.sealed_seed))
    variant = VARIANTS[seat.table.variant]
    coup = deal(shuffle(seed, variant.decks))
    lines = settle(variant, coup, bets).lines
    return Asked(
        seat=seat.pk,
        round_id=seat.round_id,
        account=accounts.player_account(seat.player_id, Mode(seat.mode)),
        seed=seed,
        cards=" ".join(card.code for card in coup.cards),
        outcome=str(coup.outcome),
        bets=[line.bet for line in lines],
        stakes=[line.stake for line in lines],
        payouts=[line.payout for line in lines],
        commissions=[line.commission for line in lines],
        results=[str(line.result) for line in lines],
    )


def weaken(owner: psycopg.Connection, function: str, *changes: tuple[str, str]) -> None:
    """Replace parts of a function of the database, as its owner could."""
    ((text,),) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", [function]).fetchall()
    for old, new in changes:
        assert old in text, f"{function} has no {old}"
        text = text.replace(old, new)
    owner.execute(text)


def without_refusal(owner: psycopg.Connection, function: str, state: str) -> None:
    """Let a function go on where it would raise an SQLSTATE."""
    ((text,),) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", [function]).fetchall()
    text, number = re.subn(rf"RAISE EXCEPTION [^;]*?ERRCODE = '{state}'[^;]*;", "NULL;", text)
    assert number, f"{function} does not raise {state}"
    owner.execute(text)


FUNCTION = "games_finish_solo_round"


@pytest.fixture
def seat(cloned_db) -> SoloSeat:
    return a_seat(a_player(real=MONEY), a_table(), player=STAKE)


def balance(seat: SoloSeat) -> int:
    return accounts.balance(seat.player_id, Mode.REAL)


def test_the_arguments_of_the_product_are_accepted(seat):
    asked = as_played(seat, player=STAKE, tie=STAKE)
    after = asked.send()
    assert after == balance(seat) == MONEY - 2 * STAKE + sum(asked.payouts)
    kept = Participation.objects.get()
    assert (kept.round_id, kept.balance_before, kept.balance_after) == (asked.round_id, MONEY, after)
    assert kept.round.seed
    assert kept.round.commitment == commitment(bytes(kept.round.seed))
    (event,) = events("round.settled")
    assert event["data"]["balance_before"] == MONEY
    assert [wager["bet"] for wager in event["data"]["wagers"]] == asked.bets


def test_the_event_is_the_one_that_python_would_write(db):
    """The function writes canonical JSON, with text of the player in it."""
    seat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    asked = as_played(seat, player=STAKE)
    value = 'Ä"\\ \t\x07\x7f🂡'
    values: list[Any] = [
        *(asked.seat, asked.round_id, "ABCD-EFGH-JKMN", asked.account, asked.seed, value, asked.cards, asked.outcome),
        *(asked.bets, asked.stakes, asked.payouts, asked.commissions, asked.results, uuid4()),
        *(uuid4(), uuid4(), asked.next_round, asked.next_commitment, asked.next_seed, "{}", "{}", asked.terms, 60),
    ]
    with connection.cursor() as cursor:
        cursor.execute(FINISH, values)
    stored = bytes(Event.objects.get(kind="round.settled").body).decode()
    assert canonical(json.loads(stored)) == stored
    assert json.loads(stored)["data"]["player_value"] == value


class TestIsRefused:
    def test_a_stake_of_one_settled_with_a_thousand_under_an_invented_round(self, seat, owner):
        invented = replace(as_played(seat, player=STAKE), round_id=uuid4())
        with pytest.raises(NotCommitted):
            invented.send()
        assert balance(seat) == MONEY
        assert not Round.objects.exists()
        weaken(owner, FUNCTION, (" AND s.round_id = round", ""))
        invented.send()
        assert Round.objects.get().pk == invented.round_id

    def test_a_round_that_another_player_is_committed_to(self, seat):
        other = a_seat(a_player(real=MONEY), seat.table, player=STAKE)
        with pytest.raises(NotCommitted):
            replace(as_played(seat, player=STAKE), account=as_played(other, player=STAKE).account).send()

    def test_a_payout_above_the_paytable(self, seat, owner):
        asked = as_played(seat, player=STAKE)
        rich = replace(asked, payouts=[1_000 * STAKE], results=["win"], commissions=[0])
        with pytest.raises(WrongWagers):
            rich.send()
        assert balance(seat) == MONEY
        without_refusal(owner, FUNCTION, "SB063")
        assert rich.send() == MONEY + 999 * STAKE

    @pytest.mark.parametrize(("outcome", "lost"), [("banker", "player"), ("player", "banker")])
    def test_even_odds_on_a_bet_that_always_loses_on_the_outcome(self, seat, owner, outcome, lost):
        played = as_played(seat, player=STAKE)
        asked = replace(played, outcome=outcome, bets=[lost], payouts=[2 * STAKE], commissions=[0], results=["win"])
        with pytest.raises(WrongWagers):
            asked.send()
        owner.execute("UPDATE games_highestodds SET win = 1, per = 1")
        assert asked.send() == MONEY + STAKE

    def test_a_seed_that_was_not_committed_to(self, seat, owner):
        asked = replace(as_played(seat, player=STAKE), seed=b"s" * 32)
        with pytest.raises(WrongSeed):
            asked.send()
        assert balance(seat) == MONEY
        without_refusal(owner, FUNCTION, "SB061")
        asked.send()
        assert bytes(Round.objects.get().seed or b"") == b"s" * 32

    @pytest.mark.parametrize("stake", [-STAKE, 0, 1, STAKE + 1, 10**9])
    def test_a_stake_outside_of_the_limits_of_the_table(self, seat, stake):
        with pytest.raises(WrongWagers):
            replace(
                as_played(seat, player=STAKE), stakes=[stake], payouts=[0], results=["lose"], commissions=[0]
            ).send()
        assert balance(seat) == MONEY

    @pytest.mark.parametrize(
        "change",
        [
            {"bets": ["dragon"], "payouts": [0], "results": ["lose"]},
            {"bets": [], "stakes": [], "payouts": [], "commissions": [], "results": []},
            {"payouts": [STAKE], "results": ["lose"]},
            {"payouts": [0], "results": ["win"]},
            {"payouts": [None]},
            {"stakes": [None]},
            {"commissions": [-5]},
        ],
        ids=str,
    )
    def test_what_does_not_follow_from_the_rules(self, seat, change):
        with pytest.raises(WrongWagers):
            replace(as_played(seat, player=STAKE), **change).send()
        assert balance(seat) == MONEY

    @pytest.mark.parametrize("shut", [close_table, pause_table], ids=["closed", "paused"])
    def test_a_round_at_a_table_that_is_not_open(self, seat, owner, shut: Callable[..., Any]):
        shut(table_id=seat.table_id, reason="for a test", by="staff:1")
        asked = as_played(seat, player=STAKE)
        with pytest.raises(NotTaken):
            asked.send()
        without_refusal(owner, FUNCTION, "SB062")
        asked.send()

    def test_the_same_round_again(self, seat):
        asked = as_played(seat, player=STAKE)
        after = asked.send()
        with pytest.raises(NotCommitted):
            asked.send()
        assert balance(seat) == after

    def test_a_next_round_without_a_commitment(self, seat):
        for change in ({"next_commitment": "x"}, {"next_seed": b""}, {"next_round": seat.round_id}):
            with pytest.raises(NotCommitted):
                replace(as_played(seat, player=STAKE), **change).send()


class TestASeat:
    """A commitment that was shown is never replaced."""

    @pytest.mark.parametrize("column", ["commitment", "sealed_seed", "round_id", "player_id", "table_id", "mode"])
    def test_keeps_what_it_is_committed_to(self, seat, owner, cloned_db, column):
        new = new_sealed_seed(Purpose.SOLO)
        values = {"commitment": new.commitment, "sealed_seed": new.sealed, "round_id": new.round_id, "mode": "F"}
        value = values.get(column, seat.pk if column == "id" else getattr(seat, column, None))
        change = f"UPDATE games_soloseat SET {column} = %s WHERE id = %s"
        with psycopg.connect(cloned_db.web_url, autocommit=True) as web:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                web.execute(change, [value, seat.pk])
            owner.execute(f"GRANT UPDATE ({column}) ON games_soloseat TO sabot_app")
            assert web.execute(change, [value, seat.pk]).rowcount == 1

    def test_is_not_committed_again_by_being_taken_again(self, seat, owner):
        new = new_sealed_seed(Purpose.SOLO)
        take = "SELECT games_take_solo_seat(%s::bigint, %s::bigint, %s::text, %s::uuid, %s::text, %s::bytea)"
        values = [seat.player_id, seat.table_id, seat.mode, new.round_id, new.commitment, new.sealed]
        with connection.cursor() as cursor:
            cursor.execute(take, values)
            assert SoloSeat.objects.get(pk=seat.pk).commitment == seat.commitment
            anew = "ON CONSTRAINT games_soloseat_player_table DO UPDATE SET commitment = excluded.commitment"
            weaken(owner, "games_take_solo_seat", ("CONFLICT DO NOTHING", f"CONFLICT {anew}"))
            cursor.execute(take, values)
        assert SoloSeat.objects.get(pk=seat.pk).commitment == new.commitment

    def test_is_taken_at_a_solo_table_only(self, cloned_db):
        new, player, table = new_sealed_seed(Purpose.SOLO), a_player(real=MONEY), a_shared_table()
        with pytest.raises(NotTaken), transaction.atomic(), round_refusals(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT games_take_solo_seat(%s::bigint, %s::bigint, 'R', %s::uuid, %s::text, %s::bytea)",
                [player.pk, table.pk, new.round_id, new.commitment, new.sealed],
            )
        assert not SoloSeat.objects.exists()


@pytest.mark.django_db
def test_the_highest_odds_of_every_installed_bet_are_stored():
    stored = {(odds.rules_digest, odds.bet, odds.outcome): (odds.win, odds.per) for odds in HighestOdds.objects.all()}
    for variant in VARIANTS.values():
        assert {(variant.digest, bet.code, outcome) for bet in variant.bets for outcome in Outcome} <= stored.keys()
    baccarat = VARIANTS["baccarat"].digest
    assert stored[baccarat, "tie", "tie"] == (8, 1)
    assert stored[baccarat, "player", "tie"] == (0, 1)
    assert stored[baccarat, "player", "banker"] == (-1, 1)
    assert stored[baccarat, "banker", "banker"] == (19, 20)


WRITTEN_BY_GAMES = {
    "audit_event": 1,
    "audit_pending": 1,
    "games_participation": 1,
    "games_replaydue": 1,
    "games_round": 1,
    "games_soloseat": 1,
    "games_wager": 1,
    "players_playtime": 1,
}
WRITTEN_BY_THE_LEDGER = {
    "wallet_account": 2,
    "wallet_day": 2,
    "wallet_entry": 5,  # four if the player wins nothing
    "wallet_journal": 2,
    "wallet_posting_key": 2,
}


@pytest.mark.django_db
def test_the_budget_of_a_solo_round():
    """Statements that the product sends, and rows that PostgreSQL writes, for one bet; more rows are a regression."""
    player, table = a_player(real=MONEY), a_table()
    a_round(player, table, player=STAKE)  # the first round of a day inserts totals that later ones update
    seat, before = a_seat(player, table, player=STAKE), rows_written()
    with CaptureQueriesContext(connection) as sent:
        play_round(
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=seat.round_id,
            slip_version=seat.slip_version,
        )
    assert [query["sql"].split()[0] for query in sent if "SAVEPOINT" not in query["sql"]] == ["SELECT", "SELECT"]
    written = rows_written() - before
    assert {table: rows for table, rows in written.items() if not table.startswith("wallet_")} == WRITTEN_BY_GAMES
    assert written <= Counter(WRITTEN_BY_GAMES | WRITTEN_BY_THE_LEDGER)
