"""A stolen web login and the money of studios: no win without a paid bet, and no row without
journals.

It can bet and win in a studio's name, since signatures are checked above the database.
"""

from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from tests.builders import a_player
from tests.wallet.studios import a_game, broken
from wallet import ledger
from wallet.ledger.accounts import balance, house_account, player_account
from wallet.models import Journal, Mode, StudioTransaction

pytestmark = pytest.mark.django_db

MONEY = 10_000


@pytest.fixture
def game():
    return a_game(a_player(real=MONEY))


def journal_of(game, kind, amount, *, house="studio", key=None):
    lines = (
        ledger.Line(player_account(game.who.pk, Mode.REAL), "SEK", "R", amount),
        ledger.Line(house_account(house, "SEK", "R"), "SEK", "R", -amount),
    )
    return ledger.Journal(key or uuid4(), kind, lines)


def a_row(game, **said):
    """Return an unsaved transaction like the last bet of `game`."""
    row = StudioTransaction.objects.latest("pk")
    row.pk, row.transaction, row.bet_key, row.win_key = None, f"t-{uuid4().hex[:8]}", uuid4(), uuid4()
    for name, value in said.items():
        setattr(row, name, value)
    return row


def write(row, *journals):
    """Insert a row and journals, and check the constraints of the end of a transaction."""
    with transaction.atomic():
        row.save(force_insert=True)
        if journals:
            ledger.post(*journals)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@pytest.mark.parametrize("kind", ["studio_stake", "studio_win", "studio_rollback"])
@pytest.mark.parametrize("house", ["studio", "house", "cashier"])
def test_no_journal_that_no_transaction_says(game, kind, house):
    for amount in (100, -100):
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            ledger.post(journal_of(game, kind, amount, house=house))


@pytest.mark.parametrize("kind", ["deposit", "settle", "stake", "adjustment", "gift"])
def test_no_other_kind_moves_the_account_of_studios(game, kind):
    with pytest.raises(ledger.WrongPurpose), transaction.atomic():
        ledger.post(journal_of(game, kind, 100))


def test_no_win_without_a_bet(game):
    game.bet(100)
    row = a_row(game, operation="win", bet=0, win=5_000, round="another", game_session=None)
    with pytest.raises(DatabaseError, match="no bet stands"):
        write(row, journal_of(game, "studio_win", 5_000, key=row.win_key))


def test_no_win_on_a_bet_that_was_written_and_never_paid(game):
    game.bet(100)
    with transaction.atomic():
        a_row(game, round="unpaid").save(force_insert=True)
        with pytest.raises(DatabaseError, match="no bet stands"), transaction.atomic():
            a_row(game, operation="win", bet=0, win=5_000, round="unpaid").save(force_insert=True)
        transaction.set_rollback(True)


def test_no_row_without_its_journals_nor_with_less(game):
    game.bet(100)
    with pytest.raises(DatabaseError, match="not in the ledger: stake"):
        write(a_row(game))
    row = a_row(game, operation="bet-and-win", win=500)
    with pytest.raises(DatabaseError, match="not in the ledger: win"):
        write(row, journal_of(game, "studio_stake", -100, key=row.bet_key))


@pytest.mark.parametrize("amount", [-99, -101, 100])
def test_no_journal_of_another_amount(game, amount):
    game.bet(100)
    row = a_row(game)
    with pytest.raises(ledger.WrongPurpose):
        write(row, journal_of(game, "studio_stake", amount, key=row.bet_key))


def test_no_journal_on_another_players_account(game):
    other = a_game(a_player(real=MONEY), game.partner)
    game.bet(100)
    row = a_row(game)
    with pytest.raises(ledger.WrongPurpose):
        write(row, journal_of(other, "studio_stake", -100, key=row.bet_key))


def test_no_reversal_that_no_rollback_says(game):
    journal = Journal.objects.get(pk=game.bet(100).reference)
    for kind in ("void", "studio_rollback", "studio_win"):
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            ledger.reverse({journal.pk: uuid4()}, kind=kind)


def test_no_rollback_that_gives_nothing_back(game):
    game.bet(100, transaction="one")
    row = a_row(game, operation="rollback", bet=0, takes_back="one", game_session=None)
    with pytest.raises(DatabaseError, match="not in the ledger: stake taken back"):
        write(row)


def test_rows_are_neither_changed_nor_removed(game):
    game.bet(100)
    for statement in ("UPDATE wallet_studio_transaction SET win = 5", "DELETE FROM wallet_studio_transaction"):
        with (
            pytest.raises(DatabaseError, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


def test_and_the_ledger_is_whole_after_all_that(game):
    game.bet(100, transaction="one")
    game.both(200, 700)
    game.roll_back("one")
    assert broken() == []
    assert balance(game.who.pk, Mode.REAL) == MONEY + 500
