"""Voiding a round: money is restored, and no record is changed."""

import hashlib
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import ProgrammingError, connection, transaction

from games import solo
from games.models import Participation, Round, SoloSeat, Void, VoidPart
from games.rounds.void import RoundNotFound
from games.tables.default_tables import golden_limits
from games.tables.status import open_table
from games.tables.versions import make_table
from tests.builders import a_player, a_round, a_seat, a_table
from tests.harness.sweeps import sample
from tests.people import events
from tests.voiding import void_unreproduced
from tests.wallet import wholeness
from tests.wallet.money_moves import cash, house, move, open_table_account, write
from tests.wallet.test_at_once import at_once
from wallet import ledger
from wallet.ledger import accounts, purse
from wallet.models import AccountKind, Journal, Mode

MONEY = 1_000_000
BETS = {"player": 1000, "banker": 5000, "tie": 1000}


def void_round(round_id):
    return void_unreproduced(round_id)


def balance(player, mode=Mode.REAL):
    return accounts.balance(player.pk, mode)


def facts_of(played):
    """Return the facts in the event of a void, computed again from the stored round."""
    part = Participation.objects.get(round=played)
    values = (part.balance_before, part.balance_after, part.staked, part.paid, part.commission)
    lines = [" ".join(map(str, (part.player_id, part.currency, part.mode, *values, part.session or "none")))]
    lines += [
        f"{wager.bet} {wager.stake} {wager.payout} {wager.commission} {wager.result}"
        for wager in sorted(part.wagers.all(), key=lambda each: each.bet)
    ]
    return {
        "cards": played.cards,
        "code": played.code,
        "commitment": played.commitment,
        "coup": None,
        "first_card": None,
        "mode": played.mode,
        "outcome": played.outcome,
        "parts": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        "shoe": None,
        "table_version": played.table_version_id,
    }


def spend(player, amount, mode=Mode.REAL):
    """Take money out of the player's cash, as taking a bank would."""
    tenure = uuid4()
    bank = open_table_account(AccountKind.BANK, tenure, currency=player.currency, mode=mode, owner_id=player.pk)
    lines = move((cash(player, mode), -amount), (bank, amount), currency=player.currency, mode=mode.value)
    write(ledger.Journal(uuid4(), "bank", lines, tenure))


def a_won_round(player, table, mode=Mode.REAL):
    """Play rounds until one pays more than was staked; return it."""
    while True:
        played = a_round(player, table, mode, player=5000)
        part = Participation.objects.get(round_id=played.round_id)
        if part.paid > part.staked:
            return part


@pytest.mark.django_db
class TestASettledRound:
    @pytest.mark.parametrize("mode", sample(list(Mode), 1))
    def test_leaves_the_balance_as_if_it_had_not_been(self, mode):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        for _ in range(8):
            before = balance(player, mode)
            void_round(a_round(player, table, mode, **BETS).round_id)
            assert balance(player, mode) == before
        assert not VoidPart.objects.exclude(shortfall=0).exists()

    def test_is_reversed_journal_by_journal(self):
        player, table = a_player(real=MONEY), a_table()
        played = a_round(player, table, **BETS)
        theirs = Journal.objects.filter(round_id=played.round_id)
        journals = set(theirs.values_list("pk", flat=True))
        void_round(played.round_id)
        assert set(theirs.filter(kind="void").values_list("reverses", flat=True)) == journals
        wholeness.assert_whole()

    def test_stays_stored_as_it_was(self):
        player, table = a_player(real=MONEY), a_table()
        played = a_round(player, table, **BETS)
        before = Round.objects.filter(pk=played.round_id).values(), Participation.objects.values()
        kept = [list(rows) for rows in before]
        void_round(played.round_id)
        assert [list(rows.all()) for rows in before] == kept

    def test_is_voided_once(self):
        player, table = a_player(real=MONEY), a_table()
        played = a_round(player, table, **BETS)
        first, second = void_round(played.round_id), void_round(played.round_id)
        assert (first.pk, first.at) == (second.pk, second.at)
        assert balance(player) == MONEY
        assert len(events("round.voided")) == Void.objects.count() == VoidPart.objects.count() == 1

    def test_is_recorded_with_what_came_back(self):
        player, table = a_player(real=MONEY), a_table()
        part = Participation.objects.get(round_id=a_round(player, table, **BETS).round_id)
        void_round(part.round_id)
        (event,) = events("round.voided")
        assert (event["by"], event["on"]) == ("system", f"round:{part.round_id}")
        returned = part.staked - part.paid
        line = f"{player.pk} SEK {returned} 0\n"
        assert event["data"] == {
            "cards": part.round.cards,
            "count": 1,
            "players": [{"currency": "SEK", "player": str(player), "returned": returned, "shortfall": 0}],
            "reason": "not_reproduced",
            "round": facts_of(part.round),
            "sha256": hashlib.sha256(line.encode()).hexdigest(),
        }

    def test_does_not_touch_other_rounds(self):
        player, table = a_player(real=MONEY), a_table()
        first, second = a_round(player, table, **BETS), a_round(player, table, **BETS)
        void_round(first.round_id)
        other = Participation.objects.get(round_id=second.round_id)
        assert balance(player) == MONEY - other.staked + other.paid
        assert not Journal.objects.filter(round_id=second.round_id, kind__startswith="void").exists()


@pytest.mark.django_db
def test_a_round_that_never_was_cannot_be_voided():
    with pytest.raises(RoundNotFound):
        void_round(uuid4())
    assert not Void.objects.exists()


