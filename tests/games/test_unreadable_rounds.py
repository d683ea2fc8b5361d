"""A damaged round that cannot be shown: the player's pages say that it is being examined."""

from html import unescape
from typing import Any

import pytest
from django.test import Client

from casino.celery import app
from games.models import Incident, Participation, Round, SoloSeat, VerificationDue, Void
from games.verification import verification_task
from tests.builders import a_player, a_round, a_seat, a_table
from tests.games.corrupt import corrupt
from tests.harness.sweeps import sample
from tests.people import events
from wallet.ledger import accounts
from wallet.models import Mode

MONEY = 1_000_000
SENTENCE = "Round {code} is under review: its stored data is not consistent."
SPOILT = ("cards that cannot be dealt", "outcome", "bet that there is not")


@pytest.fixture
def player(cloned_db):
    return a_player(real=MONEY)


@pytest.fixture
def table(cloned_db):
    return a_table()


@pytest.fixture
def visitor(player):
    client = Client()
    client.force_login(player.user)
    return client


@pytest.fixture(params=sample(SPOILT, 1))
def spoilt(request, player, table, owner) -> Round:
    """The player's last round, verified before it was damaged."""
    played = a_round(player, table, player=1000, tie=1000)
    assert not verification_task.verify_finished_rounds().suspicious
    corrupt(owner, played.round_id, request.param)
    return Round.objects.get(pk=played.round_id)


def message(spoilt: Round) -> str:
    return SENTENCE.format(code=spoilt.code)


def seen(answer) -> str:
    assert answer.status_code == 200
    return " ".join(unescape(answer.text).split())


def messages() -> int:
    """Return the number of messages that wait for a worker."""
    with app.connection_for_read() as broker:
        channel: Any = broker.default_channel
        return channel.client.llen(app.conf.task_default_queue)


def test_the_table_says_so_and_is_played_on(visitor, player, table, spoilt):
    assert message(spoilt) in seen(visitor.get("/en/table/baccarat/real/"))
    seat = a_seat(player, table)
    form = {"action": "rebet_deal", "round_id": seat.round_id, "slip_version": seat.slip_version, "table_version": 1}
    answer = visitor.post("/en/table/baccarat/real/play/", form, headers={"HX-Request": "true"})
    newest = Participation.objects.latest("pk")
    assert newest.round_id == seat.round_id
    assert newest.round.code in seen(answer)
    assert message(spoilt) not in seen(answer)


@pytest.mark.sweep
def test_game_logs_show_it_among_the_others_without_its_cards_and_bets(visitor, player, table, spoilt):
    good = Round.objects.get(pk=a_round(player, table, tie=1000).round_id)
    page = seen(visitor.get("/en/history/"))
    assert message(spoilt) in page
    assert good.code in page
    assert page.count("Under review") == 1
    assert page.count('class="lines__') == 1


@pytest.mark.sweep
def test_its_replay_says_so_and_deals_nothing(visitor, spoilt):
    page = seen(visitor.get(f"/en/history/{spoilt.pk}/"))
    assert message(spoilt) in page
    assert 'id="again"' not in page
    assert "This round has been played and paid" not in page


@pytest.mark.sweep
def test_the_file_names_it_and_goes_on_to_the_next(visitor, player, table, spoilt):
    good = Round.objects.get(pk=a_round(player, table, tie=1000).round_id)
    lines = b"".join(visitor.get("/en/history/rounds.csv")).decode().splitlines()
    (about,) = [line for line in lines if spoilt.code in line]
    assert ",,,under review,," in about
    assert any(good.code in line for line in lines)


@pytest.mark.sweep
def test_the_lobby_shows_it_instead_of_its_result(visitor, player, spoilt):
    SoloSeat.objects.filter(player=player).update(unseen=spoilt.pk)
    assert message(spoilt) in seen(visitor.get("/en/"))


@pytest.mark.parametrize(
    "address", sample(["/en/table/baccarat/real/", "/en/history/", "/en/history/{}/", "/en/history/rounds.csv"], 2)
)
def test_whatever_shows_it_first_puts_it_on_record_and_has_it_dealt_again_at_once(visitor, spoilt, address):
    assert not VerificationDue.objects.exists()
    before = messages()
    for _ in range(2):
        b"".join(visitor.get(address.format(spoilt.pk)))
    assert messages() > before, "the check is asked for"
    assert list(VerificationDue.objects.values_list("pk", flat=True)) == [spoilt.pk]
    assert len(events("round.unreadable", on=f"round:{spoilt.pk}")) == 1


@pytest.mark.sweep
def test_its_outcome_is_shown_at_the_table(visitor, player, spoilt):
    visitor.get("/en/history/")
    assert verification_task.verify_finished_rounds().suspicious == (spoilt.pk,)
    assert Void.objects.get().pk == spoilt.pk
    assert accounts.balance(player.pk, Mode.REAL) == MONEY
    page = seen(visitor.get("/en/table/baccarat/real/"))
    assert f"Round {spoilt.code} was voided" in page
    assert message(spoilt) not in page


@pytest.mark.sweep
def test_a_round_with_an_incident_is_not_examined_again(visitor, player, table, owner, spoilt):
    visitor.get("/en/history/")
    verification_task.verify_finished_rounds()
    owner.execute("DELETE FROM games_voidpart")
    owner.execute("ALTER TABLE games_void DISABLE TRIGGER games_void_is_kept")
    owner.execute("DELETE FROM games_void")
    assert message(spoilt) in seen(visitor.get("/en/history/"))
    assert Incident.objects.count() == 1
    assert not VerificationDue.objects.exists()


@pytest.mark.sweep
def test_rounds_that_can_be_shown_are_not_dealt_again_for_a_reader(visitor, player, table):
    played = a_round(player, table, player=1000)
    verification_task.verify_finished_rounds()
    for page in ("/en/table/baccarat/real/", "/en/history/", f"/en/history/{played.round_id}/"):
        assert "under review" not in seen(visitor.get(page))
    assert not VerificationDue.objects.exists()
