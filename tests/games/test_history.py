"""Game logs of any length: search by day, table and result at constant cost, and the CSV file."""

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.utils import translation

from games.history.csv_export import amount, safe
from games.history.search import FIND, Ending, Search, every, find, parameters, totals
from games.models import Participation, Result, Round, Table
from tests.builders import a_player, a_round, a_table
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample, sweep
from tests.voiding import void_unreproduced

MONEY = 100_000_000
MANY = [3_000, 50_000]
PER_PAGE = 21
LANGUAGES = ("sv", "da", "ro", "de", "en")
TODAY = datetime.now(UTC).date()

# Inserts rounds of the past, one every ten minutes back from now: two lost for each one won, none
# even.
PAST = """
WITH dealt AS (
    INSERT INTO games_round
        (id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at)
    SELECT gen_random_uuid(), 'past-' || n, %(version)s, 'R', '', '', '', '9H 2D KS 5C', 'player',
           clock_timestamp() - n * interval '10 minutes'
    FROM generate_series(1, %(rounds)s) AS n
    RETURNING id, at
)
INSERT INTO games_participation
    (round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, at, table_id,
    bets, stakes, payouts, commissions, results)
SELECT id, %(player)s, 'SEK', 'R', 0, 0, 1000, won, 0, at, %(table)s,
    '{player}', '{1000}', ARRAY[won]::bigint[], '{0}', ARRAY[CASE WHEN won = 0 THEN 'lost' ELSE 'won' END]
FROM dealt, LATERAL (SELECT CASE WHEN random() < 0.33 THEN 2000 ELSE 0 END AS won WHERE dealt.id IS NOT NULL) AS result
"""


@pytest.fixture
def player(db):
    return a_player(real=MONEY)


@pytest.fixture
def table(db):
    return a_table()


