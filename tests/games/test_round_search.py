"""Staff search rounds by code, player, time, table, game, money, amount, result and state."""

import html
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from games.models import Participation, Phase, Round, Table
from games.verification.search import PAGE, Status, Wanted, query
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_table
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, play_out, seated_players
from tests.games.test_history import PAST
from tests.harness import databases
from tests.harness.databases import Database
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.people import a_member_of_staff, a_visitor, events
from tests.voiding import void_unreproduced
from wallet.models import Mode

MONEY = 10_000_000
MANY = 20_000
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)

# Search criteria -> the rounds that are found.
NARROWED: list[tuple[dict[str, str], list[str]]] = [
    ({"mode": "F"}, ["free"]),
    ({"game": "golden"}, ["golden"]),
    ({"game": "chemin_de_fer"}, ["coup", "coup"]),
    ({"currency": "DKK"}, ["krone"]),
    ({"currency": "SEK", "staked_least": "60", "staked_most": "60"}, ["solo"]),
    ({"currency": "SEK", "staked_least": "50", "mode": "R", "game": "baccarat"}, ["solo"]),
    ({"currency": "DKK", "paid_most": "1000"}, ["krone"]),
    ({"currency": "DKK", "paid_least": "1000"}, []),
    ({"until": "2020-01-01T00:00"}, []),
    ({"since": "2020-01-01T00:00", "game": "golden"}, ["golden"]),
]

# Input -> the message of the page.
UNREADABLE: list[tuple[dict[str, str], str]] = [
    ({"staked_least": "1"}, "Choose a currency."),
    ({"since": "2026-01-02T00:00", "until": "2026-01-01T00:00"}, "The end is before the start."),
    ({"since": "0001-01-01T00:00"}, "Newest first"),
    ({"player": "nobody"}, "Player not found."),
    ({"player": "9" * 30}, "Player not found."),
    ({"currency": "SEK", "staked_least": "1e400"}, "Nothing was searched"),
    ({"before": "x"}, "SEK, real money"),
    ({"table": "x"}, "Nothing was searched"),
]


def reader(role: str = "compliance"):
    browser = a_visitor()
    browser.force_login(a_member_of_staff(role).user)
    return browser


def found(role: str = "compliance", **asked: Any) -> list[str]:
    """Return the codes on the page in order."""
    answer = reader(role).get("/staff/rounds/", asked)
    assert answer.status_code == 200
    return [each.part.round.code for each in answer.context["list"].shown]


def page(role: str = "compliance", **asked: Any) -> str:
    return html.unescape(reader(role).get("/staff/rounds/", asked).text)


@pytest.fixture(scope="class")
def evening(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, Round]]:
    """One round of each kind: solo for real and for free money, golden, shared, Chemin de Fer."""
    with django_db_blocker.unblock(), databases.kept_for_several_tests():
        yield an_evening()


