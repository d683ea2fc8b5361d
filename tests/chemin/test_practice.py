"""House players never sit at a real-money table, not even by direct writes to the database.

Tested with the services, the role of web and workers, and the owner of the tables.
"""

from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import Error, IntegrityError, connection, transaction
from psycopg import sql

from games.models import CheminSeat, LiveTable, Table
from games.tables.checks import UnusableLimits
from tests.builders import a_chemin_live_table, a_player, put_live
from tests.chemin.at_table import a_seat_as_owner
from tests.harness.databases import Database
from tests.harness.owner import create_as_owner
from tests.wallet.money_moves import open_table_account, write
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode

SEAT = "INSERT INTO games_cheminseat (live_table_id, number, account_id, is_random, missed, joined_at, why_left)"
OPEN_ACCOUNT = "SELECT wallet_open_table_account(NULL, 'seat', 'SEK', %s, %s)"
ACCOUNT = "INSERT INTO wallet_account (kind, currency, mode, balance, held, version, lock_only, subject_id)"


def live(table: Table, mode: Mode) -> LiveTable:
    return LiveTable.objects.get(table=table, mode=mode)


def house_chips(mode: Mode = Mode.FREE, subject_id: UUID | None = None) -> int:
    return open_table_account(AccountKind.SEAT, subject_id or uuid4(), currency="SEK", mode=mode)


def seat_a_house_player(live_table: LiveTable, account_id: int) -> CheminSeat:
    return a_seat_as_owner(live_table=live_table, number=1, player=None, account_id=account_id)


@pytest.fixture
def committed_tables(cloned_db: Database) -> dict[Mode, int]:
    """The ids of a real and a free Chemin de Fer table in a database with its owner."""
    table = a_chemin_live_table()
    return {mode: live(table, mode).pk for mode in Mode}


@pytest.mark.django_db
class TestServices:
    def test_a_practice_table_is_not_there_for_real_money(self):
        table = a_chemin_live_table(seat_count=5, house_players=3)
        assert {each.mode for each in table.live.all()} == {Mode.FREE}

    def test_no_table_for_real_money_becomes_one_to_practise_at(self):
        table = a_chemin_live_table(seat_count=5)
        assert table.version
        limits = {"SEK": table.version.limits["SEK"] | {"house_players": 3}}
        with pytest.raises(UnusableLimits, match="Create a new table instead"):
            put_live(table_id=table.pk, limits=limits, reason="for a test")

    def test_the_house_plays_a_seat_at_a_table_for_free_money(self):
        table = a_chemin_live_table(seat_count=5, house_players=3)
        seat = seat_a_house_player(live(table, Mode.FREE), house_chips())
        assert seat.player is None


@pytest.mark.django_db
class TestWebAndWorkers:
    def test_no_house_player_is_seated_for_real_money(self):
        table = a_chemin_live_table()
        chips = house_chips()
        with pytest.raises(IntegrityError, match="house players play for free money alone"), transaction.atomic():
            seat_a_house_player(live(table, Mode.REAL), chips)

    def test_not_even_where_a_practice_table_came_to_be_one_for_real_money(self):
        table = a_chemin_live_table(seat_count=5, house_players=3)
        create_as_owner(LiveTable(table=table, mode=Mode.REAL))
        real = LiveTable.objects.get(table=table, mode=Mode.REAL)
        with pytest.raises(IntegrityError, match="house players play for free money alone"), transaction.atomic():
            seat_a_house_player(real, house_chips())

    @pytest.mark.parametrize("change", ["live_table_id = %(real)s", "player_id = NULL"])
    def test_no_seat_moves_there_or_loses_its_player(self, change):
        table = a_chemin_live_table()
        player = a_player(real=1_000)
        cash = accounts.player_account(player.pk, Mode.REAL)
        a_seat_as_owner(live_table=live(table, Mode.REAL), number=2, player=player, account_id=cash)
        seat_a_house_player(live(table, Mode.FREE), house_chips())
        real = live(table, Mode.REAL).pk
        with pytest.raises(Error, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE games_cheminseat SET {change}", {"real": real})

    def test_a_house_player_has_no_chips_of_real_money(self):
        with pytest.raises(Error, match="account"), transaction.atomic():
            house_chips(Mode.REAL)
        assert house_chips(Mode.FREE)

    def test_chips_of_free_money_do_not_meet_real_money(self):
        player = a_player(real=1_000)
        chips, cash = house_chips(), accounts.player_account(player.pk, Mode.REAL)
        lines = (ledger.Line(cash, "SEK", Mode.REAL, -100), ledger.Line(chips, "SEK", Mode.REAL, 100))
        with pytest.raises(ledger.UnknownAccount), transaction.atomic():
            write(ledger.Journal(uuid4(), "stake", lines))


class TestTheOwner:
    """Constraints refuse the owner of the tables too."""

    def test_seats_no_house_player_for_real_money(self, committed_tables, owner):
        chips = house_chips()
        insert = sql.SQL("{} VALUES (%s, 1, %s, false, 0, now(), '')").format(sql.SQL(SEAT))
        owner.execute(insert, [committed_tables[Mode.FREE], chips])
        with pytest.raises(psycopg.errors.RestrictViolation, match="house players play for free money alone"):
            owner.execute(insert, [committed_tables[Mode.REAL], chips])

    @pytest.mark.parametrize("change", ["live_table_id = %(real)s", "player_id = NULL, account_id = %(chips)s"])
    def test_moves_none_there_and_takes_no_player_from_a_seat(self, committed_tables, owner, change):
        player, chips = a_player(), house_chips()
        real = committed_tables[Mode.REAL]
        cash = accounts.player_account(player.pk, Mode.REAL)
        a_seat_as_owner(live_table_id=real, number=2, player=player, account_id=cash)
        seat_a_house_player(LiveTable.objects.get(pk=committed_tables[Mode.FREE]), chips)
        with pytest.raises(psycopg.errors.RestrictViolation, match="is on record"):
            owner.execute(f"UPDATE games_cheminseat SET {change}", {"real": real, "chips": chips})

    def test_opens_no_account_of_real_money_for_one(self, committed_tables, owner):
        owner.execute(OPEN_ACCOUNT, [Mode.FREE, uuid4()])
        with pytest.raises(psycopg.Error):
            owner.execute(OPEN_ACCOUNT, [Mode.REAL, uuid4()])
        with pytest.raises(psycopg.Error):
            owner.execute(f"{ACCOUNT} VALUES ('seat', 'SEK', 'R', 0, 0, 0, false, gen_random_uuid())")

    def test_turns_none_of_theirs_into_one(self, committed_tables, owner):
        chips = house_chips()
        with pytest.raises(psycopg.Error):
            owner.execute("UPDATE wallet_account SET mode = 'R' WHERE id = %s", [chips])
