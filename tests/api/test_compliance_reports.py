"""Reports and significant events through the compliance API."""

import csv
import hashlib
import io
from collections.abc import Iterator
from typing import Any

import pytest

from audit import log
from audit.models import Report, Significant
from audit.reports import verification
from audit.reports.kinds import Answer, Column
from tests.api.client import ApiClient
from tests.audit.reporting import ROW, a_broken_kind, a_kind, asked, made_here, registered
from tests.people import a_member_of_staff, events

pytestmark = pytest.mark.django_db

ROWS = [(f"row {number}", number, "SEK", number * 100, None, None) for number in range(1, 251)]


@pytest.fixture(autouse=True)
def kinds() -> Iterator[None]:
    """One kind for all who read reports, one for those who pay out, one of many rows, one that names players."""
    people = a_kind(
        "people",
        names_players=True,
        columns=[Column("who", "Who")],
        answer=lambda asked: Answer([["player:71"], ["player:72"]], totals=lambda: [["player:73"]]),
    )
    payouts = a_kind("payouts", permission="wallet.approve_withdrawal")
    many = a_kind("many", answer=lambda asked: Answer(ROWS, of=250))
    with registered(a_kind(), payouts, many, people, a_broken_kind("broken")):
        yield


@pytest.fixture
def api_client() -> ApiClient:
    return ApiClient(a_member_of_staff("compliance").user)


def items(api_client: ApiClient, path: str, **query: Any) -> list[Any]:
    """Return all of a list, page after page."""
    found, cursor = [], None
    while True:
        answer = api_client.get(path, **query | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.content
        page = answer.json()
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found


class TestReports:
    def test_are_of_the_kinds_that_the_role_may_read(self, api_client):
        names = [kind["name"] for kind in api_client.get("reports/kinds/").json()["items"]]
        assert names == ["sales", "many", "people", "broken"]

    @pytest.mark.sweep
    def test_are_listed_newest_first(self, api_client):
        made = [made_here(asked(kind)).pk for kind in ("sales", "many", "payouts", "sales")]
        assert [each["id"] for each in items(api_client, "reports/", limit=1)] == [made[3], made[1], made[0]]
        assert [each["id"] for each in items(api_client, "reports/", kind="many")] == [made[1]]
        assert items(api_client, "reports/", kind="payouts") == []

    def test_say_what_their_page_says(self, api_client):
        report = made_here(asked())
        stated = api_client.get(f"reports/{report.pk}/").json()
        assert (stated["kind"], stated["state"], stated["by"], stated["rows"]) == ("sales", "ready", "staff:1", 1)
        assert {"heading": "Report", "text": "Sales"} in stated["lines"]
        assert [column["name"] for column in stated["columns"]][:2] == ["what", "count"]
        assert items(api_client, f"reports/{report.pk}/rows/") == [list(ROW)]

    @pytest.mark.sweep
    def test_of_many_rows_are_read_in_order(self, api_client):
        report = made_here(asked("many"))
        assert items(api_client, f"reports/{report.pk}/rows/") == [list(row) for row in ROWS]

    def test_have_files_with_the_hashes_that_the_log_knows(self, api_client):
        report = made_here(asked())
        stated = api_client.get(f"reports/{report.pk}/").json()
        assert stated["files"] == ["csv", "xlsx"]
        for name in stated["files"]:
            answer = api_client.get(f"reports/{report.pk}/file.{name}")
            content = b"".join(answer.streaming_content)
            assert hashlib.sha256(content).hexdigest() == stated["digests"][name]
            assert f"-{report.pk}.{name}" in answer["Content-Disposition"]
            if name == "csv":
                assert ["bread"] in [row[:1] for row in csv.reader(io.StringIO(content.decode("utf-8-sig")))]
        said = verification.said(report)
        assert said
        assert said.event_id == stated["event"]

    def test_that_are_not_ready_have_no_rows_and_no_files(self, api_client):
        waiting = asked()
        stated = api_client.get(f"reports/{waiting.pk}/").json()
        assert (stated["state"], stated["lines"], stated["files"], stated["digests"]) == ("waiting", [], [], {})
        assert items(api_client, f"reports/{waiting.pk}/rows/") == []
        assert api_client.get(f"reports/{waiting.pk}/file.csv").status_code == 404

    def test_of_another_kind_than_may_be_read_are_nowhere(self, api_client):
        report = made_here(asked("payouts"))
        for rest in ("", "rows/", "file.csv"):
            assert api_client.get(f"reports/{report.pk}/{rest}").status_code == 404
        assert api_client.get("reports/999999999/").status_code == 404

    def test_have_no_other_files(self, api_client):
        report = made_here(asked())
        assert api_client.get(f"reports/{report.pk}/file.pdf").status_code == 404

    def test_are_not_asked_for_here(self, api_client):
        assert api_client.post("reports/", {"kind": "sales"}).status_code == 405
        assert not Report.objects.exists()

    @pytest.mark.parametrize("rest", ["", "rows/", "file.csv", "file.xlsx"])
    def test_record_access_to_the_players_they_name(self, api_client, rest):
        report = made_here(asked("people"))
        answer = api_client.get(f"reports/{report.pk}/{rest}")
        assert answer.status_code == 200
        shown = set(events("data.accessed")[-1]["data"]["players"])
        assert shown == {"": {"player:73"}, "rows/": {"player:71", "player:72"}}.get(
            rest, {"player:71", "player:72", "player:73"}
        )


class TestSignificantEvents:
    @pytest.mark.sweep
    def test_are_listed_newest_first_and_narrowed_down(self, api_client):
        found = [self.one(name, on) for name, on in (("first", "player:71"), ("second", "table:1"))]
        stated = items(api_client, "significant/", limit=1)
        assert [each["id"] for each in stated][:2] == [each.pk for each in found[::-1]]
        assert stated[1]["on"] == "player:71"
        assert [each["id"] for each in items(api_client, "significant/", about="player:71")] == [found[0].pk]
        assert {each["weight"] for each in items(api_client, "significant/", weight="alert")} <= {"alert"}
        assert items(api_client, "significant/", state="closed") == []
        assert "player:71" in events("data.accessed")[-1]["data"].get("players", ["player:71"])

    def test_are_not_worked_on_here(self, api_client):
        assert api_client.post("significant/", {}).status_code == 405

    def one(self, name: str, on: str) -> Significant:
        """Return a significant event."""
        log.record("test.happened", by="system", on=on, data={})
        return Significant.objects.create(
            key=name, category="error", weight=2, on=on, title=name, happened_at="2026-11-01T00:00Z"
        )
