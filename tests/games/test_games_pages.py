"""Staff pages of the games: current rules, returns, changes, and planned versions."""

import re
from copy import deepcopy
from html import unescape

import pytest
from django.test import Client

from games.change_requests import rules
from games.engine.odds import exact, percent
from games.models import HowEnded, RulesVersion, ScheduleEnding
from games.variants import VARIANTS
from players import staff
from tests.builders import a_chemin_live_table, a_player, a_round, a_table, other_limits, put_live, scheduled
from tests.harness.owner import create_as_owner
from tests.people import a_member_of_staff, a_visitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def supervisor() -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("supervisor").user)
    return visitor


def read(visitor: Client, page: str) -> str:
    """Return the text of a page with single spaces."""
    answer = visitor.get(page)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.text)))


@pytest.mark.sweep
def test_every_game_is_shown_with_its_returns_its_tables_and_their_versions(supervisor):
    table = a_table()
    put_live(table_id=table.pk, limits=other_limits())
    text = read(supervisor, "/staff/games/")
    odds = exact(VARIANTS["baccarat"])["tie"]
    assert f"Tie RTP {percent(odds.rtp, 4)} %, house edge {percent(odds.edge, 4)} %" in text
    assert "Players bet against each other; the house takes a tax." in text
    assert "Baccarat open 2 " in text
    assert "No scheduled changes." in text


def test_gli19_2_8_3_a_game_is_shown_with_its_paytable_languages_rules_and_play(supervisor):
    table = a_table()
    a_round(a_player(real=100_000), table, player=5_000)
    first = rules.keep()
    older = deepcopy(next(each for each in first if each.variant == "baccarat").body)
    older["bets"]["tie"]["pays"] = [["tie", "9:1"]]
    create_as_owner(RulesVersion(variant="baccarat", version="0.9", digest="9" * 64, body=older))
    rules.keep()
    text = read(supervisor, "/staff/games/baccarat/")
    odds = exact(VARIANTS["baccarat"])["tie"]
    assert f"Tie 8:1 {percent(odds.rtp, 4)} % {percent(odds.edge, 4)} %" in text
    assert len(re.findall(r"\bcomplete\b", text)) == 5
    assert "Tie: pays 9:1 (tie) 8:1 (tie)" in text
    assert "withdrawn on" in text
    assert "Baccarat, 1, SEK in force" in text
    assert "SEK 50.00" in text.replace("\xa0", " ")


def test_a_table_is_shown_with_every_version_its_asker_decider_reason_and_change(supervisor):
    table = a_table()
    version = put_live(table_id=table.pk, limits=other_limits(), reason="quiet evenings")
    assert version.approval is not None
    text = read(supervisor, f"/staff/games/tables/{table.pk}/").replace("\xa0", " ")
    names = staff.called()
    asked, approved = names[version.approval.by], names[version.approval.decision.by]
    assert f"Requested by {asked} Approved by {approved}, request" in text
    assert "Reason quiet evenings" in text
    assert "SEK: Tie SEK 10 – SEK 2,500 SEK 10 – SEK 50" in text
    compared = read(supervisor, f"/staff/games/tables/{table.pk}/?one=2&other=1").replace("\xa0", " ")
    assert "From version 2 to version 1" in compared
    assert "SEK: Tie SEK 10 – SEK 50 SEK 10 – SEK 2,500" in compared


def test_a_table_of_chemin_is_shown_with_its_bank_and_its_pace(supervisor):
    text = read(supervisor, f"/staff/games/tables/{a_chemin_live_table().pk}/").replace("\xa0", " ")
    assert "SEK: Bank SEK 10 – SEK 1,000" in text
    assert "House player response" in text


@pytest.mark.sweep
def test_what_waits_for_its_time_is_shown_and_withdrawn_with_a_reason(supervisor):
    waiting = scheduled(a_table())
    assert f"Approved by {staff.called()[waiting.approval.decision.by]}" in read(supervisor, "/staff/games/")
    address = f"/staff/games/schedule/{waiting.pk}/withdraw/"
    assert "Enter a reason." in supervisor.post(address, {"reason": " "}, follow=True).text
    assert not ScheduleEnding.objects.exists()
    assert "It will not go live." in supervisor.post(address, {"reason": "not yet"}, follow=True).text
    assert "already live, failed or withdrawn" in supervisor.post(address, {"reason": "again"}, follow=True).text
    ending = ScheduleEnding.objects.get()
    assert (ending.how, ending.reason) == (HowEnded.WITHDRAWN, "not yet")
    assert "not yet" in read(supervisor, "/staff/games/")


@pytest.mark.sweep
@pytest.mark.parametrize("page", ["/staff/games/whist/", "/staff/games/tables/999999/"])
def test_what_is_not_there_is_no_page(supervisor, page):
    assert supervisor.get(page).status_code == 404


@pytest.mark.sweep
@pytest.mark.parametrize(("role", "reads"), [("supervisor", False), ("compliance", True)])
def test_reports_are_linked_for_their_readers(role, reads):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    assert ('href="/staff/reports/"' in visitor.get("/staff/games/baccarat/").text.partition("<main")[2]) is reads
    assert (visitor.get("/staff/reports/").status_code == 200) is reads
