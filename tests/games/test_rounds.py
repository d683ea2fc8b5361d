"""The seat that a round returns equals the stored one."""

import pytest
from django.forms.models import model_to_dict

from games import solo
from games.betting.rules import Deal
from games.models import SoloSeat
from tests.builders import a_player, a_seat, a_table
from wallet.models import Mode

MONEY = 1_000_000
STAKES = {"player": 1000}


@pytest.mark.django_db
@pytest.mark.parametrize("how", [Deal.AS_PLACED, Deal.DOUBLED], ids=lambda how: how.value)
def test_the_seat_that_deal_answers_with_is_the_stored_one(how):
    player, table = a_player(real=MONEY), a_table()
    seat = a_seat(player, table, **STAKES)
    deal_it = {"player": player, "table_id": table.pk, "mode": Mode.REAL, "round_id": seat.round_id, "how": how}
    for repeated in (False, True):
        played = solo.play_round(**deal_it, slip_version=seat.slip_version)
        assert played.repeated is repeated
        shown, stored = model_to_dict(played.seat), model_to_dict(SoloSeat.objects.get(pk=seat.pk))
        assert bytes(shown.pop("sealed_seed", b"")) == bytes(stored.pop("sealed_seed", b""))
        assert shown.pop("used_at") <= stored.pop("used_at")  # the database's clock
        assert shown == stored
        assert played.seat.last_round == played.seat.unseen == seat.round_id