@pytest.fixture
def visitor(player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    return visitor


def codes(parts) -> list[str]:
    return [part.round.code for part in parts]


def shown(text: str) -> list[str]:
    """Return the rounds on a page, in order."""
    return list(dict.fromkeys(re.findall(r'href="/\w\w/history/([0-9a-f-]{36})/"', text)))


class TestSearching:
    def test_by_result_finds_those_and_only_those(self, player, table):
        for _ in range(30):
            a_round(player, table, player=1000)
        for ending, result in ((Ending.WON, Result.WON), (Ending.LOST, Result.LOST), (Ending.EVEN, Result.EVEN)):
            expected = Participation.objects.filter(result=result).order_by("-pk")
            assert codes(find(player, Search(ending=ending), limit=100)) == codes(expected)
        for part in Participation.objects.all():
            assert part.result == (part.paid > part.staked) - (part.paid < part.staked)

    @pytest.mark.sweep
    def test_by_table_finds_those_and_only_those(self, player, table):
        other = a_table("other")
        rounds = [a_round(player, each, player=1000).round_id for each in (table, other, table, other)]
        found = find(player, Search(table="other"), limit=100)
        assert [part.round_id for part in found] == [rounds[3], rounds[1]]

    @pytest.mark.sweep
    def test_a_voided_round_is_neither_won_nor_lost(self, player, table):
        round_id = a_round(player, table, player=1000).round_id
        void_unreproduced(round_id)
        for ending in (Ending.WON, Ending.LOST, Ending.EVEN):
            assert find(player, Search(ending=ending), limit=9) == []
        day = Round.objects.get().at.date()
        for search in (Search(), Search(ending=Ending.VOID), Search(ending=Ending.VOID, table="baccarat", until=day)):
            assert [part.round_id for part in find(player, search, limit=9)] == [round_id]
        assert find(player, Search(ending=Ending.VOID, since=day + timedelta(days=1)), limit=9) == []

    def test_of_somebody_else_finds_nothing(self, player, table):
        a_round(a_player(real=MONEY), table, player=1000)
        assert find(player, Search(), limit=9) == []

    def test_a_cursor_of_somebody_elses_round_is_invalid(self, player, table):
        a_round(a_player(real=MONEY), table, player=1000)
        theirs = Participation.objects.get().pk
        mine = a_round(player, table, player=1000).round_id
        assert [part.round_id for part in find(player, Search(), before=theirs, limit=9)] == [mine]


class TestThePage:
    @pytest.mark.sweep
    def test_keeps_the_filter_from_page_to_page(self, visitor, player, table):
        played = [str(a_round(player, table, player=1000).round_id) for _ in range(25)]
        other = a_table("other")
        a_round(player, other, player=1000)
        page = visitor.get("/en/history/", {"table": "baccarat", "since": "2020-01-01"}).text
        older = re.search(r'href="(\?before=[^"]*)" rel="next"', page)
        assert older
        second = visitor.get(f"/en/history/{unescape(older[1])}").text
        assert shown(page) + shown(second) == played[::-1]
        assert "Newest rounds" in second

    @pytest.mark.sweep
    def test_offers_the_tables_the_player_has_played_at_and_no_others(self, visitor, player, table):
        others = a_table("other")
        a_round(player, table, player=1000)
        a_round(a_player(real=MONEY), others, player=1000)
        page = visitor.get("/en/history/").text
        assert '<option value="baccarat">' in page
        assert '<option value="other">' not in page

    def test_says_so_where_nothing_fits_and_leads_back(self, visitor, player, table):
        a_round(player, table, player=1000)
        page = visitor.get("/en/history/", {"until": "2020-01-01"}).text
        assert "No rounds match this filter" in page
        assert page.count("Show all rounds") == 1

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "nonsense",
        sample(
            [
                {"since": "yesterday"},
                {"until": "9999-12-31"},
                {"since": "0001-01-01"},
                {"table": "nowhere"},
                {"ending": "maybe"},
                {"since": "2026-02-30"},
                {"since": "2026-02-02", "until": "2026-02-01"},
            ],
            3,
        ),
    )
    def test_says_what_it_cannot_read_and_shows_all(self, visitor, player, table, nonsense):
        round_id = a_round(player, table, player=1000).round_id
        page = visitor.get("/en/history/", nonsense).text
        assert "All rounds are shown." in page
        assert shown(page) == [str(round_id)]
        assert visitor.get("/en/history/rounds.csv", nonsense).status_code == 302

    @pytest.mark.sweep
    def test_answers_htmx_with_the_fragment_and_the_back_button_with_the_page(self, visitor, player, table):
        fragment = visitor.get("/en/history/", headers={"HX-Request": "true"})
        assert fragment.text.lstrip().startswith('<div id="logs"')
        back = visitor.get("/en/history/", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
        assert "<html" in back.text
        assert "HX-Request" in back["Vary"]

    def test_shows_under_which_version_of_rules_and_table_each_round_was_played(self, visitor, player, table):
        a_round(player, table, player=1000)
        page = visitor.get("/en/history/").text
        assert "table version 1" in page


class TestTheFile:
    def rows(self, visitor, language: str = "en", delimiter: str = ",", **asked: str) -> list[dict[str, str]]:
        answer = visitor.get(f"/{language}/history/rounds.csv", asked)
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert "attachment" in answer["Content-Disposition"]
        text = b"".join(answer.streaming_content).decode()
        assert text.startswith("\ufeff")
        return list(csv.DictReader(io.StringIO(text[1:]), delimiter=delimiter))

    def test_counts_days_as_the_reader_s_clock_does(self, player, table):
        a_round(player, table, player=1000)
        (part,) = find(player, Search(), limit=9)
        noon = 12
        far = timezone(timedelta(hours=-noon if part.at.astimezone(UTC).hour < noon else noon))  # has another day now
        day = part.at.astimezone(far).date()
        assert find(player, Search(since=day, until=day, zone=far), limit=9) == [part]
        assert find(player, Search(since=day, until=day), limit=9) == []

    def test_has_a_line_for_every_round_that_fits(self, visitor, player, table):
        for _ in range(5):
            a_round(player, table, player=1000, tie=5000)
        rows = self.rows(visitor)
        parts = list(find(player, Search(), limit=9))
        assert [row["Round code"] for row in rows] == codes(parts)
        assert {row["Staked"] for row in rows} == {"60.00"}
        assert [row["Paid out"] for row in rows] == [amount(part.paid, ".") for part in parts]
        assert {row["Bets"] for row in rows} == {"Player 10.00, Tie 50.00"}
        assert self.rows(visitor, until="2020-01-01") == []

    def test_has_the_times_of_where_the_player_lives(self, visitor, player, table):
        a_round(player, table, player=1000)
        zone = player.jurisdiction.time_zone
        (row,), (part,) = self.rows(visitor), find(player, Search(), limit=9)
        assert row[f"Time ({zone})"] == f"{part.at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S}"

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_is_written_as_spreadsheets_of_the_language_read(self, visitor, player, table, language):
        a_round(player, table, player=1000)
        decimal, delimiter = (".", ",") if language == "en" else (",", ";")
        (row,) = self.rows(visitor, language, delimiter)
        with translation.override(language):
            headings = [translation.gettext(each) for each in ("Round code", "Staked", "Table version")]
        assert row[headings[1]] == f"10{decimal}00"
        assert language == "en" or headings[0] != "Round code"
        assert set(headings) <= row.keys()

    def test_gli19_2_8_2_marks_a_voided_round_and_has_its_cards(self, visitor, player, table):
        void_unreproduced(a_round(player, table, player=1000).round_id)
        (row,) = self.rows(visitor)
        assert row["Result"] == "void"
        assert set(f"{row['Player’s cards']} {row['Banker’s cards']}".split()) == set(Round.objects.get().cards.split())

    @pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
    def test_holds_nothing_that_a_spreadsheet_would_calculate(self, text):
        assert safe(text) == f"'{text}"

    def test_of_a_table_with_a_formula_for_a_name_calculates_nothing(self, visitor, player, table):
        a_round(player, table, player=1000)
        update_as_owner(Table.objects.all(), name='=HYPERLINK("http://example.com")')
        assert self.rows(visitor)[0]["Table"].startswith("'=")

    @pytest.mark.parametrize(("minor", "printed"), [(0, "0,00"), (5, "0,05"), (123456, "1234,56"), (-5, "-0,05")])
    def test_writes_amounts_without_groups(self, minor, printed):
        assert amount(minor, ",") == printed


SEARCHES = [
    Search(),
    Search(ending=Ending.WON),
    Search(ending=Ending.EVEN),
    Search(table="baccarat"),
    Search(table="other", ending=Ending.LOST),
    Search(until=date(2026, 1, 1)),
    Search(since=TODAY - timedelta(days=200), until=TODAY - timedelta(days=199), ending=Ending.LOST),
]


@pytest.fixture(params=sweep(MANY, {3_000}))
def long_history(cloned_db, owner, request):
    """A player with that many rounds."""
    player, table, _other = a_player(real=MONEY), a_table(), a_table("other")
    assert table.version is not None
    owner.execute(PAST, {"version": table.version.pk, "rounds": request.param, "player": player.pk, "table": table.pk})
    owner.execute("ANALYZE")
    return player


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


@pytest.mark.sweep
def test_a_page_of_a_long_history_costs_what_a_page_of_few_does(long_history):
    """No node of the query plan reads more rows than a page holds for each table and result."""
    middle = Participation.objects.order_by("-at").values_list("pk", flat=True)[Participation.objects.count() // 2]
    for search in SEARCHES:
        for before in (None, middle):
            asked = parameters(long_history, search, before=before, limit=PER_PAGE)
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {FIND}", asked)
                (answer,) = cursor.fetchone() or ("",)
            plan = answer if isinstance(answer, list) else json.loads(answer)
            for node in nodes(plan[0]["Plan"]):
                seen = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
                assert seen <= PER_PAGE * len(asked["tables"]) * len(asked["results"]), (search, before, node)
                assert node.get("Relation Name") != "games_participation" or node["Node Type"].startswith("Index")


@pytest.mark.sweep
def test_a_long_history_leaves_through_a_page_in_memory(long_history):
    """Rows are read in portions: all of them, once each, newest first."""
    portions = {"most": 0}

    def count(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if "LATERAL" in sql:
            portions["most"] = max(portions["most"], context["cursor"].rowcount)
        return result

    search = Search(since=TODAY - timedelta(days=30))
    with connection.execute_wrapper(count):
        moments = [part.at for part in every(long_history, search, at_once=500)]
    assert portions["most"] == 500
    assert moments == sorted(moments, reverse=True)
    assert len(moments) == len(set(moments)) == Participation.objects.filter(at__date__gte=search.since).count()


class TestTotals:
    def test_are_by_day_and_game_in_the_players_zone_and_without_void_rounds(self, player, table, visitor):
        played = [a_round(player, table, player=5000) for _ in range(4)]
        zone = ZoneInfo("Europe/Stockholm")
        late = datetime(2026, 5, 1, 23, 30, tzinfo=zone)
        for part, at in zip(played, (late, late + timedelta(minutes=45), late - timedelta(days=40)), strict=False):
            update_as_owner(Participation.objects.filter(round=part.round_id, player=player), at=at)
        void_unreproduced(played[3].round_id)
        search = Search(until=date(2026, 5, 2), zone=zone)
        found = totals(player, search)
        assert [(each.day, each.variant, each.rounds, each.staked) for each in found] == [
            (date(2026, 5, 2), "baccarat", 1, 5000),
            (date(2026, 5, 1), "baccarat", 1, 5000),
        ]
        parts = Participation.objects.filter(round__in=[each.round_id for each in played[:2]])
        assert sum(each.net for each in found) == sum(part.paid - part.staked for part in parts)

    def test_are_asked_for_on_the_page(self, player, table, visitor):
        a_round(player, table, player=5000)
        assert 'id="show-totals" href="/en/history/?totals=1"' in visitor.get("/en/history/").text
        asked = visitor.get("/en/history/", {"totals": "1"}, headers={"HX-Request": "true"}).text
        assert "<html" not in asked
        assert "<tbody>" in asked
        assert asked.count("<tr>") == 2
        assert '<h2 id="totals">' in visitor.get("/en/history/", {"totals": "1"}).text
