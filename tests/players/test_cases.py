"""Cases: who may work on which, what each action needs, what a player reads of them, and what the database refuses."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils.translation import gettext, override
from openpyxl import load_workbook

from accounts import data_export
from audit.models import Category, Significant, Step, Weight, Work
from audit.significant import detection, workflow
from players import cases
from players.models import Case, CaseAction, CaseEntry, CaseKind, CaseOutcome, Player, Staff
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

LATER = datetime(2100, 1, 1, tzinfo=UTC)
SUSPICION = "Deposits withdrawn with little play"
RECORD = """
SELECT audit_record(
    'case.closed', 'system', 'case:1', '{"by":"system","data":{},"kind":"case.closed","on":"case:1"}', NULL)
"""


def an_alert(player: Player) -> Case:
    detection.keep(
        detection.Found(
            key=f"unplayed:{player}",
            category=Category.LAUNDERING,
            weight=Weight.ALERT,
            on=str(player),
            title=SUSPICION,
            happened_at=datetime.now(UTC),
            because="Of 10,000 deposited, 3,180 were staked.",
            rows=[{"What": "Deposit", "Amount": "10,000"}],
        )
    )
    return Case.objects.get(player=player, kind=CaseKind.AML)


def a_case_of_funds(by: Staff | None = None) -> Case:
    by = by or a_member_of_staff("compliance")
    return Case.objects.get(pk=cases.ask_source_of_funds(player=a_player(), due_at=LATER, reason="above income", by=by))


def of(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def act(desk: Client, case: Case, action: CaseAction, **said: str) -> str:
    address = reverse("staff_case_act", args=[case.pk])
    return desk.post(address, {"action": action.value, **said}, follow=True).text


def test_an_aml_alert_is_a_case_and_has_no_other_way():
    case = an_alert(a_player())
    found = Significant.objects.get()
    assert (case.subject, case.opened_by, case.holds) == (f"significant:{found.pk}", "system", True)
    assert (found.state, workflow.waiting()) == ("case", 0)
    with pytest.raises(workflow.WorkError):
        workflow.take(significant_id=found.pk, step=Step.CLOSED, seen=Work.CASE, assigned="", by="x", text="x")
    page = of("compliance").get(reverse("staff_significant_event", args=[found.pk])).text
    assert reverse("staff_case", args=[case.pk]) in page
    assert "Comment" not in page
    shown = of("compliance").get(reverse("staff_case", args=[case.pk])).text
    assert "Of 10,000 deposited, 3,180 were staked." in shown


def test_each_action_is_an_entry_and_an_event_that_names_nobody_else():
    case, desk, other = a_case_of_funds(), of("compliance"), a_member_of_staff("compliance")
    named = str(a_player())
    act(desk, case, CaseAction.ASSIGNED, to=str(other))
    act(desk, case, CaseAction.DUE, to="2099-12-31")
    act(desk, case, CaseAction.NOTED, words="Payslips are missing.")
    act(desk, case, CaseAction.LINKED, kind="player", to=named.removeprefix("player:"))
    act(desk, case, CaseAction.HELD, words="until the papers are here")
    act(desk, case, CaseAction.CLOSED, to="explained", words="Sold a house.")
    act(desk, case, CaseAction.REOPENED, words="The contract is forged.")
    case.refresh_from_db()
    assert (case.owner, case.due_at.year, case.holds, case.closed_at, case.outcome) == (other, 2099, True, None, "")
    taken = list(CaseEntry.objects.filter(case=case).order_by("pk").values_list("action", flat=True))
    assert taken == ["opened", "assigned", "due", "noted", "linked", "held", "closed", "reopened"]
    for action in taken:
        (event,) = events(f"case.{action}")
        assert (event["on"], event["data"]["player"]) == (f"case:{case.pk}", str(case.player))
        assert "Payslips" not in str(event)
    page = desk.get(reverse("staff_case", args=[case.pk])).text
    for shown in (
        "Payslips are missing.",
        named.replace("player:", "Player "),
        "Explained and documented",
        other.name,
        "Payouts held",
    ):
        assert shown in page


def test_a_reopened_case_has_time_again_and_one_within_its_deadline_keeps_it():
    for is_late in (True, False):
        case, by = a_case_of_funds(), a_member_of_staff("compliance")
        cases.act(case=case, action=CaseAction.CLOSED, by=by, to="explained", words="Sold a house.")
        if is_late:
            as_owner("UPDATE players_case SET due_at = now() - interval '1 day' WHERE id = %s", [case.pk])
        cases.act(case=case, action=CaseAction.REOPENED, by=by, words="The contract is forged.")
        case.refresh_from_db()
        last = CaseEntry.objects.filter(case=case).latest("pk")
        if is_late:
            assert timedelta(days=6) < case.due_at - datetime.now(UTC) < timedelta(days=7)
            assert (last.action, last.to) == ("due", f"{case.due_at:%Y-%m-%dT%H:%M:%SZ}")
        else:
            assert (case.due_at, last.action) == (LATER, "reopened")
    assert cases.enter_overdue() == 0


def test_an_action_that_lacks_something_is_refused():
    case, by = a_case_of_funds(), a_member_of_staff("compliance")
    support = a_member_of_staff("support")
    for action, to, words in (
        (CaseAction.ASSIGNED, str(support), ""),
        (CaseAction.ASSIGNED, "staff:0", ""),
        (CaseAction.DUE, "2001-01-01T00:00:00Z", ""),
        (CaseAction.DUE, "soon", ""),
        (CaseAction.NOTED, "", " "),
        (CaseAction.LINKED, "file:1", ""),
        (CaseAction.LINKED, "player:a1", ""),
        (CaseAction.LINKED, "deposit:12", ""),
        (CaseAction.HELD, "", ""),
        (CaseAction.CLOSED, "explained", ""),
        (CaseAction.CLOSED, CaseOutcome.TALKED.value, "of another kind"),
        (CaseAction.OPENED, "", "again"),
    ):
        with pytest.raises(cases.DoesNotFit):
            cases.act(case=case, action=action, by=by, to=to, words=words)
    with pytest.raises(cases.AlreadyDone):
        cases.act(case=case, action=CaseAction.REOPENED, by=by, words="it is open")
    with pytest.raises(cases.MayNot):
        cases.act(case=case, action=CaseAction.NOTED, by=support, words="not mine")
    with pytest.raises(cases.AlreadyDone):
        cases.ask_source_of_funds(player=case.player, due_at=LATER, reason="again", by=by)
    with pytest.raises(cases.DoesNotFit):
        cases.ask_source_of_funds(player=a_player(), due_at=LATER - timedelta(days=36500), reason="late", by=by)
    assert CaseEntry.objects.count() == 1


@pytest.mark.parametrize(
    ("action", "said", "answer"),
    [
        (CaseAction.LINKED, {"kind": "deposit", "to": "abc"}, "No such object."),
        (CaseAction.LINKED, {"kind": "player", "to": "f-1"}, "No such object."),
        (CaseAction.DUE, {"to": "2099-02-30"}, "The deadline must be a day in the future."),
        (CaseAction.DUE, {"to": "2001-01-01"}, "The deadline must be a day in the future."),
        (CaseAction.NOTED, {"words": " "}, "Enter a text."),
    ],
)
def test_what_was_typed_wrong_is_refused_and_the_page_stays(action, said, answer):
    case, desk = a_case_of_funds(), of("compliance")
    assert answer in act(desk, case, action, **said)
    assert CaseEntry.objects.count() == 1
    assert desk.get(reverse("staff_case", args=[case.pk])).status_code == 200


def test_a_case_that_holds_payouts_says_so_when_they_are_held_again():
    case, desk = a_case_of_funds(), of("compliance")
    assert "Recorded" in act(desk, case, CaseAction.HELD, words="until the papers are here")
    assert "This case already holds payouts." in act(desk, case, CaseAction.HELD, words="until the papers are here")
    assert list(CaseEntry.objects.order_by("pk").values_list("action", flat=True)) == ["opened", "held"]


def test_a_marker_which_the_player_exports_is_linked_to_no_suspicion():
    player, by = a_player(), a_member_of_staff("compliance")
    suspicion = an_alert(player)
    first = cases.open_case(player.pk, CaseKind.MARKER, subject="nights")
    cases.open_case(player.pk, CaseKind.MARKER, subject="long_night")
    marker = Case.objects.get(subject="long_night")
    with pytest.raises(cases.DoesNotFit):
        cases.act(case=marker, action=CaseAction.LINKED, by=by, to=str(suspicion))
    cases.act(case=marker, action=CaseAction.LINKED, by=by, to=f"case:{first}")
    cases.act(case=suspicion, action=CaseAction.LINKED, by=by, to=str(marker))


@pytest.mark.parametrize(("language", "one"), [("sv", "Öppet"), ("da", "Åben"), ("ro", "Deschis")])
def test_the_state_of_one_case_is_no_plural(language: str, one: str):
    an_alert(a_player())
    desk = of("compliance")
    desk.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    (line,) = desk.get("/staff/cases/").context["list"].lines
    with override(language):
        assert f">{one}</span>" in next(each.html for each in line.cells if each.heading == gettext("State"))


def test_a_marker_never_holds_payouts():
    player, support = a_player(), a_member_of_staff("support")
    cases.open_case(player.pk, CaseKind.MARKER, subject="nights")
    marker, funds = Case.objects.get(player=player), a_case_of_funds()
    with pytest.raises(cases.DoesNotFit):
        cases.act(case=marker, action=CaseAction.HELD, by=support, words="a test")
    closing = "UPDATE players_case SET closed_at = now(), closed_by_id = %s, outcome = 'no_concern'"
    as_owner(closing, [support.pk])
    for case, role, says in ((marker, "support", False), (funds, "compliance", True)):
        page = of(role).get(reverse("staff_case", args=[case.pk])).text
        assert "A case whose deadline has passed gets a new one, in seven days." in page
        assert ("Payouts that the case held are held again." in page) is says


def test_support_sees_markers_and_no_suspicion():
    player = a_player()
    case = an_alert(player)
    marker = cases.open_case(player.pk, CaseKind.MARKER, subject="nights")
    desk = of("support")
    assert desk.get(reverse("staff_case", args=[case.pk])).status_code == 403
    for address in (
        reverse("staff_cases"),
        reverse("staff_player", args=[player.pk]),
        reverse("staff_case", args=[marker]),
    ):
        page = desk.get(address).text
        assert "Frequent night play" in page
        assert "AML" not in page
        assert SUSPICION not in page
    posted = desk.post(reverse("staff_case_act", args=[case.pk]), {"action": "noted", "words": "x"})
    assert posted.status_code == 403


def test_the_player_exports_markers_and_no_suspicion():
    player = a_player()
    case = an_alert(player)
    cases.open_case(player.pk, CaseKind.MARKER, subject="nights")
    desk = of("compliance")
    desk.get(reverse("staff_case", args=[case.pk]))
    act(desk, case, CaseAction.NOTED, words="Known to us.")
    out = str([row for part in data_export.PARTS for row in part.rows(player)]) + str(list(data_export.events(player)))
    assert "nights" in out
    for hidden in (SUSPICION, "Known to us.", "significant:", "'aml'"):
        assert hidden not in out


def test_one_case_is_a_file():
    case = a_case_of_funds()
    visitor, address = of("compliance"), reverse("staff_case", args=[case.pk])
    assert "above income" in visitor.get(address, {"as": "csv"}).text
    book = load_workbook(io.BytesIO(visitor.get(address, {"as": "xlsx"}).content))
    written = " ".join(str(cell) for sheet in book for row in sheet.values for cell in row if cell)
    for shown in ("Source of funds", str(case.player), "above income"):
        assert shown in written


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO players_case SELECT * FROM players_case",
        "UPDATE players_case SET holds = false",
        "UPDATE players_case_entry SET text = ''",
        "SELECT players_begin_case(player_id, 'aml', 'x', 'system', now(), '') FROM players_case",
        RECORD,
    ],
)
def test_the_login_role_cannot_write_past_the_functions(statement):
    a_case_of_funds()
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
