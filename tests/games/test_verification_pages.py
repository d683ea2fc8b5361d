"""The verification page: differences come first, nothing is shown too early, complaints link to it."""

import html
import re
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from games.engine.chemin import Phase as Stage
from games.incidents import open_incident
from games.models import (
    Incident,
    IncidentKind,
    LiveRound,
    LiveTable,
    Participation,
    Phase,
    Round,
    ShoeEnding,
)
from games.shared import malfunction, shoes
from games.solo import play_round
from games.variants import GAMES
from games.verification.service import verify_round
from players.models import Topic
from players.support import conversations
from tests.builders import a_player, a_round, a_seat, a_table
from tests.chemin.at_table import (
    a_bank,
    a_chemin_table,
    a_dealt_coup,
    a_staked_coup,
    let_pass,
    play_out,
    seated_players,
    state_of,
    table_state_of,
)
from tests.games.corrupt import corrupt
from tests.games.test_round_search import reader
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.people import events
from tests.voiding import cancel, void_unreproduced
from wallet.models import Mode
from wallet.money import format_money

MONEY = 10_000_000


def said(amount: int) -> str:
    return format_money(amount, "SEK", "en")


def page(round_id, role: str = "compliance") -> str:
    answer = reader(role).get(f"/staff/rounds/{round_id}/")
    assert answer.status_code == 200
    return html.unescape(answer.text)


@pytest.fixture
def played(db) -> Round:
    return Round.objects.get(pk=a_round(a_player(real=MONEY), a_table(), player=1000, tie=5000).round_id)


class TestASoloRound:
    @pytest.mark.sweep
    def test_gli19_4_14_is_labelled_a_replay_and_said_to_differ_in_nothing(self, played):
        text = page(played.pk)
        for said in (
            "Replay",
            "Recomputed: no differences.",
            "Replay of the deal",
            played.commitment,
            played.seed.hex(),
        ):
            assert said in text
        assert "differs" not in text.replace("no differences", "")
        assert played.table_version.rules_digest in text

    def test_gli19_2_8_2_has_every_field_and_who_played_it(self, db):
        player, table, session = a_player(real=MONEY), a_table(), uuid4()
        seat = a_seat(player, table, player=1000, banker=5000)
        play_round(
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=seat.round_id,
            slip_version=seat.slip_version,
            session=session,
        )
        part = Participation.objects.select_related("round__table_version").get()
        kept, text = part.round, page(part.round_id)
        fields = {
            "time": f"{kept.at:%Y-%m-%d %H:%M:%S}",
            "outcome as cards": kept.cards,
            "funds at start": said(part.balance_before),
            "funds at end": said(part.balance_after),
            "staked": said(part.staked),
            "won": said(part.paid),
            "commission": said(part.commission),
            "status": "complete",
            "round id": str(kept.pk),
            "session id": str(session),
            "rules id": kept.table_version.rules_digest,
            "version id": f"version {kept.table_version.number} (rules {kept.table_version.rules_version})",
            "player id": f"player:{player.pk}",
        } | {f"choice {wager.bet}": said(wager.stake) for wager in part.wagers.all()}
        assert len(fields) == 15
        assert [name for name, value in fields.items() if value not in text] == []
        heads = ("total staked", "total paid back", "total commission", "balance before", "balance after")
        assert [head for head in heads if head not in text] == []

    @pytest.mark.sweep
    def test_is_shown_card_by_card_in_dealing_order(self, played):
        found = verify_round(played.pk)
        assert found
        cards = [step.text.split(": ")[1] for step in found.deal.steps if step.due <= 6]
        view = found.deal.view
        assert view
        spoken = [card.rank + card.symbol for hand in (view.player, view.banker) for card in hand.cards]
        assert sorted(cards) == sorted(spoken)
        assert [step.due for step in found.deal.steps] == [*range(1, len(cards) + 1), 7, 8]
        assert all(step.text in page(played.pk) for step in found.deal.steps)

    @pytest.mark.sweep
    def test_leads_to_its_journals_its_events_with_their_leaves_and_its_player(self, played):
        text = page(played.pk)
        part = played.participation_set.get()
        assert f'href="/staff/players/{part.player_id}/"' in text
        assert f"/staff/ledger/?round={played.pk}" in text
        assert "not sealed yet" in text
        for said in ("settle", "stake", "round.settled"):
            assert said in text

    @pytest.mark.sweep
    def test_gli19_2_8_2_that_is_void_says_so_and_what_was_returned(self, played):
        void_unreproduced(played.pk)
        kind, table_id = IncidentKind.NOT_REPRODUCED, played.table_version.table_id
        open_incident(kind=kind, table_id=table_id, round_id=played.pk, found=[], done=[], by="system")
        text = page(played.pk)
        for said in (
            "void since",
            "By the void",
            "Recomputed: no differences.",
            "Seed does not reproduce the round",
        ):
            assert said in text

    @pytest.mark.sweep
    def test_whose_rules_the_api_client_does_not_know_is_shown_as_stored_alone(self, played, monkeypatch):
        other = {slug: game for slug, game in GAMES.items() if slug != "baccarat"}
        monkeypatch.setattr("games.verification.records.GAMES", other)
        text = page(played.pk)
        assert "The rules of the round are not installed." in text
        assert "Replay of the deal" not in text
        assert "no differences" not in text
        assert "not recomputed" in text

    @pytest.mark.sweep
    def test_that_there_is_not_is_no_page(self, db):
        assert reader().get("/staff/rounds/5f3a1c9e-0000-4000-8000-00000000002a/").status_code == 404