def an_evening() -> dict[str, Round]:
    player, table = a_player(real=MONEY, free=MONEY), a_table()
    other = a_player("DK", real=MONEY)
    rounds = {
        "solo": a_round(player, table, player=1000, tie=5000).round_id,
        "free": a_round(player, table, Mode.FREE, banker=1000).round_id,
        "krone": a_round(other, table, banker=5000).round_id,
    }
    a_purse(player, MONEY // 2)
    rounds["golden"] = a_round(player, a_golden_table(), player=10_000).round_id
    live_table = a_live_table()
    bet(player, live_table, banker=5_000)
    rounds["shared"] = advance_to(live_table, Phase.SETTLED).pk
    chemin = a_chemin_table()
    seated_players(chemin, 2)
    a_dealt_coup(chemin)
    play_out(chemin)
    rounds["coup"] = Round.objects.get(shoe__live_table=chemin).pk
    return {name: Round.objects.get(pk=pk) for name, pk in rounds.items()}


def the_player(evening: dict[str, Round]) -> Player:
    return evening["solo"].participation_set.get().player


@pytest.mark.django_db
class TestTheList:
    def test_is_of_everybody_s_rounds_newest_first_with_their_sums(self, evening):
        codes = [evening[each].code for each in ("coup", "coup", "shared", "golden", "krone", "free", "solo")]
        assert found() == codes
        text = page()
        assert "SEK, real money" in text
        assert "DKK, real money" in text

    @pytest.mark.sweep
    def test_of_a_player_by_number_address_and_name_in_the_chat(self, evening):
        player = the_player(evening)
        codes = [evening[each].code for each in ("shared", "golden", "free", "solo")]
        for called in (player.pk, f"player:{player.pk}", player.user.email, player.user.email.upper()):
            assert found(player=called) == codes
        assert found("finance", player=player.pk) == codes

    def test_names_nobody_by_address_to_staff_who_may_not_see_it(self, evening):
        text = page("supervisor", player=the_player(evening).user.email)
        assert "Player not found." in text
        assert "E-mail" not in text
        assert "e-mail" not in text

    @pytest.mark.sweep
    def test_is_narrowed_down(self, evening):
        browser = reader()
        for asked, names in NARROWED:
            answer = browser.get("/staff/rounds/", asked)
            codes = [each.part.round.code for each in answer.context["list"].shown]
            assert codes == [evening[name].code for name in names], asked

    @pytest.mark.sweep
    def test_by_table_and_by_who_won(self, evening):
        assert found(table=evening["golden"].table_version.table_id) == [evening["golden"].code]
        won = evening["solo"].outcome
        same = [each.code for each in evening.values() if each.outcome == won and each.code != evening["coup"].code]
        assert set(found(ending=won)) - {evening["coup"].code} == set(same)
        coup = {"punter": "player", "banker": "banker", "draw": "tie"}[evening["coup"].outcome]
        assert evening["coup"].code in found(ending=coup)

    @pytest.mark.sweep
    def test_by_state(self, evening):
        void_unreproduced(evening["solo"].pk)
        assert found(status="void") == [evening["solo"].code]
        assert evening["solo"].code not in found(status="complete")
        assert len(found(status="complete")) == 6
        live_table = a_live_table("pairs", slug="going")
        player = a_player(real=MONEY)
        bet(player, live_table, player=5_000)
        code = round_at(live_table).code
        assert code in page(status="in progress", player=player.pk)
        assert code not in page(status="in progress", player=the_player(evening).pk)
        assert code not in page(status="interrupted")

    @pytest.mark.sweep
    def test_says_what_it_cannot_read(self, evening):
        browser = reader()
        for asked, said in UNREADABLE:
            assert said in html.unescape(browser.get("/staff/rounds/", asked).text), asked

    def test_is_itself_on_record_with_whomever_it_showed(self, evening):
        found(player=the_player(evening).pk)
        shown = events("data.accessed")[-1]
        assert shown["data"]["players"] == [f"player:{the_player(evening).pk}"]


class TestOtherRounds:
    @pytest.mark.sweep
    def test_is_read_on_page_by_page_with_the_filter_kept(self, db):
        player, table = a_player(real=MONEY), a_table()
        for _ in range(PAGE + 2):
            a_round(player, table, player=1000)
        first = reader().get("/staff/rounds/", {"player": player.pk, "mode": "R"})
        older = first.context["page"].older
        assert f"?player={player.pk}&mode=R&{urlencode({'before': older})}" in html.unescape(first.text)
        rest = reader().get("/staff/rounds/", {"player": player.pk, "mode": "R", "before": older})
        seen = [line.part.pk for each in (first, rest) for line in each.context["list"].shown]
        assert seen == list(Participation.objects.order_by("-at").values_list("pk", flat=True))
        assert "before" not in html.unescape(rest.text).split(">Newest<")[0].rpartition("<a ")[2]

    def test_says_so_where_nobody_has_played(self, db):
        assert "No rounds yet." in page()


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


@pytest.mark.sweep
def test_no_search_reads_all_rounds_however_many_there_are(cloned_db, owner):
    player, table, _other = a_player(real=MONEY), a_table(), a_table("other")
    assert table.version is not None
    values = {"version": table.version.pk, "rounds": MANY, "player": player.pk, "table": table.pk}
    owner.execute(PAST, values)
    rare = a_player(real=MONEY)
    one = a_round(rare, table, tie=5000).round_id
    owner.execute("UPDATE games_participation SET staked = 123456, paid = 654321 WHERE round_id = %s", [one])
    owner.execute("ANALYZE")
    void_unreproduced(one)
    middle = Participation.objects.order_by("-at").values_list("pk", flat=True)[MANY // 2]
    everything, now = Wanted(), datetime.now(UTC)
    searches = [
        everything,
        replace(everything, players=(player.pk,)),
        replace(everything, players=(rare.pk,)),
        replace(everything, since=now - timedelta(days=20), before=now - timedelta(days=19)),
        replace(everything, before=LONG_AGO),
        replace(everything, tables=(table.pk,)),
        replace(everything, tables=(_other.pk,)),
        replace(everything, modes=(Mode.FREE,)),
        replace(everything, currency="SEK"),
        replace(everything, currency="SEK", staked=(123456, 123456)),
        replace(everything, currency="SEK", staked=(1000, None)),
        replace(everything, currency="SEK", paid=(654321, None)),
        replace(everything, currency="SEK", paid=(None, 0)),
        replace(everything, outcome=("player",)),
        replace(everything, status=Status.COMPLETE),
        replace(everything, status=Status.VOID),
    ]
    for wanted in searches:
        for before, is_rising in product((None, middle), (False, True)):
            statement, asked = query(wanted, before=before, is_rising=is_rising, limit=PAGE + 1)
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", asked)
                (answer,) = cursor.fetchone() or ("",)
            plan = answer if isinstance(answer, list) else json.loads(answer)
            for node in nodes(plan[0]["Plan"]):
                if node.get("Relation Name") in ("games_participation", "games_round"):
                    assert node["Node Type"] != "Seq Scan", (wanted, before, node)
                seen = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
                most = (PAGE + 1) * Table.objects.count() * len(Mode) * 3
                assert seen <= most, (wanted, before, node)
