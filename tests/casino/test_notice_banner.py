"""The banner on every page: current notices and the house stop."""

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils.html import escape

from players.protection import exclusions
from players.staff import notices
from players.staff.notices import LANGUAGES, WHEN, notice_text, span
from tests.builders import a_player, a_seat, a_table
from tests.chemin.at_table import a_chemin_table
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import a_live_table
from tests.notices import HOUR, a_notice
from tests.people import a_member_of_staff, a_visitor
from wallet import house_stop

pytestmark = pytest.mark.django_db

MONEY = 100_00
ZONES = {"SE": "Europe/Stockholm", "DK": "Europe/Copenhagen", "RO": "Europe/Bucharest", "GB": "Europe/London"}


def logged_in(user) -> Client:
    visitor = a_visitor()
    visitor.force_login(user)
    return visitor


def read(visitor: Client, address: str) -> str:
    return visitor.get(address).content.decode()


def stop() -> None:
    house_stop.stop_house(reason="A fire in the cellar.", by=a_member_of_staff("supervisor"))


class TestANotice:
    @pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
    def test_a_visitor_reads_it_in_the_language_of_the_page_and_in_utc(self, language):
        notice = a_notice()
        for address in (f"/{language}/", f"/{language}/account/login/", f"/{language}/nowhere/"):
            assert escape(notice_text(notice, language, "UTC")) in read(a_visitor(), address)

    @pytest.mark.sweep
    @pytest.mark.parametrize(("jurisdiction", "zone"), sample(ZONES.items(), 1))
    def test_a_player_reads_the_times_as_their_clocks_show_them(self, jurisdiction, zone):
        notice, player = a_notice(), a_player(jurisdiction, real=MONEY)
        a_table()
        reader = logged_in(player.user)
        for address in ("/en/", "/en/account/", "/en/table/baccarat/real/"):
            assert span(notice, "en", zone) in read(reader, address)

    @pytest.mark.sweep
    def test_staff_read_it_in_the_back_office(self):
        notice = a_notice()
        desk = logged_in(a_member_of_staff("support").user)
        for address in ("/staff/", "/staff/lists/"):
            assert span(notice, "en", "UTC") in read(desk, address)

    def test_it_is_shown_between_its_times_alone(self):
        now = exclusions.now()
        a_notice(4 * HOUR, shown_from=now + HOUR, shown_until=now + 2 * HOUR)
        assert 'data-key=""' in read(a_visitor(), "/en/")

    def test_it_is_gone_with_the_next_page_once_it_is_withdrawn(self):
        notice, visitor = a_notice(), a_visitor()
        assert f'data-key="notice-{notice.pk}"' in read(visitor, "/en/")
        notices.withdraw(notice_id=notice.pk, reason="postponed", by=a_member_of_staff("operator"))
        assert 'data-key=""' in read(visitor, "/en/")

    def test_its_words_are_no_markup(self):
        a_notice(texts=dict.fromkeys(LANGUAGES, f"<b>Closed</b> & {WHEN}"))
        page = read(a_visitor(), "/en/")
        assert "&lt;b&gt;Closed&lt;/b&gt; &amp; " in page

    def test_two_for_different_times_are_both_shown_the_earlier_first(self):
        later, earlier = a_notice(6 * HOUR), a_notice(2 * HOUR)
        assert f'data-key="notice-{earlier.pk} notice-{later.pk}"' in read(a_visitor(), "/en/")

    @pytest.mark.sweep
    def test_a_page_that_asks_by_itself_is_answered_with_it(self):
        notice, player = a_notice(), a_player(real=MONEY)
        a_live_table(slug="live"), a_chemin_table(slug="guests")
        reader = logged_in(player.user)
        for address in ("/en/table/live/real/now/", "/en/table/guests/real/chemin/now/", "/en/lobby/now/"):
            answer = reader.get(address)
            assert answer.status_code == 200
            assert f'data-key="notice-{notice.pk}"' in answer.content.decode()
        assert f'data-key="notice-{notice.pk}"' in read(a_visitor(), "/en/lobby/now/")

    def test_a_click_at_a_solo_table_is_answered_with_it(self):
        table, player = a_table(), a_player(real=MONEY)
        seat = a_seat(player, table)
        notice = a_notice()
        clicked = {"action": "bet:tie", "chip": "1000", "round_id": str(seat.round_id)}
        answer = logged_in(player.user).post("/en/table/baccarat/real/play/", clicked, headers={"HX-Request": "true"})
        assert f'data-key="notice-{notice.pk}"' in answer.content.decode()

    def test_a_page_that_needs_no_database_is_shown_without(self, monkeypatch):
        def lost(*_: object, **__: object) -> None:
            raise OperationalError

        visitor = a_visitor()
        with connection.execute_wrapper(lost):
            answer = visitor.get("/en/nowhere/")
        assert answer.status_code == 404
        assert 'id="banner"' not in answer.content.decode()


class TestTheStop:
    @pytest.mark.parametrize(
        ("language", "said"),
        [
            ("en", "Play is stopped"),
            ("sv", "Spelet är stoppat"),
            ("da", "Spillet er stoppet"),
            ("ro", "Jocul este oprit"),
            ("de", "Das Spiel ist unterbrochen"),
        ],
    )
    def test_everybody_reads_it_in_their_language_and_nobody_why(self, language, said):
        stop()
        page = read(a_visitor(), f"/{language}/")
        assert said in page
        assert "cellar" not in page

    def test_it_comes_before_notices_and_ends_when_the_house_goes_on(self):
        notice, visitor = a_notice(), a_visitor()
        stop()
        state_now = house_stop.current()
        assert state_now
        assert f'data-key="stop-{state_now.pk} notice-{notice.pk}"' in read(visitor, "/en/")
        house_stop.resume_house(reason="It is out.", by=a_member_of_staff("supervisor"))
        assert f'data-key="notice-{notice.pk}"' in read(visitor, "/en/")