class TestALook:
    def test_is_one_event_that_names_each_player(self, played):
        page(played.pk)
        (seen,) = events("data.accessed")
        assert seen["data"]["what"] == "verification of a round"
        assert seen["data"]["players"] == [f"player:{played.participation_set.get().player_id}"]

    @pytest.mark.sweep
    def test_of_operators_leads_to_no_player_s_page(self, played):
        assert "/staff/players/" not in page(played.pk, "operator")


@pytest.fixture
def shared(db) -> LiveTable:
    live_table = a_live_table("pairs")
    player = a_player(real=MONEY)
    for _ in range(2):
        bet(player, live_table, player=5_000)
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
    bet(player, live_table, banker=5_000)
    return live_table


class TestASharedRound:
    def test_is_shown_with_what_came_before_it_in_the_shoe_and_without_its_seed(self, shared):
        first, second = Round.objects.order_by("at")
        text = page(second.pk)
        assert "Earlier rounds of the shoe" in text
        assert first.code in text
        assert first.cards in text
        assert "in play, seed sealed" in text
        assert "Seed</th>" not in text
        assert "Recomputed: no differences." in text

    @pytest.mark.parametrize("phase", sample([None, Phase.CLOSED, Phase.DEALT], 1))
    def test_gli19_2_8_2_in_progress_shows_its_stakes_and_no_card(self, shared, phase):
        live = advance_to(shared, phase) if phase else round_at(shared)
        text = page(live.pk)
        assert "The round is in progress." in text
        assert "SEK\u00a050.00" in text
        assert ("held" in text) is (phase is None)
        main = text.partition("<main")[2]
        assert not [card for card in live.cards.split() if re.search(rf"\b{card}\b", main)]

    @pytest.mark.sweep
    def test_gli19_2_8_2_interrupted_says_so_until_it_is_ruled_on(self, shared):
        live = advance_to(shared, Phase.DEALT)
        assert "interrupted" not in page(live.pk)
        malfunction.report(round_id=live.pk, cause="The shoe fell over.", by="staff:1")
        assert "interrupted" in page(live.pk)
        browser = reader()
        assert live.code in browser.get("/staff/rounds/", {"status": "interrupted"}).text
        incident = Incident.objects.get()
        malfunction.let_stand(incident_id=incident.pk, reason="It stood again.", by="staff:2")
        advance_to(shared, Phase.SETTLED)
        assert "interrupted" not in page(live.pk)

    @pytest.mark.sweep
    def test_voided_before_its_deal_shows_what_was_held_and_no_card(self, shared):
        live = round_at(shared)
        cancel(round_id=live.pk, by="staff:1")
        text = page(live.pk)
        for said in ("The round was voided before the deal.", "cancelled before the deal"):
            assert said in text
        assert "Replay of the deal" not in text

    @pytest.mark.sweep
    def test_voided_before_its_deal_says_on_every_staff_page_that_stakes_were_returned(self, shared):
        live = round_at(shared)
        cancel(round_id=live.pk, by="staff:1")
        part = Participation.objects.get(round=live.pk)
        stake = format_money(part.staked, part.currency, "en")
        text = page(live.pk)
        for said in (f'By the void</dt><dd class="num">{stake} returned</dd>', "total returned", "No journal: "):
            assert said in text
        for wrong in ("total paid back", f">{format_money(0, part.currency, 'en')} returned", ">None<", ">R<"):
            assert wrong not in text
        assert f'data-label="paid back">{stake} returned' in text
        cell = rf'data-label="Paid back"[^>]*><span class="paid-back">{stake} returned'
        browser = reader("support")
        assert re.search(cell, browser.get("/staff/rounds/", {"player": part.player_id}).text)
        assert re.search(cell, browser.get(f"/staff/players/{part.player_id}/").text)

    @pytest.mark.sweep
    def test_from_a_shoe_that_has_ended_shows_its_public_seed(self, shared):
        played = Round.objects.earliest("at")
        cancel(round_id=round_at(shared).pk, by="staff:1")
        assert played.shoe
        with transaction.atomic():
            shoes.end(played.shoe, ShoeEnding.RETIRED)
        played.shoe.refresh_from_db()
        text = page(played.pk)
        assert bytes(played.shoe.seed or b"").hex() in text
        assert "Recomputed: no differences." in text

    @pytest.mark.sweep
    def test_costs_as_many_queries_however_many_have_played_it(self, shared, django_assert_num_queries):
        first = Round.objects.latest("at")
        advance_to(shared, Phase.SETTLED)
        step(shared)
        for _ in range(4):
            bet(a_player(real=MONEY), shared, banker=5_000)
        full = advance_to(shared, Phase.SETTLED).pk
        with CaptureQueriesContext(connection) as one:
            verify_round(first.pk)
        with django_assert_num_queries(len(one)):
            found = verify_round(full)
        assert found
        assert len(found.players) == 4

    @pytest.mark.sweep
    def test_in_progress_is_found_by_its_code(self, shared):
        live = round_at(shared)
        answer = reader().get("/staff/rounds/", {"round": live.code})
        assert answer["Location"] == f"/staff/rounds/{live.pk}/"


