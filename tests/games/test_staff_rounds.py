"""Staff find a round by its code or id on every page that asks for one."""

import html
import re

import pytest
from django.conf import settings

from games.incidents import open_incident, refund_text
from games.models import IncidentKind, Round, VoidPart
from games.models.rounds import read_code
from tests.builders import a_player, a_round, a_table
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.voiding import void_unreproduced
from wallet.models import Mode

UNKNOWN = "No finished round has this code"


def reader(role: str = "finance"):
    browser = a_visitor()
    browser.force_login(a_member_of_staff(role).user)
    return browser


def seen(answer) -> str:
    return html.unescape(answer.text)


@pytest.fixture
def played() -> Round:
    round_id = a_round(a_player(real=1_000_000), a_table(), player=1000, tie=5000).round_id
    return Round.objects.get(pk=round_id)


WAYS = {
    "as quoted": lambda played: played.code,
    "small": lambda played: played.code.lower(),
    "without hyphens": lambda played: played.code.replace("-", ""),
    "with spaces": lambda played: f" {played.code.replace('-', ' ')} ",
    "id": lambda played: str(played.pk),
    "id in capitals": lambda played: f" {str(played.pk).upper()} ",
}


@pytest.mark.parametrize(
    "typed", ["0123-4567-89AB", "0123456789ab", "o123 4567 89AB", "OI23-4567-89AB", "0l23456789AB"]
)
def test_a_code_is_read_however_it_is_typed(typed):
    assert read_code(typed) == "0123-4567-89AB"


@pytest.mark.parametrize("typed", ["", "0123-4567-89A", "0123-4567-89ABC", "0123-4567-89AU", "table:1", "\0" * 12])
def test_an_invalid_code_finds_nothing(typed):
    assert read_code(typed) is None


@pytest.mark.django_db
@pytest.mark.parametrize("way", sample(WAYS.values(), 2), ids=WAYS)
class TestEveryWayOfNamingIt:
    def test_finds_the_round(self, played, way):
        page = seen(reader().get("/staff/rounds/", {"round": way(played)}, follow=True))
        assert f"<title>Round {played.code} · Sabot</title>" in page
        assert str(played.pk) in page

    @pytest.mark.sweep
    def test_finds_its_journals(self, played, way):
        answer = reader().get("/staff/ledger/", {"round": way(played)}, follow=True)
        assert {journal.round_id for journal in answer.context["page"].rows} == {played.pk}

    @pytest.mark.sweep
    def test_finds_its_events(self, played, way):
        answer = reader("compliance").get("/staff/events/", {"on": way(played)}, follow=True)
        assert {event.on for event in answer.context["page"].rows} == {f"round:{played.pk}"}
        assert played.code in answer.text


@pytest.mark.django_db
class TestThePageOfARound:
    def test_tells_the_cards_the_bets_the_player_and_the_version(self, played):
        part = played.participation_set.get()
        page = seen(reader().get("/staff/rounds/", {"round": played.code}, follow=True))
        for shown in ("Baccarat, version 1", f"player:{part.player_id}", "SEK\u00a010.00", "SEK\u00a050.00", "real"):
            assert shown in page
        for card in played.cards.split():
            assert card in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("role", "links"),
        sample(
            [
                ("finance", {"/staff/ledger/?round="}),
                ("compliance", {"/staff/events/?on=round:", "/staff/ledger/?round="}),
                ("operator", set()),
            ],
            1,
        ),
    )
    def test_leads_only_where_the_role_may_go(self, played, role, links):
        page = seen(reader(role).get("/staff/rounds/", {"round": played.code}, follow=True))
        both = {"/staff/ledger/?round=", "/staff/events/?on=round:"}
        assert {link for link in both if f"{link}{played.pk}" in page} == links

    def test_speaks_the_language_of_the_reader_and_leaves_what_the_player_typed(self, played):
        as_owner("UPDATE games_round SET player_value = 'tie' WHERE id = %s", [played.pk])
        visitor = reader()
        visitor.cookies[settings.LANGUAGE_COOKIE_NAME] = "sv"
        page = seen(visitor.get("/staff/rounds/", {"round": played.code}, follow=True))
        assert "Spelarens startvärde: lagrat <b>tie</b>" in page
        felt = page.partition('id="steps-title"')[2].partition("</section>")[0]
        assert {"Spelare", "Oavgjort"} <= set(re.findall(r'class="spot__name">([^<]*)<', felt))

    def test_says_that_a_round_is_void_and_what_was_returned(self, played):
        void_unreproduced(played.pk)
        page = seen(reader().get("/staff/rounds/", {"round": played.code}, follow=True))
        assert "void since" in page
        assert f'By the void</dt><dd class="num">{refund_text(VoidPart.objects.get())}</dd>' in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(("role", "shown"), sample([("operator", True), ("finance", False)], 1))
    def test_links_its_incident_for_its_readers(self, played, role, shown):
        table_id = played.table_version.table_id
        kind = IncidentKind.RULES_UNKNOWN
        incident, _ = open_incident(kind=kind, table_id=table_id, round_id=played.pk, found=[], done=[], by="system")
        page = seen(reader(role).get("/staff/rounds/", {"round": played.code}, follow=True))
        assert (f"/staff/incidents/{incident.pk}/" in page) is shown

    @pytest.mark.sweep
    def test_shows_a_free_round_as_free(self):
        round_id = a_round(a_player(free=1_000_000), a_table(), Mode.FREE, player=1000).round_id
        assert "<dd>free</dd>" in seen(reader().get("/staff/rounds/", {"round": round_id}, follow=True))

    @pytest.mark.parametrize(
        "typed", sample(["0000-0000-0000", "nonsense", "5f3a1c9e-0000-4000-8000-00000000002a", "\0", "x" * 101], 1)
    )
    def test_says_so_where_there_is_no_such_round(self, typed):
        answer = reader().get("/staff/rounds/", {"round": typed})
        assert answer.status_code == 200
        assert "<h1>Rounds</h1>" in answer.text

    def test_names_what_it_could_not_find(self):
        page = reader().get("/staff/rounds/?round=0000-0000-0000")
        assert "Round not found. Rounds without bets can only be found by id." in page.text


@pytest.mark.django_db
def test_a_code_that_no_round_has_is_said_in_the_ledger():
    answer = reader().get("/staff/ledger/?round=0000-0000-0000")
    assert UNKNOWN in answer.text
    assert list(answer.context["page"].rows) == []


@pytest.mark.django_db
@pytest.mark.parametrize("field", sample(["ledger/?round=", "events/?on="], 1))
def test_staff_who_may_not_read_a_page_do_not_learn_which_codes_exist(played, field):
    outside = a_visitor().get(f"/staff/{field}{played.code}")
    assert str(played.pk) not in outside["Location"]
    assert reader("support").get(f"/staff/{field}{played.code}").status_code == 403
