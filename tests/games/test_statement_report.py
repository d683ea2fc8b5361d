"""The player statement report for staff."""

import pytest

from audit.reports.files import in_english
from audit.reports.kinds import CannotMake, Interval
from games.reports import statements
from tests.builders import a_round, a_table
from tests.reports_history import a_depositor, ask, clock, deposit, paid_out
from tests.wallet.payout_builders import a_withdrawal
from wallet.models import Mode

pytestmark = pytest.mark.django_db


def read(interval, **choices):
    names = [column.name for column in statements.COLUMNS]
    return [dict(zip(names, in_english(row), strict=True)) for row in statements.answer(ask(interval, **choices)).rows]


def parts(rows, part):
    return {row["what"]: row["amount"] for row in rows if row["part"] == part}


def test_gli19_2_5_7_staff_have_the_player_s_statement_and_its_movements_make_the_end():
    player, table = a_depositor("SE", 100_000), a_table()
    since = clock()
    deposit(player, 30_000)
    a_round(player, table, Mode.REAL, player=5000, tie=1000)
    paid_out(a_withdrawal(player, 20_000))
    a_withdrawal(player, 10_000)
    rows = read(Interval(since, clock()), player=str(player.pk))
    begin, end, changed = (parts(rows, part) for part in ("Opening balance", "Closing balance", "Movements"))
    assert begin["Total"] == 100_000
    assert end["Total"] == 100_000 + sum(changed.values())
    assert (changed["Deposit"], changed["Withdrawal paid out"], end["Pending withdrawals"]) == (30_000, -20_000, 10_000)
    (game,) = (row for row in rows if row["part"] == "Games")
    assert (game["what"], game["rounds"], game["staked"]) == ("Baccarat", 1, 6000)
    assert game["amount"] == game["paid"] - game["staked"]
    assert {row["player"] for row in rows} == {str(player)}
    payments = [row for row in rows if row["part"] == "Payments"]
    assert all(row["journal"] and row["at"] for row in payments)
    assert payments[0]["amount"] == 30_000


@pytest.mark.parametrize("number", ["", "nobody", "999999999999999999", "-1"])
def test_has_no_rows_without_a_player(number):
    with pytest.raises(CannotMake, match="player number, such as 12"):
        read(Interval(clock(), clock()), player=number)


@pytest.mark.sweep
def test_of_who_has_nothing_it_says_nothing():
    player = a_depositor("SE")
    assert read(Interval(clock(), clock()), player=f"player:{player.pk}", mode="F") == []