@pytest.mark.django_db
class TestSpentWinnings:
    @pytest.mark.parametrize("mode", sample(list(Mode), 1))
    def test_the_house_adds_exactly_what_is_missing(self, mode):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        part = a_won_round(player, table, mode)
        spend(player, balance(player, mode) - 300, mode)
        void_round(part.round_id)
        assert balance(player, mode) == 0
        shown = VoidPart.objects.get()
        assert (shown.returned, shown.shortfall) == (part.staked - part.paid, part.paid - part.staked - 300)
        (event,) = events("round.voided")
        assert event["data"]["players"][0]["shortfall"] == shown.shortfall
        wholeness.assert_whole()

    def test_the_house_loses_the_shortfall_and_nothing_else(self):
        player, table = a_player(real=MONEY), a_table()
        part = a_won_round(player, table)
        before = held_by_the_house(player)
        spend(player, balance(player))
        void_round(part.round_id)
        assert held_by_the_house(player) == before + (part.paid - part.staked) - VoidPart.objects.get().shortfall

    @pytest.mark.sweep
    def test_what_is_enough_is_not_added_to(self):
        player, table = a_player(real=MONEY), a_table()
        part = a_won_round(player, table)
        spend(player, balance(player) - (part.paid - part.staked))
        void_round(part.round_id)
        assert balance(player) == VoidPart.objects.get().shortfall == 0
        assert not Journal.objects.filter(kind="void_shortfall").exists()


@pytest.mark.django_db
class TestARoundOnAPurse:
    """Golden Baccarat plays on a purse, which returns to cash when the player leaves."""

    @pytest.fixture
    def player(self):
        return a_player(real=MONEY, free=MONEY)

    @pytest.fixture
    def table(self):
        table = make_table(
            slug="golden", name="Golden Baccarat", variant="golden", limits=golden_limits(), by="staff:test"
        )
        return open_table(table_id=table.pk, reason="for a test", by="staff:test")

    @pytest.mark.parametrize("mode", sample(list(Mode), 1))
    def test_gives_the_purse_back_what_it_had(self, player, table, mode):
        purse.rebuy(player=player, mode=mode, amount=100_000, key=uuid4())
        for _ in range(4):
            before = purse.balance(player, mode)
            void_round(a_round(player, table, mode, player=1000).round_id)
            assert purse.balance(player, mode) == before
            SoloSeat.objects.update(slip={}, undo=[])

    @pytest.mark.sweep
    def test_takes_winnings_back_from_cash_where_they_have_flowed_there(self, player, table):
        purse.rebuy(player=player, mode=Mode.REAL, amount=500_000, key=uuid4())
        part = a_won_golden_round(player, table)
        before = part.balance_before + balance(player)
        purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        void_round(part.round_id)
        assert (purse.balance(player, Mode.REAL), balance(player)) == (0, before)
        assert VoidPart.objects.get().shortfall == 0
        wholeness.assert_whole()

    def test_is_covered_by_the_house_where_all_is_spent(self, player, table):
        purse.rebuy(player=player, mode=Mode.REAL, amount=500_000, key=uuid4())
        part = a_won_golden_round(player, table)
        purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        spend(player, balance(player) - 100)
        void_round(part.round_id)
        assert (purse.balance(player, Mode.REAL), balance(player)) == (0, 0)
        assert VoidPart.objects.get().shortfall == part.paid - part.staked - 100
        wholeness.assert_whole()


def a_won_golden_round(player, table):
    """Play rounds until one pays more than was staked; its bets stand for the next round."""
    while True:
        played = a_round(player, table, player=1000)
        part = Participation.objects.get(round_id=played.round_id)
        if part.paid > part.staked:
            return part
        SoloSeat.objects.update(slip={}, undo=[])


def held_by_the_house(player) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(amount), 0) FROM wallet_entry WHERE account_id = %s", [house("house", player)]
        )
        (total,) = cursor.fetchone()
    return total


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("table", "column"),
    [("games_void", "by"), ("games_voidpart", "shortfall"), ("games_voidnotice", "at"), ("games_incident", "done")],
)
def test_the_login_role_changes_nothing_about_a_void(table, column):
    for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
        refused = pytest.raises(ProgrammingError, match="permission denied")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


class TestAtOnce:
    """Uses real threads on its own database."""

    def test_of_many_calls_one_voids(self, cloned_db):
        player, table = a_player(real=MONEY), a_table()
        played = a_round(player, table, **BETS)
        voids = at_once([lambda: void_round(played.round_id)] * 8)
        assert len({void.at for void in voids}) == 1
        assert balance(player) == MONEY
        assert len(events("round.voided")) == VoidPart.objects.count() == 1
        wholeness.assert_whole()

    def test_play_goes_on_while_rounds_are_voided(self, cloned_db):
        player, table = a_player(real=MONEY), a_table()
        doomed = [a_round(player, table, **BETS).round_id for _ in range(10)]
        seat = a_seat(player, table, player=1000)
        ready = Barrier(2)

        def play() -> int:
            ready.wait(timeout=30)
            played = [
                solo.play_round(
                    player=player,
                    table_id=table.pk,
                    mode=Mode.REAL,
                    round_id=seat.round_id,
                    slip_version=seat.slip_version,
                )
            ]
            played += [a_round(player, table, player=1000) for _ in range(9)]
            parts = Participation.objects.filter(round_id__in=[each.round_id for each in played])
            return sum(part.paid - part.staked for part in parts)

        def undo() -> int:
            ready.wait(timeout=30)
            for round_id in doomed:
                void_round(round_id)
            return 0

        won = sum(at_once([play, undo]))
        assert balance(player) == MONEY + won
        assert Void.objects.count() == len(doomed)
        wholeness.assert_whole()
