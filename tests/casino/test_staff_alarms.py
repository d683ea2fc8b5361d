"""The alarm bar of the back office: one line for all stopped tables, for roles that can act on it
or see it.
"""

import html
import re

import pytest

from games.models import Incident, Phase
from games.shared import malfunction
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.stopped import stop

pytestmark = pytest.mark.django_db

NOTICE = re.compile(r'<div class="notice notice--error".*?</div>', re.DOTALL)


def a_stopped_table(slug: str) -> Incident:
    live_table = a_live_table(slug=slug)
    bet(a_player("SE", real=100_00), live_table, player=50_00)
    live_round = advance_to(live_table, Phase.SETTLED)
    return malfunction.report(round_id=live_round.pk, cause="A card lay face up.", by="staff:1")


def alarms(role: str, page: str = "") -> list[tuple[str, str]]:
    """Return the lines on a page for a role, each with its link."""
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    lines = NOTICE.findall(visitor.get(f"/staff/{page}").text)
    return [(_first(r"<p>(.*?)</p>", line), _first(r'<a href="([^"]*)"', line)) for line in lines]


def _first(pattern: str, line: str) -> str:
    return html.unescape(next(iter(re.findall(pattern, line)), ""))


class TestTables:
    def test_one_is_called_by_its_name_and_its_supervisor_led_to_the_incident(self):
        incident = a_stopped_table("live")
        name = f"{incident.table.name} (real money) is stopped"
        assert alarms("supervisor") == [(f"{name}: one incident awaits a ruling.", f"/staff/incidents/{incident.pk}/")]
        assert alarms("operator") == alarms("compliance") == [(f"{name}.", "/staff/floor/")]

    @pytest.mark.sweep
    def test_several_are_one_line(self):
        for slug in ("live", "other"):
            a_stopped_table(slug)
        said = "2 tables are stopped"
        waiting = "/staff/incidents/?state=awaiting"
        assert alarms("supervisor") == [(f"{said}: 2 incidents await a ruling.", waiting)]
        assert alarms("operator") == [(f"{said}.", "/staff/floor/")]

    @pytest.mark.parametrize("role", sample(["finance", "support", "administrator"], 1))
    def test_are_not_shown_to_staff_who_can_neither_rule_nor_see_them(self, role):
        a_stopped_table("live")
        assert alarms(role) == []

    @pytest.mark.sweep
    def test_a_page_does_not_lead_to_itself(self):
        incident = a_stopped_table("live")
        assert alarms("supervisor", f"incidents/{incident.pk}/") == []
        assert alarms("supervisor", "floor/") == []  # the floor shows it at every table


@pytest.mark.sweep
def test_a_stopped_house_is_one_line_before_its_tables():
    a_stopped_table("live")
    stop()
    house, tables = alarms("supervisor")
    assert house[0].startswith("House stop since ")
    assert house[1] == "/staff/stop/"
    assert "is stopped: one incident" in tables[0]
    assert [text for text, _link in alarms("finance")] == [house[0]]
