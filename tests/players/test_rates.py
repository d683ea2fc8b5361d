"""Rate limit of a player: faster clicks are refused before anything is written."""

from datetime import UTC, datetime

import pytest
import time_machine
from django.test import Client

from audit.models import Event
from games.models import SoloSeat
from tests.builders import a_player, a_table
from wallet.ledger import accounts
from wallet.models import Mode

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PLAY = "/en/table/baccarat/real/play/"


@pytest.fixture
def someone(db, settings):
    settings.FORMS_PER_SECOND = 2
    a_table()

    def sit_down() -> tuple[Client, SoloSeat]:
        player = a_player(real=100_000)
        client = Client()
        client.force_login(player.user)
        client.get("/en/table/baccarat/real/")
        return client, SoloSeat.objects.get(player=player)

    return sit_down


def deal(client: Client, seat: SoloSeat) -> int:
    form = {"action": "deal", "round_id": seat.round_id, "slip_version": 0, "table_version": 1}
    return client.post(PLAY, form, headers={"HX-Request": "true"}).status_code


def test_more_forms_than_hands_can_send_are_refused_and_leave_no_trace(someone):
    client, seat = someone()
    with time_machine.travel(NOW, tick=False):
        answers = [deal(client, seat) for _ in range(7)]
    assert answers == [200] * 4 + [429] * 3
    assert Event.objects.filter(kind="round.refused").count() == 4
    assert accounts.balance(seat.player_id, Mode.REAL) == 100_000


@pytest.mark.sweep
def test_a_moment_later_play_goes_on(someone):
    client, seat = someone()
    with time_machine.travel(NOW, tick=False) as clock:
        while deal(client, seat) != 429:
            pass
        clock.shift(2)
        assert deal(client, seat) == 200


@pytest.mark.sweep
def test_one_players_haste_slows_nobody_else(someone):
    (hasty, one), (calm, two) = someone(), someone()
    with time_machine.travel(NOW, tick=False):
        while deal(hasty, one) != 429:
            pass
        assert deal(calm, two) == 200


@pytest.mark.sweep
def test_the_cashier_keeps_the_same_pace(someone):
    client, _place = someone()
    with time_machine.travel(NOW, tick=False):
        answers = [client.post("/en/cashier/deposit/", {"amount": "x"}).status_code for _ in range(5)]
    assert answers[-1] == 429


@pytest.mark.sweep
def test_a_caller_who_pretends_to_be_the_bank_is_slowed_too(cloned_db, settings):
    """Refusals are recorded, and nobody may fill the log at will."""
    settings.FORMS_PER_SECOND = 2
    with time_machine.travel(NOW, tick=False) as clock:
        for address in ("/pay/payouts/", "/pay/callback/sandbox/"):
            clock.shift(10)
            answers = [Client().post(address, b"{}", content_type="application/json").status_code for _ in range(5)]
            assert answers == [400] * 4 + [429], address


@pytest.mark.sweep
def test_a_demo_house_without_a_cache_counts_nothing_and_plays_on(someone, settings):
    client, seat = someone()
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    with time_machine.travel(NOW, tick=False):
        assert {deal(client, seat) for _ in range(7)} == {200}
