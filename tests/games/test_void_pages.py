"""Messages about a voided round to players and staff."""

import html
import re

import pytest
from django.conf import settings
from django.utils.translation import ngettext, override

from games.models import Incident, Participation, Round
from games.verification import verification_task
from tests.builders import a_player, a_round, a_seat, a_table
from tests.games.corrupt import corrupt
from tests.games.test_void import a_won_round, balance, spend
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.voiding import void_unreproduced
from tests.wallet.test_at_once import at_once
from wallet.models import Mode

MONEY = 1_000_000
LANGUAGES = [code for code, _ in settings.LANGUAGES]

# Part of the message in each language, and the text of the badge.
VOIDED = {
    "sv": ("har annullerats på grund av ett tekniskt fel", "Annullerad"),
    "da": ("blev annulleret på grund af en fejl", "Annulleret"),
    "ro": ("a fost anulată din cauza unei defecțiuni", "Anulată"),
    "de": ("wurde wegen einer Fehlfunktion annulliert", "Annulliert"),
    "en": ("was voided because of a malfunction", "Void"),
}


@pytest.fixture
def player():
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def visitor(player):
    browser = a_visitor()
    browser.force_login(player.user)
    return browser


def void_round(played):
    return void_unreproduced(played.round_id)


def seen(answer) -> str:
    return html.unescape(answer.text)


@pytest.mark.django_db
@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
class TestInTheirLanguage:
    @pytest.mark.sweep
    @pytest.mark.parametrize("mode", sample(["real", "free"], 1))
    def test_the_player_is_informed_once_on_the_next_page_of_the_table(self, player, visitor, language, mode):
        played = a_round(player, a_table(), Mode[mode.upper()], player=1000)
        void_round(played)
        message, _ = VOIDED[language]
        page = seen(visitor.get(f"/{language}/table/baccarat/{mode}/"))
        assert message in page
        assert f"{Round.objects.get().code} {message}" in page
        assert message not in seen(visitor.get(f"/{language}/table/baccarat/{mode}/"))

    @pytest.mark.sweep
    def test_the_player_is_informed_by_the_next_click_as_well(self, player, visitor, language):
        table = a_table()
        void_round(a_round(player, table, player=1000))
        seat = a_seat(player, table)
        form = {
            "action": "bet:player",
            "chip": 1000,
            "round_id": seat.round_id,
            "slip_version": seat.slip_version,
            "table_version": 1,
        }
        answer = visitor.post(f"/{language}/table/baccarat/real/play/", form, headers={"HX-Request": "true"})
        assert VOIDED[language][0] in seen(answer)

    @pytest.mark.sweep
    def test_game_logs_and_the_replay_say_so(self, player, visitor, language):
        table = a_table()
        played = a_round(player, table, player=1000)
        void_round(played)
        a_round(player, table, player=1000)
        message, word = VOIDED[language]
        logs = seen(visitor.get(f"/{language}/history/"))
        assert logs.count("badge--void") == 2, "at the line of the one round, and in its picture"
        for page in (logs, seen(visitor.get(f"/{language}/history/{played.round_id}/"))):
            assert message in page
            assert "✕" in page
            assert word in page

    @pytest.mark.sweep
    def test_several_rounds_are_reported_together(self, player, visitor, language):
        table = a_table()
        rounds = [a_round(player, table, player=1000) for _ in range(3)]
        for played in rounds:
            void_round(played)
        codes = [Round.objects.get(pk=played.round_id).code for played in rounds]
        with override(language):
            message = ngettext(
                "Round %(codes)s was voided because of a malfunction. All stakes were returned and "
                "any payout was reversed.",
                "Rounds %(codes)s were voided because of a malfunction. All stakes were returned and "
                "any payouts were reversed.",
                3,
            )
        assert message % {"codes": ", ".join(codes)} in seen(visitor.get(f"/{language}/table/baccarat/real/"))


