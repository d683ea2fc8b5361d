"""Staff pages about play between players, and decisions on reports."""

from random import Random
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from backoffice.lists.paging import PAGE
from games.chemin.collusion import player_reports
from games.chemin.collusion.messages import NAMES, once_in
from games.chemin.collusion.signals import Sign
from games.models import CheminCoup, LiveTable, PlayReason, PlayReport
from players.models import Player
from tests.builders import a_chemin_live_table, a_player
from tests.chemin.at_table import a_chemin_table, seated_players
from tests.chemin.friends import gives_to, hands_over_to, spares, takes_from
from tests.chemin.on_record import Evening
from tests.chemin.test_integrity import BEGAN
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events
from tests.staff_lists import open_tasks
from wallet.models import Mode

pytestmark = pytest.mark.django_db

JANUARY = {"since": "2026-01-01", "until": "2026-01-31"}


def member(role: str = "compliance") -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def an_evening(policies: dict[int, Any], coups: int = 80, count: int = 4, mode: Mode = Mode.REAL) -> list[Player]:
    table = a_chemin_live_table(slug=f"t{uuid4().hex[:6]}", maximum=1_000_000)
    live_table = LiveTable.objects.select_related("table__version").get(table=table, mode=mode)
    players = [a_player() for _ in range(count)]
    Evening(live_table, players, policies, Random(5), BEGAN).play(coups)
    return players


def shown(visitor: Client, name: str, *args: int, **query: Any) -> str:
    text = visitor.get(reverse(name, args=args), JANUARY | query).text
    assert isinstance(text, str)
    return text


def pair_of(one: Player, other: Player) -> str:
    first, second = sorted((one.pk, other.pk))
    return f"player:{first} and player:{second}"


def a_report(text: str = "Stood on nothing.") -> PlayReport:
    live_table = a_chemin_table(slug=f"r{uuid4().hex[:6]}")
    one, *_ = seated_players(live_table)
    seat_id, reason = live_table.chemin_seats.get(number=2).pk, PlayReason.CHIP_DUMPING
    return player_reports.report(player=one, live_table_id=live_table.pk, seat_id=seat_id, reason=reason, text=text)


class TestTheList:
    @pytest.mark.sweep
    def test_names_the_pairs_that_stand_out_and_links_what_passed_between_them(self):
        players = an_evening({1: gives_to(2)})
        page = shown(member(), "staff_play")
        assert pair_of(*players[:2]) in page
        assert "Instant calls" in page
        file: Any = member("compliance").get(reverse("staff_play"), JANUARY | {"as": "csv"})
        assert b"Instant calls" in file.getvalue()
        assert pair_of(*players[2:]) not in page
        assert pair_of(*players[2:]) in shown(member(), "staff_play", which="all")

    def test_reports_where_nobody_is_conspicuous(self):
        assert "No signals match this filter." in shown(member(), "staff_play")

    @pytest.mark.sweep
    def test_is_searched_by_player_table_money_currency_and_time(self):
        players = an_evening({1: gives_to(2)})
        visitor, named = member(), pair_of(*players[:2])
        table = CheminCoup.objects.select_related("tenure__live_table").earliest("at").tenure.live_table.table_id
        for query in (
            {"player": f"player:{players[0].pk}"},
            {"player": players[1].pk},
            {"table": table},
            {"currency": "SEK"},
            {"mode": "R"},
        ):
            assert named in shown(visitor, "staff_play", **query), query
        for query in (
            {"player": players[2].pk},
            {"currency": "EUR"},
            {"mode": "F"},
            {"since": "2026-02-01", "until": "2026-02-28"},
        ):
            assert named not in shown(visitor, "staff_play", **query), query

    @pytest.mark.sweep
    def test_is_sorted_by_what_is_asked_for(self):
        giving = an_evening({1: hands_over_to(2), 2: takes_from(1)}, coups=200)
        sparing = an_evening({1: spares(2)}, coups=150, count=5)
        visitor = member()
        by_money = shown(visitor, "staff_play", sort="net")
        assert by_money.index(pair_of(*giving[:2])) < by_money.index(pair_of(*sparing[:2]))

    @pytest.mark.sweep
    def test_has_pages(self):
        for _ in range(3):
            an_evening({}, coups=20, count=5)
        visitor = member()
        seen, before = [], ""
        while True:
            answer: Any = visitor.get(reverse("staff_play"), JANUARY | {"which": "all", "before": before})
            seen += [(line.first, line.second) for line in answer.context["page"].rows]
            before = answer.context["page"].older
            if not before:
                break
        assert len(seen) == len(set(seen)) > len(answer.context["page"].rows) > 0

    @pytest.mark.parametrize(
        "wrong", sample([{"player": "somebody"}, {"since": "yesterday"}, {"sort": "x"}, {"mode": "X"}], 1)
    )
    def test_gives_back_what_it_cannot_read(self, wrong):
        visitor = member()
        answer = visitor.get(reverse("staff_play"), wrong)
        assert answer.status_code == 200
        assert "error" in answer.text

    @pytest.mark.sweep
    @pytest.mark.parametrize(("role", "status"), [("supervisor", 200), ("compliance", 200), ("support", 403)])
    def test_is_for_supervisors_and_compliance(self, role, status):
        for name in ("staff_play", "staff_play_reports"):
            assert member(role).get(reverse(name)).status_code == status


