"""The inbox of significant events: access, processing, and the alert mail."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from audit.models import Category, Significant, Step, Weight, Work
from audit.significant import detection, workflow
from games.models.rounds import round_code
from players import mail as alerts
from players.models import Mail
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

PAGE = "/staff/significant/"
NOON = datetime(2026, 7, 8, 12, tzinfo=UTC)


def one(key="1", **said):
    """Return a significant event, by default without subject and amount."""
    usual: dict[str, Any] = {
        "category": Category.ERROR,
        "weight": Weight.NOTICE,
        "on": "ledger",
        "title": f"Number {key} & more",
        "happened_at": NOON,
    }
    detection.keep(detection.Found(key=key, **usual | said))
    return Significant.objects.get(key=key)


def reader():
    """Return a compliance member and their browser."""
    member, visitor = a_member_of_staff("compliance"), a_visitor()
    visitor.force_login(member.user)
    return member, visitor


def listed(visitor, **asked):
    answer = visitor.get(PAGE, asked)
    assert answer.status_code == 200
    return [each.key for each in answer.context["page"].rows]


def take(found, step, by="staff:1", **more):
    now = Significant.objects.get(pk=found.pk)
    seen = {"seen": Work(now.state), "assigned": now.assigned_to}
    return workflow.take(significant_id=found.pk, step=step, by=by, **seen | more)


class TestTheList:
    @pytest.mark.sweep
    def test_shows_what_is_open_newest_first(self):
        for key in "123":
            one(key)
        take(Significant.objects.get(key="2"), Step.CLOSED, text="nothing in it")
        _member, visitor = reader()
        assert listed(visitor) == ["3", "1"]
        assert listed(visitor, state="closed") == ["2"]
        assert listed(visitor, state="all") == ["3", "2", "1"]

    @pytest.mark.sweep
    def test_has_alerts_first_of_what_is_open_on_every_page(self):
        for number in range(35):
            one(f"{number:02}", weight=Weight.ALERT if number in (3, 20) else Weight.NOTICE)
        _member, visitor = reader()
        first = visitor.get(PAGE)
        older = visitor.get(PAGE, {"before": first.context["page"].older})
        keys = [each.key for answer in (first, older) for each in answer.context["page"].rows]
        assert keys == ["20", "03", *(f"{number:02}" for number in reversed(range(35)) if number not in (3, 20))]
        assert listed(visitor, state="all")[0] == "34"

    @pytest.mark.sweep
    def test_goes_on_after_a_page_that_ends_among_alerts(self):
        for number in range(32):
            one(f"{number:02}", weight=Weight.NOTICE if number == 31 else Weight.ALERT)
        _member, visitor = reader()
        older = visitor.get(PAGE, {"before": visitor.get(PAGE).context["page"].older})
        assert [each.key for each in older.context["page"].rows] == ["00", "31"]

    @pytest.mark.sweep
    def test_calls_a_round_by_its_code_and_leads_to_what_it_is_about(self):
        player, payment = a_player(), "11111111-0000-4000-8000-000000000001"
        round_id = "7f2c1c1e-0000-4000-8000-000000000001"
        one("1", on=str(player))
        about = one("2", on=f"round:{round_id}", rows=[{"What": f"payment {payment}", "Value": "withdrawal:7"}])
        _member, visitor = reader()
        page = visitor.get(PAGE).text
        assert f'href="/staff/players/{player.pk}/">{player}</a>' in page
        assert f'href="/staff/rounds/{round_id}/">{round_code(UUID(round_id))}</a>' in page
        assert f"round:{round_id}<" not in page
        page = visitor.get(f"{PAGE}{about.pk}/").text
        for way in (f"/staff/deposits/{payment}/", "/staff/withdrawals/7/"):
            assert f'href="{way}"' in page

    @pytest.mark.sweep
    def test_is_filtered(self):
        player = a_player()
        one("1", category=Category.LARGE_WIN, on=str(player), currency="SEK", amount=5)
        one("2", weight=Weight.ALERT, on="round:7f2c1c1e-0000-4000-8000-000000000001")
        one("3", happened_at=NOON + timedelta(days=1))
        member, visitor = reader()
        take(Significant.objects.get(key="3"), Step.ASSIGNED, to=str(member))
        take(Significant.objects.get(key="2"), Step.ACKNOWLEDGED)
        for asked, keys in (
            ({"category": "large_win"}, ["1"]),
            ({"weight": "2"}, ["2"]),
            ({"assignee": "mine"}, ["3"]),
            ({"about": player.pk}, ["1"]),
            ({"about": str(player)}, ["1"]),
            ({"about": "7f2c1c1e-0000-4000-8000-000000000001"}, ["2"]),
            ({"currency": "SEK"}, ["1"]),
            ({"since": "2026-07-09"}, ["3"]),
            ({"until": "2026-07-08"}, ["2", "1"]),
            ({"state": "new"}, ["3", "1"]),
            ({"state": "new", "assignee": "mine", "currency": "SEK"}, []),
        ):
            assert listed(visitor, **asked) == keys, asked

    @pytest.mark.sweep
    @pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
    def test_takes_the_first_and_the_last_day_there_are(self, day):
        one()
        _member, visitor = reader()
        assert listed(visitor, since="0001-01-01", until=day) == (["1"] if day > "2026" else [])

    @pytest.mark.sweep
    def test_pages_by_what_is_older(self):
        for number in range(35):
            one(f"{number:02}")
        _member, visitor = reader()
        first = visitor.get(PAGE, {"category": "error"})
        older = visitor.get(PAGE, {"category": "error", "before": first.context["page"].older})
        keys = [each.key for answer in (first, older) for each in answer.context["page"].rows]
        assert keys == [f"{number:02}" for number in reversed(range(35))]
        assert not older.context["page"].older
        assert 'href="?category=error">Newest</a>' in older.text

    @pytest.mark.sweep
    def test_counts_on_the_first_page_what_is_new(self):
        one("1")
        take(one("2"), Step.ACKNOWLEDGED)
        _member, visitor = reader()
        page = visitor.get("/staff/").content.decode()
        row = page[page.index("Significant events to acknowledge</a>") :].partition("</tr>")[0]
        assert '<span class="side__count">1</span>' in row

    @pytest.mark.parametrize("role", ["operator", "supervisor", "finance", "support"])
    def test_is_for_compliance_alone(self, role):
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff(role).user)
        assert visitor.get(PAGE).status_code == 403

    def test_records_access_to_the_players_shown(self):
        player = a_player()
        found = one(on=str(player))
        member, visitor = reader()
        visitor.get(PAGE)
        visitor.get(f"{PAGE}{found.pk}/")
        whole, single = events("data.accessed", by=str(member))
        assert whole["data"]["players"] == [str(player)]
        assert single["on"] == str(player)


class TestTheWork:
    def test_goes_from_new_to_closed_and_back_each_step_on_record(self):
        found = one()
        member, visitor = reader()
        address = f"{PAGE}{found.pk}/step/"
        state, whose = "new", ""
        for step, more, after in (
            ("acknowledged", {}, "seen"),
            ("assigned", {"to": str(member)}, "seen"),
            ("commented", {"text": "Asked the bank."}, "seen"),
            ("closed", {"text": "The bank’s mistake."}, "closed"),
            ("reopened", {"text": "Not theirs."}, "seen"),
        ):
            answer = visitor.post(address, {"step": step, "seen": state, "assigned": whose} | more)
            assert answer.status_code == 302, step
            found.refresh_from_db()
            state, whose = found.state, found.assigned_to
            assert state == after
            (event,) = events(f"significant.{step}", by=str(member))
            assert event["on"] == f"significant:{found.pk}"
            assert "text" not in event["data"]
        assert whose == str(member)
        steps = found.steps.order_by("pk").values_list("step", "by", "text")
        assert [each[0] for each in steps] == ["acknowledged", "assigned", "commented", "closed", "reopened"]
        assert list(steps)[2] == ("commented", str(member), "Asked the bank.")
        page = visitor.get(f"{PAGE}{found.pk}/").content.decode()
        assert "The bank’s mistake." in page
        assert "Assigned to Someone" in page

    @pytest.mark.parametrize(
        ("step", "stated"),
        [
            (Step.COMMENTED, "Enter a comment."),
            (Step.CLOSED, "Enter a comment on the outcome before you close the event."),
            (Step.REOPENED, "Enter a reason for reopening the event."),
        ],
    )
    def test_needs_words(self, step, stated):
        found = one()
        if step is Step.REOPENED:
            take(found, Step.CLOSED, text="done")
        with pytest.raises(workflow.WorkError, match=f"^{re.escape(stated)}$"):
            take(found, step, text="  ")

    def test_is_closed_without_more_text_by_a_person_who_has_commented_since_it_was_opened(self):
        found = one()
        take(found, Step.COMMENTED, text="Asked the bank.")
        with pytest.raises(workflow.WorkError, match="Enter a comment on the outcome"):
            take(found, Step.CLOSED, by="staff:2")
        take(found, Step.CLOSED)
        take(found, Step.REOPENED, text="Not theirs.")
        with pytest.raises(workflow.WorkError):
            take(found, Step.CLOSED)

    @pytest.mark.sweep
    def test_reports_what_is_missing_at_the_field(self):
        found = one()
        _member, visitor = reader()
        page = visitor.post(f"{PAGE}{found.pk}/step/", {"step": "closed", "seen": "new"}).text
        assert page.count('class="error"') == 1
        assert page.index('id="text"') < page.index("Enter a comment on the outcome")

    @pytest.mark.parametrize(
        ("before", "step"),
        [
            (Step.ACKNOWLEDGED, Step.ACKNOWLEDGED),
            (Step.ACKNOWLEDGED, Step.REOPENED),
            (Step.CLOSED, Step.CLOSED),
            (Step.CLOSED, Step.ASSIGNED),
            (Step.CLOSED, Step.ACKNOWLEDGED),
        ],
    )
    def test_takes_no_step_twice_or_out_of_order(self, before, step):
        found = one()
        take(found, before, text="x")
        with pytest.raises(workflow.WorkError):
            take(found, step, text="x", to="staff:1")

    def test_tells_the_second_of_two(self):
        found = one()
        (_first, her), (second, his) = reader(), reader()
        sent = {"seen": "new", "assigned": ""}
        her.post(f"{PAGE}{found.pk}/step/", sent | {"step": "acknowledged"})
        answer = his.post(f"{PAGE}{found.pk}/step/", sent | {"step": "closed", "text": "x"}, follow=True)
        assert "has changed this event" in answer.content.decode()
        assert not found.steps.filter(by=str(second)).exists()

    def test_is_assigned_only_to_who_works_on_it(self):
        found = one()
        _member, visitor = reader()
        other = a_member_of_staff("finance")
        sent = {"step": "assigned", "seen": "new", "to": str(other)}
        assert (
            "Choose a person who may handle significant events."
            in visitor.post(f"{PAGE}{found.pk}/step/", sent).content.decode()
        )
        assert not found.steps.exists()

    @pytest.mark.sweep
    def test_keeps_the_words_where_something_is_missing(self):
        found = one()
        take(found, Step.CLOSED, text="x")
        _member, visitor = reader()
        sent = {"step": "closed", "seen": "closed", "text": "These words"}
        page = visitor.post(f"{PAGE}{found.pk}/step/", sent).content.decode()
        assert "The event is closed." in page
        assert "These words" in page

    def test_closes_a_selection_with_a_reason_and_lists_the_decision(self):
        found = [one(key) for key in "123"]
        _member, visitor = reader()
        sent = {"action": "close", "chosen": [found[0].pk, found[1].pk, "x"]}
        assert "Close: 2 of 2" in visitor.post(PAGE, sent).text
        assert workflow.waiting() == 3
        take(found[0], Step.CLOSED, text="by another")
        page = visitor.post(PAGE, sent | {"confirm": "yes", "reason": "A known test"}).text
        assert "Close: done for 1 of 2" in page
        assert "<strong>Not done:</strong> Already closed." in page
        assert list(Significant.objects.exclude(state=Work.CLOSED)) == [found[2]]
        decided = visitor.get("/staff/lists/audit/significantstep/").text
        assert "A known test" in decided
        assert "by another" in decided

    @pytest.mark.sweep
    def test_acknowledges_a_whole_page(self):
        found = [one(key) for key in "12"]
        _member, visitor = reader()
        sent = {"action": "acknowledge", "shown": [each.pk for each in found], "all": "yes"}
        assert "Acknowledge: 2 of 2" in visitor.post(PAGE, sent).text
        assert workflow.waiting() == 2


class TestThresholds:
    SENT = {
        "what": "deposit",
        "currency": "EUR",
        "before": "200000 1000000 30",
        "single": "3,000",
        "summed": "20,000.50",
        "days": "14",
        "reason": "The law says so",
    }

    def test_are_changed_with_a_reason(self):
        member, visitor = reader()
        assert visitor.post(f"{PAGE}thresholds/", self.SENT).status_code == 302
        (event,) = events("threshold.changed", by=str(member))
        assert event["data"]["after"] == {"single": 300_000, "summed": 2_000_050, "days": 14}
        assert "€20,000.50" in visitor.get(f"{PAGE}thresholds/").content.decode()

    @pytest.mark.parametrize(
        ("wrong", "stated"),
        sample(
            [
                ({"reason": ""}, "This field is required"),
                ({"single": "x"}, "amount"),
                ({"summed": "1"}, "the total not below it"),
                ({"days": "0"}, "greater than or equal to 1"),
                ({"before": "1 2 3"}, "Another person has changed this threshold."),
            ],
            2,
        ),
    )
    def test_say_what_is_wrong(self, wrong, stated):
        _member, visitor = reader()
        answer = visitor.post(f"{PAGE}thresholds/", self.SENT | wrong)
        assert answer.status_code == 200
        assert stated in answer.content.decode()
        assert events("threshold.changed") == []


class TestMail:
    def mails(self, member):
        return list(Mail.objects.filter(user=member.user, template="significant").order_by("pk"))

    def test_gathers_alerts_and_names_no_person_and_no_amount(self):
        member, _visitor = reader()
        player = a_player()
        one("1")
        for key in "234":
            one(key, weight=Weight.ALERT, on=str(player), title="A large thing", currency="SEK", amount=123456)
        one("5", weight=Weight.ALERT, title="Another")
        assert alerts.mail_alerts() == 4
        (mail,) = self.mails(member)
        assert mail.subject == "4 significant events to review"
        assert "A large thing (Errors and mismatches), 3 times" in mail.body
        for private in (str(player), player.user.email, "1234", "SEK"):
            assert private not in mail.body

    def test_comes_once_and_not_again_within_minutes(self):
        member, _visitor = reader()
        one("1", weight=Weight.ALERT)
        assert [alerts.mail_alerts() for _ in range(2)] == [1, 0]
        one("2", weight=Weight.ALERT)
        assert alerts.mail_alerts() == 0
        Significant.objects.filter(key="1").update(mailed_at=datetime.now(UTC) - alerts.PAUSE)
        assert alerts.mail_alerts() == 1
        assert len(self.mails(member)) == 2

    def test_is_left_to_the_worker_that_was_first(self):
        reader()
        one("1", weight=Weight.ALERT)
        first = connection.copy()
        with first.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [alerts.LOCK])
            assert alerts.mail_alerts() == 0
            cursor.execute("ROLLBACK")
        first.close()
        assert alerts.mail_alerts() == 1

    def test_is_for_who_works_on_it_and_wants_it(self):
        (member, visitor), (other, _other) = reader(), reader()
        support = a_member_of_staff("support")
        everything = [category.value for category in Category if category is not Category.ERROR]
        visitor.post(f"{PAGE}mail/", {"mailed": everything})
        assert workflow.muted(str(member)) == {Category.ERROR}
        one("1", weight=Weight.ALERT)
        one("2", weight=Weight.ALERT, category=Category.NEGATIVE, title="Negative")
        alerts.mail_alerts()
        (mine,), (theirs,) = self.mails(member), self.mails(other)
        assert (mine.subject[:1], theirs.subject[:1]) == ("1", "2")
        assert self.mails(support) == []
        (event,) = events("significant.muted", by=str(member))
        assert event["data"] == {"before": [], "after": ["error"]}
        visitor.post(f"{PAGE}mail/", {"mailed": [*everything, "error"]})
        assert workflow.muted(str(member)) == set()