class TestACoup:
    @pytest.mark.sweep
    def test_on_which_nobody_staked_says_so(self, db):
        """Nothing else is stored of such a round."""
        live_table = a_chemin_table()
        seated_players(live_table, 3)
        a_bank(live_table)
        while state_of(live_table).phase in (Stage.CALLS, Stage.STAKES):
            let_pass(live_table)
        live = LiveRound.objects.get(phase=Phase.VOID)
        text = page(live.pk)
        for said in ("The round ended without bets.", live.code, ">over<"):
            assert said in text
        assert "Bets" not in text
        found = reader().get("/staff/rounds/", {"round": str(live.pk)})
        assert found.url == f"/staff/rounds/{live.pk}/"

    @pytest.mark.sweep
    def test_gli19_2_8_2_tells_who_decided_what_when_and_who_decided_for_them(self, db):
        live_table = a_chemin_table()
        seated_players(live_table, 2)
        a_dealt_coup(live_table)
        play_out(live_table)
        coup = Round.objects.get()
        text = page(coup.pk)
        for said in ("Between players", "Recomputed: no differences.", "deal cards", "the player", "seat 1, player:"):
            assert said in text

    def test_in_progress_shows_no_card(self, db):
        live_table = a_chemin_table()
        seated_players(live_table, 2)
        a_staked_coup(live_table)
        current = table_state_of(live_table)
        assert current.live_round
        text = page(current.live_round.pk)
        assert "The round is in progress." in text
        assert "in the bank" in text


def test_a_round_that_claims_cards_nobody_has_seen_shows_none_of_them(cloned_db, owner):
    live_table = a_live_table("pairs")
    bet(a_player(real=MONEY), live_table, player=5_000)
    played = advance_to(live_table, Phase.SETTLED)
    owner.execute("ALTER TABLE audit_event DISABLE TRIGGER USER")
    owner.execute("DELETE FROM audit_pending")
    owner.execute("DELETE FROM audit_event WHERE kind = 'round.settled'")
    owner.execute("UPDATE games_round SET first_card = 100 WHERE id = %s", [played.pk])
    found = verify_round(played.pk)
    assert found
    assert "fewer have been dealt" in found.deal.obstacle
    assert found.deal.view is None
    assert found.deal.steps == ()


def test_altered_values_are_in_red_with_the_original(cloned_db, owner):
    played = Round.objects.get(pk=a_round(a_player(real=MONEY), a_table(), player=1000).round_id)
    corrupt(owner, played.pk, "cards")
    corrupt(owner, played.pk, "balance")
    text = page(played.pk)
    assert "Recomputed: 2 values differ" in text
    assert "stored <b>9H 4D KS 2C</b>, recomputed" in text
    assert played.cards in text
    assert text.count('class="differs"') == 2


class TestAComplaint:
    @pytest.mark.sweep
    def test_leads_to_the_round_it_is_about_and_back(self, played):
        player = played.participation_set.get().player
        about = conversations.RoundNamed(played.pk, played.code)
        said = conversations.begin(player=player, topic=Topic.COMPLAINT, text="I won this.", about=about)
        desk = reader("support")
        assert f'href="/staff/rounds/{played.pk}/"' in desk.get(f"/staff/service/{said.pk}/", follow=True).text
        assert f'href="/staff/service/{said.pk}/"' in desk.get(f"/staff/rounds/{played.pk}/").text

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "way", sample([str, str.lower, lambda code: code.replace("-", ""), lambda code: code.replace("-", " ")], 1)
    )
    def test_that_names_codes_in_its_text_leads_to_each(self, played, way):
        player = played.participation_set.get().player
        named = way(played.code)
        text = f"What about {named}, and <b>0000-0000-0000</b> from that same room?"
        said = conversations.begin(player=player, topic=Topic.COMPLAINT, text=text)
        answer = reader("support").get(f"/staff/service/{said.pk}/", follow=True).text
        assert f'<a class="link" href="/staff/rounds/{played.pk}/">{named}</a>' in answer
        assert "&lt;b&gt;0000-0000-0000&lt;/b&gt;" in answer
