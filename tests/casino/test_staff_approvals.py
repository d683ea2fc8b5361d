"""Pages to decide requests of others and to withdraw own requests."""

import json
import re
from html import unescape
from uuid import uuid4

import pytest
from django.conf import settings
from django.urls import reverse

from audit import approvals
from audit.models import Decision, Verdict
from backoffice.audit import approvals as staff_approvals
from backoffice.lists.paging import Order
from players import staff
from players.models import Staff
from tests.builders import a_player
from tests.casino.two_people import ACTIONS, Adjustment, Asked, OfStaff, Payment, Voiding, browser_of
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet import adjusting, holds
from tests.wallet.money_moves import cash
from wallet.models import Journal
from wallet.money import format_money

pytestmark = pytest.mark.django_db


@pytest.fixture
def asker():
    return a_member_of_staff("support", name="Ada")


@pytest.fixture
def asked(asker):
    return adjusting.ask(a_player(real=10_000), by=asker)


def as_(member):
    client = a_visitor()
    client.force_login(member.user)
    return client


def page(member, asked):
    return as_(member).get(reverse("staff_approval", args=[asked.pk])).content.decode()


def withdraw(member, asked, **changes):
    data = {"reason": "a slip of mine", "sure": "on"} | changes
    return as_(member).post(reverse("staff_approval_withdraw", args=[asked.pk]), data, follow=True).content.decode()


def listed(member, **asked_for):
    html = as_(member).get(reverse("staff_approvals"), asked_for).content.decode()
    return set(re.findall(r"/staff/approvals/(\d+)/", html.partition("<h2>Closed requests</h2>")[2]))


def facts_of(html):
    """Return the terms and facts of a request as a reader sees them. The stored request below them is left out."""
    shown = html.partition("<h1>")[2].partition("</dl>")[0]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", shown)).split())


@pytest.mark.parametrize("make", sample(ACTIONS, 7), ids=lambda action: action.kind)
def test_the_second_person_reads_every_value_of_the_request_its_reason_and_once_its_subject(make):
    asked = Asked(make())
    html = page(asked.decider, asked.approval)
    said, request = facts_of(html), json.loads(asked.approval.request)

    def expected(name, value):
        if name in asked.action.written:
            write = asked.action.written[name]
            return write(value) if write else ""
        return format_money(value, request["currency"], "en") if name == "amount" else str(value)

    values = [expected(name, value) for name, value in request.items()]
    reason = [asked.approval.reason, f"({asked.asker})", f"{asked.approval.at:%Y-%m-%d %H:%M}"]
    for shown in (*values, *reason, *asked.action.shows):
        assert " ".join(shown.split()) in said
    named = [re.search(rf"<dt>{name}</dt><dd>(.*?)</dd>", html) for name in ("Subject", "Player")]
    addresses = {each for found in named if found for each in re.findall('href="([^"]+)"', found[1])}
    assert bool(addresses) == asked.action.has_page
    for address in addresses:
        assert as_(asked.decider).get(address).status_code == 200
    if re.fullmatch(r"[a-z]+:[0-9]+", asked.approval.on):
        below_the_title = facts_of("<h1>" + html.partition("</h1>")[2])
        assert len(re.findall(rf"{asked.approval.on}\b", below_the_title)) <= 1


