"""The pages of the floor: access, offered actions, and the return to the floor after an action."""

import re

import pytest
from django.test import Client
from django.urls import resolve

from audit.models import Approval
from games.chemin.stop import continue_table
from games.models import Incident, LiveTable, Phase, Table
from games.shared import malfunction
from games.shared.floor.rows import STATES
from games.shared.pages import stream_tokens
from games.tables.status import pause_table
from games.variants import GAMES
from players.access import is_made_by_the_page
from tests.builders import a_player, a_table
from tests.chemin.at_table import a_chemin_table, seated_players
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db
FLOOR = "/staff/floor/"
STREAM = re.compile(r'data-stream="([^"]*)"')
DATA = re.compile(r'data-(name|game|state|players)="([^"]*)"')


def working_as(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def shown(page: str) -> set[str]:
    """Return the visible rows of a page."""
    return {
        key
        for key, hidden in re.findall(r'<li class="floor-row[^>]*? id="([^"]+)"[^>]*?( hidden)?>', page)
        if not hidden
    }


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.mark.parametrize(
    "role", sample(["operator", "supervisor", "compliance", "finance", "support", "administrator"], 1)
)
def test_only_staff_who_work_with_tables_may_view(live_table: LiveTable, role: str) -> None:
    expected = 200 if role in {"operator", "supervisor", "compliance"} else 403
    for page in (FLOOR, f"{FLOOR}now/", f"{FLOOR}live-{live_table.pk}/"):
        assert working_as(role).get(page).status_code == expected


def test_a_player_and_a_visitor_do_not_get_there(live_table: LiveTable) -> None:
    visitor, player = a_visitor(), a_visitor()
    player.force_login(a_player().user)
    for page in (FLOOR, f"{FLOOR}now/", f"{FLOOR}live-{live_table.pk}/"):
        assert visitor.get(page).status_code == 302
        assert player.get(page).status_code == 403


@pytest.mark.sweep
def test_the_page_brings_a_ticket_for_its_reader_and_session(live_table: LiveTable) -> None:
    visitor = working_as("operator")
    for page in (FLOOR, f"{FLOOR}now/"):
        found = STREAM.search(visitor.get(page).text)
        assert found
        ticket = stream_tokens.read(found[1], visitor.session.session_key)
        assert ticket.staff is not None
        assert (ticket.player, ticket.live_table, ticket.lobby) == (stream_tokens.NOBODY, None, None)


def test_a_page_that_asks_by_itself_makes_no_session_last_longer() -> None:
    assert is_made_by_the_page(resolve(f"{FLOOR}now/").func)
    assert not is_made_by_the_page(resolve(FLOOR).func)


@pytest.mark.sweep
def test_there_is_no_row_of_a_table_that_there_is_not() -> None:
    visitor = working_as("operator")
    for key in ("live-999999", "solo-x", "nothing"):
        assert visitor.get(f"{FLOOR}{key}/").status_code == 404


@pytest.mark.sweep
def test_a_house_without_tables_says_what_makes_them() -> None:
    page = working_as("supervisor").get(FLOOR).text
    assert "load_tables" in page
    assert "Close tables" not in page


class TestWhatIsShown:
    @pytest.fixture
    def keys(self, live_table: LiveTable) -> dict[str, str]:
        paused, alone = a_live_table("pairs", slug="paused"), a_table()
        pause_table(table_id=paused.table_id, reason="x", by="staff:test")
        malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
        return {
            "stopped": f"live-{live_table.pk}",
            "paused": f"live-{paused.pk}",
            "solo": f"solo-{alone.pk}",
        }

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("query", "is_shown", "is_not"),
        sample(
            [
                ("", {"stopped", "paused", "solo"}, set()),
                ("?state=paused", {"paused"}, {"stopped", "solo"}),
                ("?game=pairs", {"paused"}, {"stopped", "solo"}),
                ("?needs=1", {"stopped"}, {"paused", "solo"}),
                ("?needs=1&state=paused", set(), {"stopped", "paused", "solo"}),
                ("?state=nonsense&game=roulette&needs=2", {"stopped", "paused", "solo"}, set()),
            ],
            3,
        ),
    )
    def test_is_what_was_asked_for(self, keys, query, is_shown, is_not):
        page = working_as("operator").get(FLOOR + query).text
        found = shown(page)
        assert {keys[name] for name in is_shown} <= found
        assert not {keys[name] for name in is_not} & found
        assert ('id="floor-none" hidden' in page) is bool(is_shown)

    @pytest.mark.parametrize(
        ("order", "value_of"),
        [
            ("name", lambda row: row["name"]),
            ("game", lambda row: (list(GAMES).index(row["game"]), row["name"])),
            ("state", lambda row: (STATES.index(row["state"]), row["name"])),
            ("players", lambda row: (-int(row["players"]), row["name"])),
        ],
    )
    def test_is_in_the_order_that_was_asked_for(self, keys, order, value_of):
        page = working_as("operator").get(f"{FLOOR}?order={order}").text
        found = [dict(DATA.findall(tag)) for tag in re.findall(r'<li class="floor-row[^>]*>', page)]
        assert len(found) >= len(keys)
        assert found == sorted(found, key=value_of)
        assert f'<option value="{order}" selected>' in page


