"""The dealer is down or restarts: play waits with a message, and then continues."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.models import Participation, Round, SoloSeat
from games.solo import play_round
from games.verification import verification_task
from tests.api.client import ApiClient
from tests.builders import a_player, a_seat, a_table
from tests.harness.dealer import dealing
from tests.people import a_visitor, events
from wallet.ledger import accounts
from wallet.models import Mode

MONEY, STAKE = 1_000_000, 1_000
AWAY = "No cards can be dealt at the moment. No bet was placed."
AGAIN = "The seal of this round is no longer valid, so a new one was made."


@pytest.fixture
def away(settings: Settings, tmp_path: Path) -> str:
    """Nobody listens where the dealer was. Gives the socket it had."""
    before = str(settings.DEALER)
    settings.DEALER = str(tmp_path / "nobody")
    return before


@pytest.fixture
def other_epoch(settings: Settings, tmp_path: Path) -> Iterator[Dealer]:
    """A dealer with the keys of the run that has just been started."""
    with dealing(Dealer(Keys.opened(settings.VAR_DIR / "dealer"), tmp_path / "shoes"), tmp_path / "later") as dealer:
        yield dealer


def begin_again(settings: Settings, tmp_path: Path) -> None:
    settings.DEALER = str(tmp_path / "later")


@pytest.fixture
def player(db):
    return a_player(real=MONEY)


@pytest.fixture
def visitor(player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    return visitor


HTMX = {"HX-Request": "true"}
FIELD = re.compile(r'name="(round_id|slip_version|table_version)" value="([^"]*)"')


def press(visitor: Client, address: str, page: str) -> str:
    """Press DEAL on this page, and return the fragment."""
    fields = dict(FIELD.findall(page))
    answer = visitor.post(address, fields | {"action": "deal"}, headers=HTMX)
    assert answer.status_code == 200
    return answer.text


def deal(visitor: Client) -> str:
    page = visitor.get("/en/table/baccarat/real/").text
    return press(visitor, "/en/table/baccarat/real/play/", page)


class TestWhileTheDealerIsAway:
    def test_a_click_without_a_seat_leads_to_the_page_that_says_so(self, visitor, away):
        a_table()
        answer = visitor.post("/en/table/baccarat/real/play/", {"action": "bet:player", "chip": 1000}, headers=HTMX)
        assert answer["HX-Redirect"] == "/en/table/baccarat/real/"
        assert AWAY.partition(".")[0] in visitor.get(answer["HX-Redirect"]).text

    def test_a_deal_says_so_and_stakes_nothing(self, visitor, player, away, settings):
        settings.DEALER, nobody = away, settings.DEALER
        a_seat(player, a_table(), player=STAKE)
        settings.DEALER = nobody
        before = SoloSeat.objects.get()
        assert AWAY in deal(visitor)
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        assert not Round.objects.exists()
        (refused,) = events("round.refused")
        assert refused["data"]["reason"] == "DealerAway"
        settings.DEALER = away
        assert AWAY not in deal(visitor)
        assert Round.objects.get().pk == before.round_id

    def test_no_new_seat_is_taken(self, visitor, player, away, settings):
        a_table()
        answer = visitor.get("/en/table/baccarat/real/")
        assert answer.status_code == 503
        assert AWAY in answer.text
        assert not SoloSeat.objects.exists()
        settings.DEALER = away
        assert visitor.get("/en/table/baccarat/real/").status_code == 200

    @pytest.mark.parametrize(("language", "said"), [("sv", "Inga kort kan delas ut"), ("de", "keine Karten gegeben")])
    def test_it_is_said_in_the_reader_s_language(self, visitor, away, language, said):
        a_table()
        assert said in visitor.get(f"/{language}/table/baccarat/real/").text

    def test_an_api_client_is_informed_and_may_try_the_same_call_again(self, player, away, settings):
        settings.DEALER, nobody = away, settings.DEALER
        table = a_table()
        seat = a_seat(player, table)
        settings.DEALER = nobody
        body = {"round_id": str(seat.round_id), "table_version": 1, "bets": {"player": STAKE}}
        program, path = ApiClient(player.user), "tables/baccarat/real/rounds/"
        answer = program.post(path, body, key="the same")
        assert (answer.status_code, answer.json()["code"]) == (503, "dealer-away")
        settings.DEALER = away
        assert program.post(path, body, key="the same").status_code == 200

    def test_visitors_of_the_demo_wait_too(self, db, away, settings):
        a_table()
        visitor = a_visitor()
        answer = visitor.post("/en/demo/baccarat/start/", {"adult": "on", "to": "play"})
        assert AWAY in answer.text
        settings.DEALER = away
        assert "seal" in visitor.post("/en/demo/baccarat/start/", {"adult": "on", "to": "play"}, follow=True).text

    def test_it_is_not_healthy(self, away):
        with pytest.raises(CommandError, match="the dealer does not answer at"):
            call_command("healthy", "dealer")


class TestWhenTheDealerBeginsAgain:
    def test_the_next_deal_is_refused_once_and_the_seat_has_another_seal(
        self, visitor, player, other_epoch, settings, tmp_path
    ):
        seat = a_seat(player, a_table(), player=STAKE)
        begin_again(settings, tmp_path)
        said = deal(visitor)
        assert AGAIN in said
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        made_again = SoloSeat.objects.get()
        assert made_again.commitment in said
        assert (made_again.slip, made_again.commitment == seat.commitment) == ({"player": STAKE}, False)
        *_, renewed = events("seat.committed")
        assert (renewed["data"]["reason"], renewed["data"]["spent"]) == ("expired", str(seat.round_id))
        assert AGAIN not in deal(visitor)
        assert Round.objects.get().commitment == made_again.commitment
        assert [event["data"]["epoch"] for event in events("dealer.started")] == [other_epoch.epoch]
        assert verification_task.verify_finished_rounds().suspicious == ()

    def test_an_api_client_is_informed_to_read_its_seat_again(self, player, other_epoch, settings, tmp_path):
        seat = a_seat(player, a_table())
        begin_again(settings, tmp_path)
        program, at = ApiClient(player.user), "tables/baccarat/real/"
        body: dict[str, Any] = {"round_id": str(seat.round_id), "table_version": 1, "bets": {"player": STAKE}}
        answer = program.post(f"{at}rounds/", body)
        assert (answer.status_code, answer.json()["code"]) == (409, "commitment-spent")
        solo_seat = program.get(f"{at}solo-seat/").json()
        assert solo_seat["round_id"] != str(seat.round_id)
        played = program.post(f"{at}rounds/", body | {"round_id": solo_seat["round_id"]})
        assert played.json()["round"]["commitment"] == solo_seat["commitment"]

    def test_two_clicks_at_once_renew_once(self, player, other_epoch, settings, tmp_path):
        table = a_table()
        seat = a_seat(player, table, player=STAKE)
        begin_again(settings, tmp_path)
        click = {"player": player, "table_id": table.pk, "mode": Mode.REAL, "round_id": seat.round_id}
        for error in ("CommitmentSpent", "StalePage"):
            with pytest.raises(Exception) as refused:  # noqa: PT011  (compared below)
                play_round(**click, slip_version=seat.slip_version)
            assert type(refused.value).__name__ == error
        assert len(events("seat.committed")) == 2
        assert not Participation.objects.exists()

    def test_a_visitor_of_the_demo_deals_again(self, db, other_epoch, settings, tmp_path):
        a_table()
        visitor = a_visitor()
        visitor.post("/en/demo/baccarat/start/", {"adult": "on", "to": "play"})
        page = visitor.get("/en/demo/baccarat/").text
        fields = dict(FIELD.findall(page))
        chip = visitor.post("/en/demo/baccarat/play/", fields | {"action": "bet:player", "chip": "1000"}, headers=HTMX)
        begin_again(settings, tmp_path)
        fields = dict(FIELD.findall(chip.text))
        refused = visitor.post("/en/demo/baccarat/play/", fields | {"action": "deal"}, headers=HTMX).text
        assert AGAIN in refused
        fields = dict(FIELD.findall(refused))
        assert AGAIN not in visitor.post("/en/demo/baccarat/play/", fields | {"action": "deal"}, headers=HTMX).text


def test_a_dealer_at_its_socket_is_well(db, capsys, dealer):
    call_command("healthy", "dealer")
    assert capsys.readouterr().out == f"dealer: dealt {dealer.deals} rounds\n"