class TestOne:
    def test_shows_request_asker_deadline_and_consequences(self, asker, asked):
        html = page(a_member_of_staff("finance"), asked)
        for words in (
            "balance adjustment",
            f"Ada ({asker})",
            "in 2\xa0days, 23\xa0hours",
            "The balance changes at once",
            "Approve",
        ):
            assert words in html
        assert "Withdraw request" not in html

    def test_names_the_person_who_ended_it(self, asked):
        decider = a_member_of_staff("finance", name="Fin")
        adjusting.decide(asked, yes=False, by=decider)
        html = page(decider, asked)
        assert f"by Fin ({decider})" in html
        assert "If approved" not in html

    @pytest.mark.sweep
    def test_of_an_adjustment_says_what_the_player_has_and_would_have_while_it_is_open(self, asked):
        decider = a_member_of_staff("finance")
        html = page(decider, asked)
        assert "<dt>Amount</dt><dd>SEK\xa05.00, to add</dd>" in html
        assert "<dt>Available now</dt><dd>SEK\xa0100.00</dd>" in html
        assert "<dt>Available afterwards</dt><dd>SEK 105.00</dd>" in html
        adjusting.decide(asked, by=decider)
        after = page(decider, asked)
        assert "Available now" not in after
        journal = Journal.objects.get(kind="adjustment")
        assert f'<dt>Journal</dt><dd><a class="link" href="/staff/ledger/journals/{journal.pk}/">' in after

    @pytest.mark.sweep
    def test_of_an_adjustment_that_cannot_be_done_any_more_says_so(self):
        player = a_player(real=10_000)
        asked = adjusting.ask(player, -10_000)
        holds.hold(uuid4(), cash(player), 1)
        html = page(a_member_of_staff("finance"), asked)
        assert "<dt>Amount</dt><dd>SEK 100.00, to deduct</dd>" in html
        assert "<dt>Available afterwards</dt><dd>below zero; not possible now</dd>" in html

    @pytest.mark.sweep
    def test_of_a_withdrawal_is_distinguished_from_it_by_number(self):
        about = Asked(Payment())
        html = page(a_member_of_staff("finance"), about.approval)
        number, withdrawal = about.approval.pk, about.approval.on
        assert f"<h1>Request {number}: Pay" in html
        assert f"Approve request {number}</button>" in html
        address = reverse("staff_withdrawal", args=[withdrawal.partition(":")[2]])
        assert f'<dt>Subject</dt><dd><a class="link" href="{address}">{withdrawal}</a></dd>' in html


class TestWithdrawing:
    def test_is_offered_to_the_asker_under_whichever_account(self, asker, asked):
        twin = a_member_of_staff("finance", person=asker.person)
        for account in (asker, twin):
            html = page(account, asked)
            assert "Withdraw request" in html
            assert "Approve" not in html
        assert "is withdrawn" in withdraw(twin, asked)
        assert Decision.objects.get().verdict == Verdict.WITHDRAWN
        assert [event["by"] for event in events("approval.withdrawn", on=f"approval:{asked.pk}")] == [str(twin)]

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "words"), [({"reason": " "}, "Enter a reason"), ({"sure": ""}, "Confirm the withdrawal.")]
    )
    def test_takes_a_reason_and_a_confirmation(self, asker, asked, changes, words):
        assert words in withdraw(asker, asked, **changes)
        assert not Decision.objects.exists()

    def test_is_nobody_elses(self, asked):
        assert "Another person made this request." in withdraw(a_member_of_staff("finance"), asked)
        assert not Decision.objects.exists()

    def test_says_that_it_comes_too_late(self, asker, asked):
        adjusting.decide(asked, yes=False)
        assert "already been decided" in withdraw(asker, asked)

    @pytest.mark.sweep
    def test_of_nothing_leads_to_the_list(self, asker, asked):
        asked.pk = 404
        assert "Request not found." in withdraw(asker, asked)


class TestEnded:
    @pytest.mark.sweep
    def test_are_found_by_how_they_ended_and_whose_they_were(self, asker, asked):
        withdraw(asker, asked)
        refused = adjusting.ask(a_player(real=10_000))
        finance = a_member_of_staff("finance")
        adjusting.decide(refused, yes=False, by=finance)
        assert listed(finance) == {str(asked.pk), str(refused.pk)}
        assert listed(finance, verdict="withdrawn") == {str(asked.pk)}
        assert listed(finance, kind="balance.adjust", whose="mine") == set()
        assert listed(asker, whose="mine") == listed(asker) == {str(asked.pk)}

    @pytest.mark.sweep
    def test_are_called_by_what_they_are_and_people_by_their_names(self, asker, asked):
        withdraw(asker, asked)
        html = as_(a_member_of_staff("finance")).get(reverse("staff_approvals")).content.decode()
        assert f"Ada ({asker})" in html
        assert 'data-label="Kind">balance adjustment' in html
        for kind in approvals.kinds():
            assert f">{kind}<" not in html