@pytest.mark.sweep
class TestWhatIsOffered:
    def actions(self, role: str, key: str) -> str:
        return working_as(role).get(f"{FLOOR}{key}/", headers={"HX-Request": "true"}).text

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("role", "operates", "supervises"), [("operator", 1, 0), ("supervisor", 1, 1), ("compliance", 0, 0)]
    )
    def test_is_what_the_role_may_do(self, live_table, role, operates, supervises):
        page = self.actions(role, f"live-{live_table.pk}")
        assert "<html" not in page
        for action in ("Pause Live", "Close Live", "Report round"):
            assert (action in page) == operates
        assert ("Cancel round" in page) == supervises
        assert f"/staff/rounds/{round_at(live_table).pk}/" in page

    @pytest.mark.sweep
    def test_is_asking_two_people_once_the_cards_are_drawn(self, live_table):
        bet(a_player(real=1_000_000), live_table, player=5000)
        dealt = advance_to(live_table, Phase.DEALT)
        incident = malfunction.report(round_id=dealt.pk, cause="A quarrel.", by="staff:1")
        page = self.actions("supervisor", f"live-{live_table.pk}")
        assert "Cancel round" not in page
        assert f"Request to void the round, incident {incident.pk}" in page
        assert "Request to void the round" not in self.actions("operator", f"live-{live_table.pk}")

    @pytest.mark.sweep
    def test_the_names_of_players_are_shown_on_record(self, db):
        live_table = a_chemin_table()
        (player,) = seated_players(live_table, 1)
        assert f"player:{player.pk}" in self.actions("operator", f"live-{live_table.pk}")
        assert events("data.accessed")[-1]["data"]["players"] == [f"player:{player.pk}"]
        assert f"player:{player.pk}" not in working_as("operator").get(FLOOR).text


class TestAStoppedTable:
    """Actions at a stopped table do not lift the stop, and the page says so."""

    @pytest.fixture
    def incident(self, live_table: LiveTable) -> Incident:
        return malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")

    def actions(self, role: str, live_table: LiveTable) -> str:
        return working_as(role).get(f"{FLOOR}live-{live_table.pk}/", headers={"HX-Request": "true"}).text

    @pytest.mark.sweep
    @pytest.mark.parametrize("role", sample(["operator", "supervisor"], 1))
    def test_says_what_lifts_the_stop_before_the_ruling_and_after_it(self, live_table, incident, role):
        assert f"Stopped until a supervisor rules on incident {incident.pk} and resumes the table." in self.actions(
            role, live_table
        )
        malfunction.let_stand(incident_id=incident.pk, reason="Nothing.", by="staff:1")
        page = self.actions(role, live_table)
        assert ("A supervisor can resume the table" in page) is (role == "operator")
        assert ("Resume table" in page) is (role == "supervisor")
        assert "No other action lifts the stop." in page

    def test_stays_stopped_when_its_pause_ends(self, live_table, incident):
        pause_table(table_id=live_table.table_id, reason="x", by="staff:test")
        form = {"action": "continue", "reason": "A new deck."}
        page = working_as("operator").post(f"/staff/tables/{live_table.table_id}/status/", form, follow=True).text
        stays = "For real money it remains stopped by an incident until a supervisor resumes it."
        assert f"Live: open. {stays}" in page
        assert "notice--warning" in page
        assert "notice--success" not in page

    @pytest.mark.sweep
    def test_is_paused_still_when_the_stop_is_lifted(self, live_table, incident):
        pause_table(table_id=live_table.table_id, reason="x", by="staff:test")
        malfunction.let_stand(incident_id=incident.pk, reason="Nothing.", by="staff:1")
        page = working_as("supervisor").post(
            f"/staff/tables/live/{live_table.pk}/reopen/", {"reason": "Mended."}, follow=True
        )
        assert "The stop is lifted. Live: pausing; the round in progress is completed first." in page.text


