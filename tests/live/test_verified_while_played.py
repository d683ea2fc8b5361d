"""The hourly ledger verification during play: bets on the tables are no error."""

import pytest

from games.models import Phase
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet
from wallet.invariants import verify

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("phase", sample([Phase.BETTING, Phase.CLOSED, Phase.DEALT, Phase.SETTLED], 2))
def test_a_shared_round_in_progress_is_no_fault_of_the_ledger(phase):
    live_table = a_live_table()
    advance_to(live_table, Phase.BETTING)
    bet(a_player(real=100_000), live_table, player=5_000)
    advance_to(live_table, phase)
    assert [row for check in verify.run() for row in check.rows] == []