def test_a_request_is_read_and_decided_in_the_language_of_the_reader(asker):
    asked = adjusting.ask(a_player(real=10_000), by=asker)
    reader = as_(a_member_of_staff("finance"))
    reader.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    sent = {"yes": "0", "reason": "grundlos"}
    said = reader.post(reverse("staff_approval_decide", args=[asked.pk]), sent, follow=True).text
    assert "Abgelehnt: <a" in said
    assert "Es wird nichts ausgeführt." in said
    assert 'data-label="Art">Saldokorrektur' in said
    assert 'badge--off">Abgelehnt' in said
    one = reader.get(reverse("staff_approval", args=[asked.pk])).text
    assert 'badge--off">Abgelehnt' in one
    assert "void of a round" not in said
    assert "refused" not in one.partition("<main")[2].partition("</main>")[0].replace("badge--", "")


class TestAboutStaff:
    """Requests about staff accounts; events have ids, people see names."""

    @pytest.fixture
    def decider(self):
        return a_member_of_staff("administrator", name="Dora")

    @pytest.fixture
    def asker(self, decider):
        return a_member_of_staff("administrator", name="Ada")

    def ask(self, asker, name):
        return staff.ask_to_make(
            email=f"{name.lower()}@example.com", name=name, roles=["support"], same_as=None, reason="new", by=asker
        )

    def decide(self, decider, asked, yes):
        sent = {"yes": yes, "reason": "known to me"}
        return as_(decider).post(reverse("staff_approval_decide", args=[asked.pk]), sent, follow=True).text

    @pytest.mark.sweep
    def test_a_new_account_is_found_by_the_name_and_the_address_asked_for(self, asker, decider):
        refused, approved = self.ask(asker, "Rita"), self.ask(asker, "Nina")
        self.decide(decider, refused, "0")
        self.decide(decider, approved, "1")
        assert listed(decider, on="rita") == listed(decider, on="rita@example") == {str(refused.pk)}
        assert listed(decider, on="Nin") == {str(approved.pk)}
        assert listed(decider, on="roles") == listed(decider, on='"') == listed(decider, on="support") == set()
        html = as_(decider).get(reverse("staff_approvals"), {"on": "Rita"}).text
        assert "Create a staff account for Rita" in html
        assert "log-in:" not in html
        member = Staff.objects.get(name="Nina")
        html = as_(decider).get(reverse("staff_approvals"), {"on": "Nina"}).text
        assert f'href="{reverse("staff_person", args=[member.pk])}">Nina ({member})</a>' in html

    @pytest.mark.sweep
    def test_the_decider_sees_the_result_and_is_led_to_it(self, asker, decider):
        refused, approved = self.ask(asker, "Rita"), self.ask(asker, "Nina")
        html = self.decide(decider, refused, "0")
        assert "Refused: " in html
        assert "Create a staff account for Rita</a>. Nothing was executed." in html
        html = self.decide(decider, approved, "1")
        title = f"Request {approved.pk}: Create a staff account for Nina"
        assert f'Approved: <a class="link" href="{reverse("staff_approval", args=[approved.pk])}">{title}</a>.' in html
        assert "The account is created at once." in html

    @pytest.mark.sweep
    def test_those_that_ended_last_come_first(self, asker, decider, monkeypatch):
        early, late = self.ask(asker, "Rita"), self.ask(asker, "Nina")
        self.decide(decider, late, "0")
        self.decide(decider, early, "0")
        monkeypatch.setattr(staff_approvals.ClosedRequests, "size", 1)
        assert listed(decider) == {str(early.pk)}
        marks = [Order(("at", "approval_id")).cursor(Decision.objects.get(pk=each.pk)) for each in (early, late)]
        assert [listed(decider, before=key) for key in marks] == [{str(late.pk)}, set()]


@pytest.mark.parametrize("make", sample([Voiding, Payment, OfStaff, Adjustment], 1), ids=lambda action: action.kind)
def test_the_subject_of_a_request_opens_for_its_decider(make):
    asked = Asked(make())
    browser = browser_of(a_member_of_staff(make.deciding, "support"))
    html = browser.get(reverse("staff_approval", args=[asked.approval.pk])).content.decode()
    about = re.search(r"<dt>Subject</dt><dd><a class=\"link[^\"]*\" href=\"([^\"]+)\"", html)
    assert about, "no link"
    assert browser.get(about[1]).status_code == 200