class TestAfterAAction:
    """After an action, staff return to the floor and read what was done."""

    def send(self, role: str, address: str, **form: str) -> str:
        answer = working_as(role).post(address, {"reason": "for a test"} | form, follow=True)
        assert answer.redirect_chain[-1][0] == FLOOR
        return answer.text

    @pytest.mark.sweep
    def test_with_the_table_as_a_whole(self, live_table):
        key = f"live-{live_table.pk}"
        page = self.send("operator", f"/staff/tables/{live_table.table_id}/status/", action="pause", back=key)
        assert "Live: pausing; the round in progress is completed first." in page
        assert f'<a href="/staff/floor/#{key}">View table</a>' in page
        assert Table.objects.get(pk=live_table.table_id).status == "paused"

    @pytest.mark.sweep
    def test_with_a_round(self, live_table):
        live_round, key = round_at(live_table), f"live-{live_table.pk}"
        page = self.send("operator", f"/staff/rounds/{live_round.pk}/report/", sure="on", back=key)
        assert "is stopped. Incident" in page
        assert f"Round {live_round.code} is on hold" not in page
        page = self.send("supervisor", f"/staff/rounds/{live_round.pk}/cancel/", sure="on", back=key)
        assert f"Round {live_round.code} is cancelled." in page
        assert "The table is still stopped: resume it." in page
        page = self.send("supervisor", f"/staff/tables/live/{live_table.pk}/reopen/")
        assert "Live has resumed." in page

    @pytest.mark.sweep
    def test_with_an_incident(self, live_table):
        bet(a_player(real=1_000_000), live_table, player=5000)
        dealt = advance_to(live_table, Phase.DEALT)
        incident = malfunction.report(round_id=dealt.pk, cause="A quarrel.", by="staff:1")
        address = f"/staff/incidents/{incident.pk}/ruling/"
        assert "Requested. A second person must approve it under Approvals." in self.send(
            "supervisor", address, decision="void", sure="on", back=f"live-{live_table.pk}"
        )
        assert Approval.objects.get().kind == malfunction.KIND

    @pytest.mark.sweep
    def test_with_a_round_that_was_over_and_says_which_one_is_held_instead(self, live_table):
        meant = round_at(live_table)
        pause_table(table_id=live_table.table_id, reason="x", by="staff:test")
        assert step(live_table).phase == Phase.VOID
        continue_table(table_id=live_table.table_id, reason="x", by="staff:test")
        held = advance_to(live_table, Phase.BETTING)
        bet(a_player(real=1_000_000), live_table, player=5000)
        key = f"live-{live_table.pk}"
        page = self.send("operator", f"/staff/rounds/{meant.pk}/report/", sure="on", back=key)
        said = f"Round {held.code} is on hold: 1 player, SEK\u00a050.00"
        ended = "The round had ended without a bet; there is nothing to return."
        assert f", round {meant.code}: Table stopped. Supervisors notified by e-mail. {ended} {said}." in page
        assert f", about round {meant.code}, which has ended. {said}" in page  # on the table's own page
        incident = Incident.objects.get()
        assert incident.done == ["Table stopped.", "Supervisors notified by e-mail.", ended, f"{said}."]
        page = working_as("supervisor").get(f"/staff/incidents/{incident.pk}/").text
        assert "Close incident" in page
        assert "Confirm the void" not in page
        assert "ended without a bet" in page
        ruling = {"decision": "voided", "sure": "on"}
        page = self.send("supervisor", f"/staff/incidents/{incident.pk}/ruling/", back=key, **ruling)
        assert "is ruled on: the round had ended without a bet. The table is still stopped: resume it." in page
        page = working_as("operator").get(f"/staff/incidents/{incident.pk}/").text
        assert "The round ended without a bet: " in page
        assert round_at(live_table).pk == held.pk

    @pytest.mark.sweep
    def test_elsewhere_where_the_form_stood_elsewhere_and_nowhere_else(self, live_table):
        live_round = round_at(live_table)
        for back in ("", "floor", "https://example.com/", "/staff/"):
            form = {"reason": "x", "sure": "on", "back": back}
            answer = working_as("operator").post(f"/staff/rounds/{live_round.pk}/report/", form)
            assert answer.headers["Location"] == "/staff/incidents/"


@pytest.mark.parametrize("role", sample(["operator", "supervisor", "compliance"], 1))
def test_no_link_leads_to_a_page_that_the_reader_may_not_open(live_table: LiveTable, role: str) -> None:
    round_at(live_table)
    bet(a_player(real=100_000), live_table, player=5000)
    malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
    reader = working_as(role)
    for page in (FLOOR, f"{FLOOR}live-{live_table.pk}/", "/staff/tables/"):
        body = reader.get(page).content.decode().partition("<main")[2].partition("</main>")[0]
        links = set(re.findall(r'href="(/staff/[^"#]*)', body))
        assert links
        assert {link for link in links if reader.get(link).status_code == 403} == set()
