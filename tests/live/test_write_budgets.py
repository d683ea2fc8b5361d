"""The rows that a posting, a bet, closing and paying write: docs/performance.md. More rows are a regression."""

from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.models import Phase
from games.shared.bets import add_chip
from tests.builders import a_player
from tests.harness.rows_written import rows_written, triggers_called
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.wallet.money_moves import stake, write

pytestmark = pytest.mark.django_db

RICH = 1_000_000
BETTORS = 3


def cost_of(do: Callable[[], object]) -> tuple[int, Counter[str], Counter[str]]:
    """Return the number of statements that the product sends, the rows that are written, by table, and the calls of
    trigger functions.
    """
    rows, triggers = rows_written(), triggers_called()
    with CaptureQueriesContext(connection) as sent:
        do()
    statements = len([query for query in sent if "SAVEPOINT" not in query["sql"]])
    return statements, rows_written() - rows, triggers_called() - triggers


def test_a_posting():
    player = a_player(real=RICH)
    write(stake(player, 100))  # the first of a day inserts totals that later ones update
    journal = stake(player, 100)
    statements, rows, triggers = cost_of(lambda: write(journal))
    assert statements == 1
    assert triggers == {"wallet_refuse_other_writers": 7}
    assert rows == {
        "wallet_posting_key": 1,
        "wallet_journal": 1,
        "wallet_entry": 2,
        "wallet_account": 1,
        "wallet_day": 1,
    }


def test_a_bet_at_a_shared_table_and_closing_and_paying_it():
    live_table = a_live_table()
    players = [a_player(real=RICH) for _ in range(BETTORS)]
    for player in players:
        bet(player, live_table, player=5000)
    advance_to(live_table, Phase.BETTING)
    round_id = round_at(live_table).pk
    statements, rows, triggers = cost_of(
        lambda: add_chip(player=players[0], live_table_id=live_table.pk, round_id=round_id, bet="player", chip=5000)
    )
    assert statements == 2  # read, place: the second is a separate transaction
    assert rows == {"games_liveseat": 1, "games_livetotal": 1, "wallet_hold": 1, "wallet_account": 1}
    assert triggers == {"wallet_move_held": 1, "wallet_refuse_stopped": 1, "wallet_refuse_other_writers": 1}
    for player in players[1:]:
        bet(player, live_table, player=5000)

    round_moves = {"games_liveround": 2, "audit_event": 1, "audit_pending": 1}  # one is `step`, which makes it due
    _, rows, triggers = cost_of(lambda: step(live_table))
    sealed = {"audit_event": 2, "audit_pending": 2, "games_squeeze": 1}  # and who turns the cards of a hand with bets
    assert rows == round_moves | sealed, "closing moves no money; it seals the bets"
    assert triggers == {"games_keep_live_round": 2}
    step(live_table)
    _, rows, triggers = cost_of(lambda: step(live_table))
    # Those of the wallet are called for a statement, not for a row.
    assert triggers == {"games_keep_live_round": 2, "wallet_give_back_held": 1, "wallet_refuse_other_writers": 6}
    settled = BETTORS + 1 + 1  # a stake of each, escrow twice
    assert rows.pop("wallet_entry") - settled in {1, BETTORS + 1, BETTORS}, "winners and the house, which may be even"
    assert rows == round_moves | {
        "wallet_posting_key": 2,
        "wallet_journal": 2,
        "wallet_hold": BETTORS,
        "wallet_account": BETTORS,
        "wallet_day": BETTORS,
        "games_round": 1,
        "games_verificationdue": 1,
        "games_participation": BETTORS,
        "players_playtime": BETTORS,
    }
