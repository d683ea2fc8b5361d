"""Money of studios' games is reported as theirs: not as our revenue, but in every money report."""

import pytest

from audit.reports.kinds import Interval, kind_of
from games.history.statement.figures import figures_between
from games.reports import reconciliation
from tests.builders import a_player, a_round, a_table
from tests.reports_history import ask, clock
from tests.wallet.studios import a_game
from wallet.ledger import hourly_totals, statements
from wallet.models import AccountKind, Mode

pytestmark = pytest.mark.django_db

MONEY = 100_000
STUDIOS = "Studios’ games: wins less stakes"


@pytest.fixture
def history():
    """A round of ours; at a studio a bet won, one lost, one reversed, and a round in one call."""
    player = a_player(real=MONEY)
    since = clock()
    a_round(player, a_table(), player=10_000)
    game = a_game(player)
    game.bet(1_000, round="won")
    game.win(3_000, round="won")
    game.bet(500, round="lost")
    game.win(0, round="lost")
    game.bet(700, round="back", transaction="back")
    game.roll_back("back", round="back")
    game.both(200, 900, round="at once", transaction="at once")
    game.both(100, 50, round="at once, back", transaction="both back")
    game.roll_back("both back", round="at once, back")
    return player, Interval(since, clock())


BROUGHT = 3_000 - 1_000 - 500 + 900 - 200


def test_the_reconciliation_has_a_line_for_them_and_nothing_differs(history):
    _, interval = history
    answer = reconciliation.answer(ask(interval))
    rows = {row[:3]: tuple(row[3:]) for row in answer.rows}
    assert rows["SEK", "real", STUDIOS] == (BROUGHT, BROUGHT, 0)
    assert {difference for _, _, difference in rows.values()} <= {0, None}
    assert answer.notes()[-1] == "No differences."


def test_a_journal_that_no_row_speaks_of_is_a_difference(history, monkeypatch):
    _, interval = history
    monkeypatch.setattr(reconciliation, "STUDIOS", "SELECT 'SEK', 'R', 0 WHERE %(first)s < %(beyond)s")
    answer = reconciliation.answer(ask(interval))
    assert [row[-1] for row in answer.rows if row[2] == STUDIOS] == [BROUGHT]


@pytest.mark.sweep
def test_gross_gaming_revenue_is_that_of_our_tables(history):
    _, interval = history
    revenue = kind_of("revenue")
    assert revenue
    before = [tuple(row) for row in revenue.answer(ask(interval)).rows]
    player, since = a_player(real=MONEY), interval.since
    game = a_game(player)
    game.bet(5_000)
    game.win(20_000)
    assert [tuple(row) for row in revenue.answer(ask(Interval(since, clock()))).rows] == before


@pytest.mark.sweep
def test_the_houses_account_has_nothing_of_them(history):
    _, interval = history
    kinds = {
        each.journal_kind for each in hourly_totals.read_totals(interval) if each.account_kind == AccountKind.HOUSE
    }
    assert not {kind for kind in kinds if "studio" in kind}
    theirs = [each for each in hourly_totals.read_totals(interval) if each.account_kind == AccountKind.STUDIO]
    assert sum(each.amount for each in theirs) == -BROUGHT


@pytest.mark.sweep
def test_the_players_statement_says_what_each_was_and_adds_up(history):
    player, interval = history
    statement = figures_between(player, Mode.REAL, interval.since, clock(), "UTC")
    sums = {str(each.name): each.amount for each in statement.sums}
    assert sums["Stake in a partner’s game"] == -1_000 - 500 - 700 - 200 - 100
    assert sums["Win in a partner’s game"] == 3_000 + 900 + 50
    assert sums["Reversal in a partner’s game"] == 700 + 100 - 50
    assert statement.opening.total + statement.total == statement.closing.total
    newest = statements.statement(player.pk, Mode.REAL).movements[0]
    assert str(newest.name) == "Reversal in a partner’s game"
