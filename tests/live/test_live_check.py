"""The reality check at a shared table."""

import psycopg

from tests.builders import a_player
from tests.live.at_table import a_live_table, round_at
from tests.people import a_visitor
from wallet.models import Account, AccountKind, Mode

TABLE = "/en/table/live/real/"


def test_a_reality_check_refuses_the_bet_and_is_answered_at_the_table(owner: psycopg.Connection):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    visitor = a_visitor()
    visitor.force_login(player.user)
    visitor.get(TABLE)
    sent = {"action": "bet:player", "round_id": round_at(live_table).pk, "table_version": 1, "chip": 25_000}
    account = Account.objects.filter(owner=player, kind=AccountKind.CASH, mode=Mode.REAL)

    owner.execute("UPDATE players_playsession SET began = began - interval '65 minutes'")
    refused = visitor.post(f"{TABLE}bet/", sent, headers={"HX-Request": "true"}).text
    assert "Check your time and money first" in refused
    assert '<div id="check-slot" hx-swap-oob="true"><dialog' in refused.replace("\n", "")
    assert account.get().held == 0
    assert 'id="check"' in visitor.get(TABLE).text

    visitor.post("/en/protection/check/", {"table": "live", "mode": "R", "answer": "continue"})
    assert 'id="check"' not in visitor.post(f"{TABLE}bet/", sent, headers={"HX-Request": "true"}).text
    assert account.get().held == 25_000
