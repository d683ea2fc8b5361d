"""Every game at every possible shape of table: its page opens, and a round is dealt."""

from uuid import uuid4

import pytest

from backoffice.tables.change_request_views import from_nothing
from games import solo
from games.engine.bets import Control
from games.models import Phase, Round, Shape
from games.shared import phases
from games.tables.default_tables import PACE
from games.tables.status import open_table
from games.tables.versions import make_table
from games.variants import VARIANTS
from tests.builders import a_player, a_seat
from tests.harness.sweeps import sample
from tests.live.at_table import advance_to, bet, live_table_of
from tests.people import a_visitor
from wallet.ledger import purse
from wallet.models import Mode

pytestmark = pytest.mark.django_db
OFFERED = [key for key, _ in from_nothing() if key[0] in VARIANTS]


def limits_of(variant: str, shape: str):
    entry = {"step": 1000, "chips": [1000], "bets": {bet.code: [1000, 10_000] for bet in VARIANTS[variant].bets}}
    return {"SEK": entry | ({"liability": 100_000_000} if shape == Shape.SHARED else {})}


@pytest.mark.parametrize(("variant", "shape"), sample(OFFERED, 2), ids=map(":".join, OFFERED))
def test_it_is_played(variant, shape):
    shared = shape == Shape.SHARED
    table = make_table(
        slug="t",
        name="T",
        variant=variant,
        shape=Shape(shape),
        limits=limits_of(variant, shape),
        clock=PACE if shared else None,
        by="staff:1",
    )
    open_table(table_id=table.pk, reason="for a test", by="staff:1")
    player, visitor = a_player(real=1_000_000), a_visitor()
    visitor.force_login(player.user)
    assert visitor.get("/en/table/t/real/").status_code == 200
    if Control.REBUY in VARIANTS[variant].controls:
        changed = visitor.post("/en/table/t/real/re-buy/", {"amount": "1000", "key": uuid4()}, follow=True)
        assert "SEK 1,000.00 was transferred to the game." in changed.text
        assert purse.balance(player, Mode.REAL) == 100_000
    if shared:
        live_table = live_table_of(table)
        assert phases.advance(live_table.pk)
        bet(player, live_table, player=1000)
        advance_to(live_table, Phase.SETTLED)
    else:
        seat = a_seat(player, table, player=1000)
        solo.play_round(
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=seat.round_id,
            slip_version=seat.slip_version,
        )
    assert Round.objects.count() == 1
    page = visitor.get("/en/table/t/real/")
    assert page.status_code == 200
    if Control.REBUY in VARIANTS[variant].controls:
        assert 'popovertarget="rebuy"' in page.text
        forms = page.context["purse"] if shared else page.context["game"].purse
        visitor.post("/en/table/t/real/leave/", {"key": forms.leave_key})
        assert purse.balance(player, Mode.REAL) == 0
