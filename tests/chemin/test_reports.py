"""Players report other players at their table, also earlier ones, a few times an hour."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from games.chemin import play, tick
from games.chemin.collusion.player_reports import (
    LONGEST,
    MOST,
    Decided,
    NobodyThere,
    NotAtTheTable,
    TooManyReports,
    decide,
    others_lately,
    report,
)
from games.models import CheminSeat, LiveTable, PlayFinding, PlayReason, PlayReport
from players.models import Player
from tests.builders import a_player
from tests.chemin.at_table import (
    a_chemin_table,
    a_practice_table,
    a_seat_as_owner,
    a_seated_player,
    seated_players,
    sit,
)
from tests.games.test_table_eligibility import serve
from tests.harness.sweeps import sweep_languages
from tests.live.at_table import a_live_table
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db


@pytest.fixture
def live_table() -> LiveTable:
    return a_chemin_table()


def reported(player: Player, live_table: LiveTable, seat_number: int = 2, text: str = "Look.") -> PlayReport:
    return by_seat(player, live_table, seat_at(live_table, seat_number), text)


def by_seat(player: Player, live_table: LiveTable, seat_id: int, text: str = "Look.") -> PlayReport:
    """Report the player who has or had a seat."""
    reason = PlayReason.CHIP_DUMPING
    return report(player=player, live_table_id=live_table.pk, seat_id=seat_id, reason=reason, text=text)


def seat_at(live_table: LiveTable, seat_number: int) -> int:
    """Return the latest seat at a place; an id without a seat if there was none."""
    latest = CheminSeat.objects.filter(live_table=live_table, number=seat_number).order_by("pk").last()
    return latest.pk if latest else 987_654


def seat_of_long_ago(live_table: LiveTable, number: int, minutes: int) -> CheminSeat:
    """Return the seat of somebody who left this many minutes ago."""
    return a_seat_as_owner(
        live_table=live_table,
        number=number,
        player=a_player(),
        account_id=0,
        left_at=Now() - timedelta(minutes=minutes),
        why_left="wish",
    )


class TestAReport:
    def test_gli19_a_8_1_is_kept_with_the_seat_the_table_and_the_words(self, live_table):
        one, other, _ = seated_players(live_table)
        made = reported(one, live_table, 2, "  Stood on 0 three times.  ")
        assert (made.reporter, made.seat.player, made.live_table) == (one, other, live_table)
        assert made.text == "Stood on 0 three times."
        (event,) = events("play.reported", on=str(other))
        assert event["by"] == str(one)
        assert "Stood" not in str(event)

    def test_is_for_those_alone_who_sit_or_sat_at_the_table_within_an_hour(self, live_table):
        one, _ = seated_players(live_table, 2)
        with pytest.raises(NotAtTheTable):
            reported(a_player(), live_table)
        elsewhere = a_seated_player(a_chemin_table(slug="other"))
        with pytest.raises(NotAtTheTable):
            reported(elsewhere, live_table)
        play.leave(player=one, live_table_id=live_table.pk)
        assert reported(one, live_table)
        gone = seat_of_long_ago(live_table, 5, 61).player
        assert gone
        with pytest.raises(NotAtTheTable):
            reported(gone, live_table)

    def test_is_about_the_intended_player_even_if_another_sits_there_since(self, live_table):
        one, _ = seated_players(live_table, 2)
        long_gone = seat_of_long_ago(live_table, 4, 61)
        with pytest.raises(NobodyThere):
            by_seat(one, live_table, long_gone.pk)
        meant = a_seated_player(live_table, 4)
        seat_id = seat_at(live_table, 4)
        play.leave(player=meant, live_table_id=live_table.pk)
        sits = a_seated_player(live_table, 4)
        assert by_seat(one, live_table, seat_id).seat.player == meant
        assert reported(one, live_table, 4).seat.player == sits
        assert not events("play.reported", on=str(long_gone.player))

    def test_may_be_about_each_player_of_a_seat_and_about_nobody_twice(self, live_table):
        one, other = seated_players(live_table, 2)
        play.leave(player=other, live_table_id=live_table.pk)
        sits = a_seated_player(live_table, 2)
        seat_of_long_ago(live_table, 3, 61)
        assert [seat.player for seat in others_lately(live_table, one)] == [sits, other]
        play.leave(player=sits, live_table_id=live_table.pk)
        sit(other, live_table, 2)
        assert [seat.player for seat in others_lately(live_table, one)] == [other, sits]

    def test_is_about_nobody_at_an_empty_seat_and_not_about_oneself(self, live_table):
        one, _ = seated_players(live_table, 2)
        for seat_number in (1, 7, 0, -1, 99):
            with pytest.raises(NobodyThere):
                reported(one, live_table, seat_number)

    def test_is_not_about_a_house_player(self):
        live_table = a_practice_table()
        player = a_seated_player(live_table, 1)
        house = CheminSeat.objects.filter(live_table=live_table, player=None, left_at=None)
        assert house.exists()
        assert list(others_lately(live_table, player)) == []
        for seat in house:
            with pytest.raises(NobodyThere):
                reported(player, live_table, seat.number)

    def test_is_taken_a_few_times_an_hour(self, live_table):
        one, other = seated_players(live_table, 2)
        for _ in range(MOST):
            reported(one, live_table)
        with pytest.raises(TooManyReports, match=str(MOST)):
            reported(one, live_table)
        assert reported(other, live_table, 1)
        oldest = PlayReport.objects.filter(reporter=one).earliest("pk")
        assert PlayReport.objects.filter(reporter=one).count() == MOST
        assert oldest.decided_at is None


class TestADecision:
    def test_is_made_once_and_goes_on_record(self, live_table):
        one, other = seated_players(live_table, 2)
        made = reported(one, live_table)
        first, second = a_member_of_staff("supervisor"), a_member_of_staff("compliance")
        decide(report_id=made.pk, finding=PlayFinding.WATCHED, note="Look again in a week.", by=first)
        with pytest.raises(Decided, match=f"{first} has already decided report {made.pk}"):
            decide(report_id=made.pk, finding=PlayFinding.NOTHING, note="", by=second)
        made.refresh_from_db()
        assert (made.finding, made.note, made.decided_by) == ("watched", "Look again in a week.", str(first))
        assert made.decided_at
        (event,) = events("play.report_decided", on=str(other))
        assert event["data"] == {"report": made.pk, "finding": "watched"}


def visitor_of(player: Player) -> Client:
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


def address(live_table: LiveTable, language: str = "en") -> str:
    with override(language):
        return reverse("chemin_report", args=[live_table.table.slug, live_table.mode])


def send(player: Player, live_table: LiveTable, **data: Any) -> str:
    good = {"seat_id": seat_at(live_table, 2), "reason": "chip_dumping", "text": "<b>Look</b>"}
    text = visitor_of(player).post(address(live_table), good | data).text
    assert isinstance(text, str)
    return text


class TestThePage:
    @pytest.mark.sweep
    def test_is_led_to_from_the_table(self, live_table):
        one, *_ = seated_players(live_table)
        table = visitor_of(one).get(reverse("table", args=[live_table.table.slug, live_table.mode])).text
        assert f'href="{address(live_table)}"' in table

    @pytest.mark.sweep
    def test_gli19_a_8_1_is_led_to_from_the_seat_of_every_other_player(self, live_table):
        one, *_ = seated_players(live_table)
        table = visitor_of(one).get(reverse("table", args=[live_table.table.slug, live_table.mode])).text
        for seat_number in (1, 2, 3):
            seat = f'{address(live_table)}?seat={seat_at(live_table, seat_number)}"'
            assert table.count(seat) == 1, seat_number
        assert table.count("?seat=") == 3  # the own seat is included but hidden, because all players get the same bytes
        assert "Report Seat 3" in table

    def test_is_not_led_to_from_the_seats_that_the_house_plays(self):
        practice = a_practice_table()
        one = a_seated_player(practice, 1)
        table = visitor_of(one).get(reverse("table", args=[practice.table.slug, practice.mode])).text
        assert table.count("?seat=") == 1

    @pytest.mark.sweep
    def test_has_the_player_chosen_whose_seat_led_there_and_thanks_for_the_report(self, live_table):
        one, *_ = seated_players(live_table)
        page = visitor_of(one).get(f"{address(live_table)}?seat={seat_at(live_table, 3)}").text
        assert f'name="seat_id" value="{seat_at(live_table, 3)}" required checked' in page
        assert f'name="seat_id" value="{seat_at(live_table, 1)}"' not in page
        assert "No other automatic players are allowed" in page
        assert "We monitor how players play" in page
        assert "Thank you" in send(one, live_table)
        assert PlayReport.objects.get().text == "<b>Look</b>"

    @pytest.mark.sweep
    def test_is_about_the_player_who_sat_there_when_it_was_made(self, live_table):
        one, _, third = seated_players(live_table)
        seat_id = seat_at(live_table, 3)
        assert f'value="{seat_id}"' in visitor_of(one).get(address(live_table)).text
        play.leave(player=third, live_table_id=live_table.pk)
        a_seated_player(live_table, 3)
        assert "Seat 3, until " in visitor_of(one).get(f"{address(live_table)}?seat={seat_id}").text
        assert "Thank you" in send(one, live_table, seat_id=seat_id)
        assert PlayReport.objects.get().seat.player == third

    @pytest.mark.sweep
    def test_says_what_is_missing_and_gives_back_what_was_written(self, live_table):
        one, *_ = seated_players(live_table)
        own = seat_at(live_table, 1)
        missing: list[dict[str, Any]] = [{"seat_id": ""}, {"seat_id": own}, {"seat_id": "x"}, {"reason": "ugly"}]
        for wrong in (*missing, {"text": "x" * (LONGEST + 1)}):
            page = send(one, live_table, **wrong)
            assert 'role="alert"' in page
            assert "&lt;b&gt;Look" in page or "xxx" in page
        assert not PlayReport.objects.exists()

    def test_informs_visitors_that_players_report(self, live_table):
        seated_players(live_table)
        assert "Only players at this table can report" in send(a_player(), live_table)

    @pytest.mark.sweep
    def test_is_open_to_a_player_the_table_no_longer_serves(self, live_table):
        one, *_ = seated_players(live_table)
        seat_id = seat_at(live_table, 2)
        serve(live_table.table, ["DE"])
        assert tick.advance(live_table.pk)
        assert f'value="{seat_id}"' in visitor_of(one).get(address(live_table)).text
        assert "Thank you" in send(one, live_table, seat_id=seat_id)
        assert visitor_of(a_player("SE")).get(address(live_table)).status_code == 404

    @pytest.mark.sweep
    def test_is_there_for_chemin_tables_alone(self, live_table):
        one, *_ = seated_players(live_table)
        assert visitor_of(one).get(address(a_live_table("pairs"))).status_code == 404

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages([code for code, _ in settings.LANGUAGES]))
    def test_speaks_the_reader_s_language(self, live_table, language):
        one, *_ = seated_players(live_table)
        page = visitor_of(one).get(address(live_table, language)).text
        english = "We monitor how players play"
        assert (english in page) is (language == "en")