class TestAPair:
    @pytest.mark.sweep
    def test_has_reasons_in_words_and_its_coups(self):
        players = an_evening({1: gives_to(2)}, coups=60)
        first, second = sorted(player.pk for player in players[:2])
        page = shown(member(), "staff_play_pair", first, second)
        assert f"player:{players[0].pk} acted against the drawing rule with player:{players[1].pk}" in page
        assert f"player:{players[0].pk} covered the bank of player:{players[1].pk} when first asked" in page
        assert "Probability by chance" in page
        assert "(median)" in page
        coup = CheminCoup.objects.filter(banker_player=players[1], stakes__player=players[0]).latest("at")
        assert f"?round={coup.pk}" in page
        assert "No stakes against the other’s bank" not in page

    @pytest.mark.sweep
    def test_has_the_reports_about_them(self):
        made = a_report()
        pair = sorted((made.reporter_id, made.seat.player_id or 0))
        page = shown(member(), "staff_play_pair", *pair)
        assert "Stood on nothing." in page
        assert "No play between these players in this selection." in page

    def test_records_access(self):
        one, other = an_evening({}, coups=5, count=2)
        first, second = sorted((one, other), key=lambda player: player.pk)
        shown(member(), "staff_play_pair", first.pk, second.pk)
        for player in (first, second):
            (event,) = events("data.accessed", on=str(player))
            assert event["data"]["of"] == {"first_id": str(first.pk), "second_id": str(second.pk)}
            assert event["by"].startswith("staff:")

    def test_is_two_different_players_the_lower_number_first(self):
        one, other = (a_player() for _ in range(2))
        visitor = member()
        for wrong in ((other.pk, one.pk), (one.pk, one.pk), (one.pk, 10**9)):
            assert visitor.get(reverse("staff_play_pair", args=wrong)).status_code == 404

    @pytest.mark.sweep
    def test_has_pages(self):
        one, other = an_evening({}, coups=90, count=2)
        pair = sorted((one.pk, other.pk))
        visitor, address = member(), reverse("staff_play_pair", args=pair)
        first: Any = visitor.get(address, JANUARY)
        second: Any = visitor.get(address, JANUARY | {"before": first.context["page"].older})
        keys = [row.pk for answer in (first, second) for row in answer.context["page"].rows]
        assert len(keys) == len(set(keys)) > PAGE


class TestReports:
    def test_wait_oldest_first_and_are_decided_once(self):
        older, newer = a_report("First."), a_report("Second.")
        visitor = member("supervisor")
        page = shown(visitor, "staff_play_reports")
        assert page.index("First.") < page.index("Second.")
        decide = reverse("staff_play_decide", args=[older.pk])
        page = visitor.post(decide, {"finding": "watched", "note": "Seen it."}, follow=True).text
        assert f"Report {older.pk} is decided" in page
        assert page.index("Second.") < page.index("First.")
        again = member().post(decide, {"finding": "nothing", "note": "No."}, follow=True).text
        assert f"has already decided report {older.pk}" in again
        older.refresh_from_db()
        assert (older.finding, older.note) == ("watched", "Seen it.")
        assert newer.decided_at is None

    @pytest.mark.parametrize("wrong", sample([{}, {"finding": "watched"}, {"finding": "guilty", "note": "x"}], 1))
    def test_are_not_decided_without_a_finding_and_a_reason(self, wrong):
        made = a_report()
        page = member().post(reverse("staff_play_decide", args=[made.pk]), wrong, follow=True).text
        assert "Choose a finding and enter a reason." in page
        made.refresh_from_db()
        assert made.decided_at is None

    @pytest.mark.sweep
    def test_are_counted_in_the_back_office(self):
        a_report()
        assert open_tasks(member())["Collusion reports"] == 1
        assert "Player reports (1 open)" in shown(member(), "staff_play")

    @pytest.mark.sweep
    def test_show_words_as_text(self):
        a_report("<script>alert(1)</script>")
        page = shown(member(), "staff_play_reports")
        assert "<script>alert(1)" not in page
        assert "&lt;script&gt;alert(1)" in page


class TestWords:
    @pytest.mark.parametrize(
        ("chance", "words"),
        [
            (1 / 4200, "once in 4,200 comparable pairs"),
            (1 / 4213, "once in 4,200 comparable pairs"),
            (0.09, "once in 11 comparable pairs"),
            (0.7, "in most comparable pairs"),
            (1e-30, "less than once in a million million comparable pairs"),
        ],
    )
    def test_how_often_chance_explains_something(self, chance, words):
        assert once_in(chance) == words

    def test_every_sign_has_a_name(self):
        assert set(NAMES) == set(Sign)