@pytest.mark.django_db
class TestTelling:
    @pytest.mark.sweep
    def test_waits_at_the_table_and_in_the_mode_of_the_round(self, player, visitor):
        void_round(a_round(player, a_table(), Mode.FREE, player=1000))
        assert VOIDED["en"][0] not in seen(visitor.get("/en/table/baccarat/real/"))
        assert VOIDED["en"][0] in seen(visitor.get("/en/table/baccarat/free/"))

    def test_is_for_its_players(self, player):
        table = a_table()
        void_round(a_round(player, table, player=1000))
        other = a_visitor()
        other.force_login(a_player(real=MONEY).user)
        assert VOIDED["en"][0] not in seen(other.get("/en/table/baccarat/real/"))

    @pytest.mark.sweep
    def test_waits_while_something_else_has_to_be_said(self, player, visitor):
        table = a_table()
        void_round(a_round(player, table, player=1000))
        stale = {"action": "deal", "round_id": a_seat(player, table).round_id, "slip_version": 99, "table_version": 1}
        answer = visitor.post("/en/table/baccarat/real/play/", stale, headers={"HX-Request": "true"})
        assert VOIDED["en"][0] not in seen(answer)
        assert VOIDED["en"][0] in seen(visitor.get("/en/table/baccarat/real/"))

    def test_leaves_no_cards_of_the_round_on_the_table(self, player, visitor):
        void_round(a_round(player, a_table(), player=1000))
        page = visitor.get("/en/table/baccarat/real/").text
        assert 'class="card ' not in page
        assert 'class="mini ' not in page


@pytest.mark.sweep
def test_of_two_tabs_one_tells(cloned_db):
    player, table = a_player(real=MONEY), a_table()
    void_round(a_round(player, table, player=1000))

    def open_page() -> bool:
        browser = a_visitor()
        browser.force_login(player.user)
        return VOIDED["en"][0] in seen(browser.get("/en/table/baccarat/real/"))

    assert sum(at_once([open_page] * 4)) == 1


@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
@pytest.mark.parametrize("what", sample(["cards that cannot be dealt", "seed of another length", "wagers removed"], 1))
def test_from_a_spoilt_row_to_the_player(cloned_db, owner, language, what):
    player, table = a_player(real=MONEY), a_table()
    played = a_round(player, table, player=1000, tie=1000)
    corrupt(owner, played.round_id, what)
    verification_task.verify_finished_rounds()
    browser = a_visitor()
    browser.force_login(player.user)
    page = seen(browser.get(f"/{language}/table/baccarat/real/"))
    assert VOIDED[language][0] in page
    assert "badge--off" in page  # the table is closed
    for address in ("history/", f"history/{played.round_id}/"):
        assert VOIDED[language][0] in seen(browser.get(f"/{language}/{address}"))


class TestTheStaffPage:
    @pytest.fixture
    def reader(self, cloned_db):
        browser = a_visitor()
        browser.force_login(a_member_of_staff("supervisor").user)
        return browser

    @pytest.mark.sweep
    def test_shows_what_was_found_and_done(self, cloned_db, owner, reader):
        player, table = a_player(real=MONEY), a_table()
        part = Participation.objects.get(round_id=a_round(player, table, player=1000, tie=1000).round_id)
        corrupt(owner, part.round_id, "commitment")
        verification_task.verify_finished_rounds()
        page = reader.get(f"/staff/incidents/{Incident.objects.get().pk}/").text
        for text in (
            "0" * 64,
            part.round.code,
            "Round voided.",
            f"player:{player.pk}",
            "Seed does not reproduce the round",
        ):
            assert text in page

    @pytest.mark.sweep
    def test_names_each_shortfall(self, cloned_db, owner, reader):
        player, table = a_player(real=MONEY), a_table()
        part = a_won_round(player, table)
        spend(player, balance(player))
        corrupt(owner, part.round_id)
        verification_task.verify_finished_rounds()
        assert ", SEK 50.00 covered by the house" in reader.get(f"/staff/incidents/{Incident.objects.get().pk}/").text

    @pytest.mark.sweep
    def test_is_newest_first_and_paged_without_gaps(self, cloned_db, owner, reader, monkeypatch):
        monkeypatch.setattr("backoffice.incidents.Incidents.size", 2)
        player, table = a_player(real=MONEY), a_table()
        for _ in range(5):
            corrupt(owner, a_round(player, table, player=1000).round_id)
        verification_task.verify_finished_rounds()
        seen_ids, address = [], "/staff/incidents/"
        while address:
            answer = reader.get(address)
            seen_ids += [row.pk for row in answer.context["page"].rows]
            older = answer.context["page"].older
            address = f"/staff/incidents/?before={older}" if older else ""
        assert seen_ids == list(Incident.objects.order_by("-pk").values_list("pk", flat=True))
        assert len(seen_ids) == 5
        assert ">Newest</a>" not in reader.get("/staff/incidents/").text
        assert ">Newest</a>" in reader.get(f"/staff/incidents/?before={seen_ids[0]}").text

    @pytest.mark.sweep
    @pytest.mark.parametrize("query", sample(["", "?before=x", "?before=-1", "?before=99999999999999999999"], 1))
    def test_is_a_page_where_nothing_happened(self, reader, query):
        assert re.search("No incidents (yet|match)", reader.get(f"/staff/incidents/{query}").text)
