"""Provider statements: results, differences, and the work of staff. No money moves."""

import csv
import io
import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now
from openpyxl import load_workbook

from tests.builders import a_player, a_verified_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance
from tests.wallet.payout_builders import MONEY, a_withdrawal, approve
from tests.wallet.statement_builders import PROVIDER, a_file, confirmed, drafted, named, today
from wallet import payouts
from wallet.models import (
    BankOrder,
    BankPayout,
    Difference,
    DifferenceKind,
    Journal,
    Payment,
    ProviderStatement,
    StatementDraft,
    StatementLine,
    Verdict,
    Withdrawal,
)
from wallet.payments.notifications import ask_about
from wallet.provider_statements import drafts
from wallet.sandbox_bank import payouts as bank

pytestmark = pytest.mark.django_db

UNKNOWN, MISSING = DifferenceKind.UNKNOWN, DifferenceKind.MISSING


def a_deposit(amount: int = 50_000) -> Payment:
    """Return a deposit that the bank authorised and the house credited."""
    payment = a_payment(a_player(), amount)
    at_the_bank(payment)
    return ask_about(payment.pk)


def a_payout() -> Withdrawal:
    """Return a withdrawal that the bank has paid."""
    withdrawal = approve(a_withdrawal(a_verified_player(real=MONEY)))
    payouts.send_due()
    BankPayout.objects.update(due_at=Now())
    bank.decide_due()
    payouts.send_due()
    return Withdrawal.objects.get(pk=withdrawal.pk)


def kinds(statement: ProviderStatement) -> list[str]:
    return sorted(statement.differences.values_list("kind", flat=True))


def verdicts(statement: ProviderStatement) -> list[str]:
    return list(statement.lines.order_by("number").values_list("verdict", flat=True))


def visitor_as(*roles):
    staff, visitor = a_member_of_staff(*roles), a_visitor()
    visitor.force_login(staff.user)
    return staff, visitor


class TestALine:
    def test_matches_by_the_house_s_reference_or_by_the_provider_s_number(self):
        first, second = a_deposit(), a_deposit()
        statement = confirmed([named(first.pk), {"authorisation": second.authorisation}])
        assert verdicts(statement) == [Verdict.MATCHED, Verdict.MATCHED]
        assert kinds(statement) == []

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "kind"),
        sample(
            [
                ({"amount": "500.01"}, DifferenceKind.AMOUNT),
                ({"currency": "DKK"}, DifferenceKind.CURRENCY),
                ({"status": "failed"}, DifferenceKind.STATUS),
                ({"authorisation": "other"}, DifferenceKind.AUTHORISATION),
                ({"kind": "chargeback"}, DifferenceKind.TAKEN_BACK),
                ({"kind": "refund"}, DifferenceKind.TAKEN_BACK),
                ({"kind": "payout"}, DifferenceKind.UNKNOWN),
            ],
            2,
        ),
    )
    def test_that_is_not_as_the_house_has_it_is_a_difference(self, changes, kind):
        statement = confirmed([named(a_deposit().pk, **changes)])
        assert kind in kinds(statement)
        assert verdicts(statement) == [Verdict.DIFFERS]

    def test_of_nothing_the_house_knows_is_a_difference(self):
        assert kinds(confirmed([named(uuid4()), {"authorisation": "SB1"}])) == [UNKNOWN, UNKNOWN]

    def test_of_money_that_the_house_has_not_credited_is_a_difference(self):
        payment = a_payment(a_player())
        assert kinds(confirmed([named(payment.pk, status="pending")])) == []
        assert kinds(confirmed([named(payment.pk)])) == [DifferenceKind.STATUS]

    def test_said_twice_in_one_file_is_a_difference(self):
        payment = a_deposit()
        assert kinds(confirmed([named(payment.pk), named(payment.pk)])) == [DifferenceKind.DUPLICATE]

    @pytest.mark.sweep
    def test_of_an_earlier_statement_is_not_counted_again(self):
        payment, other = a_deposit(), a_deposit()
        confirmed([named(payment.pk)])
        again = confirmed([named(payment.pk), named(other.pk)])
        assert verdicts(again) == [Verdict.REPEATED, Verdict.MATCHED]
        assert [(total["said"], total["known"]) for total in again.totals] == [(50_000, 50_000)]

    @pytest.mark.sweep
    def test_of_an_earlier_statement_left_out_of_a_later_one_is_no_shortfall(self):
        payment, other = a_deposit(), a_deposit()
        confirmed([named(payment.pk)])
        later = confirmed([named(other.pk)])
        assert kinds(later) == []
        assert [(total["said"], total["known"]) for total in later.totals] == [(50_000, 50_000)]

    @pytest.mark.parametrize("changes", sample([{"amount": "499.00"}, {"currency": "DKK"}, {"status": "failed"}], 1))
    def test_that_corrects_an_earlier_statement_is_not_said_twice_and_settles_it(self, changes):
        payment, other = a_deposit(), a_deposit()
        wrong = confirmed([named(payment.pk, **changes), named(other.pk)])
        corrected = confirmed([named(payment.pk), named(other.pk)])
        assert kinds(corrected) == []
        assert verdicts(corrected) == [Verdict.MATCHED, Verdict.REPEATED]
        assert [(total["said"], total["known"]) for total in corrected.totals] == [(50_000, 50_000)]
        words = {"Statement {} reports it as recorded here.", "It is in statement {}."}
        for difference in wrong.differences.all():
            (step,) = difference.steps.all()
            assert (step.settles, step.by) == (True, "system")
            assert step.text in {each.format(corrected.pk) for each in words}

    @pytest.mark.sweep
    def test_that_corrects_an_earlier_statement_wrongly_differs_and_settles_nothing(self):
        payment = a_deposit()
        wrong = confirmed([named(payment.pk, amount="499.00")])
        assert kinds(confirmed([named(payment.pk, amount="498.00")])) == [DifferenceKind.AMOUNT]
        assert drafts.still_open(wrong) == 1

    @pytest.mark.sweep
    def test_of_another_number_than_an_earlier_statement_s_is_said_twice(self):
        payment = a_deposit()
        confirmed([named(payment.pk, authorisation=payment.authorisation, amount="499.00")])
        assert kinds(confirmed([named(payment.pk)])) == [DifferenceKind.DUPLICATE]

    @pytest.mark.sweep
    def test_of_an_earlier_statement_that_says_it_otherwise_is_a_difference(self):
        payment = a_deposit()
        confirmed([named(payment.pk)])
        day = (today() - timedelta(days=1)).isoformat()
        assert kinds(confirmed([named(payment.pk, date=day)])) == [DifferenceKind.DUPLICATE]


class TestAStatement:
    def test_lacks_what_the_house_credited_in_its_days_until_a_later_one_has_it(self):
        payment = a_deposit()
        statement = confirmed([])
        (missing,) = statement.differences.all()
        assert (missing.kind, missing.subject) == (MISSING, f"payment:{payment.pk}")
        later = confirmed([named(payment.pk)])
        (step,) = missing.steps.all()
        assert (step.settles, step.text) == (True, f"It is in statement {later.pk}.")
        assert kinds(later) == []

    @pytest.mark.sweep
    def test_sums_up_each_currency_and_kind_on_both_sides(self):
        first = a_deposit()
        a_deposit(20_000)
        (total,) = confirmed([named(first.pk), named(uuid4(), status="failed")]).totals
        assert total == {
            "currency": "SEK",
            "kind": "deposit",
            "said_count": 1,
            "said": 50_000,
            "known_count": 2,
            "known": 70_000,
        }

    @pytest.mark.sweep
    def test_moves_no_money(self):
        payment = a_payment(a_player())
        before = Journal.objects.count()
        statement = confirmed([named(payment.pk)])
        drafts.note(statement.differences.get().pk, text="look", settles=True, by="staff:1")
        assert Journal.objects.count() == before
        assert balance(payment.player) == 0
        assert Payment.objects.get(pk=payment.pk).state == "waiting"

    def test_is_refused_a_second_time_byte_for_byte(self):
        content = a_file([named(a_deposit().pk)])
        staff = a_member_of_staff("finance")
        first, second = (drafted([], content=content, staff=staff) for _ in range(2))
        drafts.confirm(first.pk, staff)
        with pytest.raises(drafts.SameFile):
            drafts.confirm(second.pk, staff)
        with pytest.raises(drafts.SameFile):
            drafted([], content=content)
        assert StatementLine.objects.count() == 1

    def test_is_kept_whole_or_not_at_all(self):
        staff = a_member_of_staff("finance")
        draft = drafted([named(uuid4()), named(uuid4(), amount="x")], staff=staff)
        with pytest.raises(drafts.Faulty):
            drafts.confirm(draft.pk, staff)
        assert not ProviderStatement.objects.exists()

    def test_is_on_record_with_the_hash_of_its_file(self):
        statement = confirmed([])
        (event,) = events("statement.confirmed", on=str(statement))
        assert event["data"]["sha256"] == bytes(statement.digest).hex()


class TestADraft:
    def test_is_seen_and_confirmed_by_its_uploader_alone(self):
        staff, other = a_member_of_staff("finance"), a_member_of_staff("finance")
        draft = drafted([], staff=staff)
        for do in (drafts.draft, drafts.confirm):
            with pytest.raises(drafts.Gone):
                do(draft.pk, other)
        drafts.discard(draft.pk, other)
        assert drafts.draft(draft.pk, staff).row == draft

    @pytest.mark.sweep
    def test_is_gone_after_an_hour_and_with_the_next_upload_forgotten(self):
        staff = a_member_of_staff("finance")
        draft = drafted([], staff=staff)
        old = StatementDraft.objects.get(pk=draft.pk)
        StatementDraft.objects.filter(pk=old.pk).delete()
        old.at -= drafts.DRAFT_LASTS
        old.save(force_insert=True)
        with pytest.raises(drafts.Gone):
            drafts.draft(draft.pk, staff)
        drafted([named(uuid4())], staff=staff)
        assert not StatementDraft.objects.filter(pk=draft.pk).exists()

    def test_keeps_nothing_but_declared_columns(self):
        columns = ("reference", "kind", "amount", "currency", "date", "status", "payer")
        content = a_file([named(uuid4(), payer="Karlsson"), named("-", amount="x", payer="Karlsson")], columns=columns)
        draft = drafted([], content=content)
        with connection.cursor() as cursor:
            cursor.execute("SELECT d::text FROM wallet_statement_draft AS d WHERE id = %s", [draft.pk])
            assert "Karlsson" not in cursor.fetchone()[0]
        assert (len(draft.lines), len(draft.faults)) == (1, 1)


class TestADifference:
    @pytest.mark.sweep
    def test_is_noted_until_it_is_settled_and_no_longer(self):
        (difference,) = confirmed([named(uuid4())]).differences.all()
        drafts.note(difference.pk, text="asked them", settles=False, by="staff:1")
        drafts.note(difference.pk, text="their mistake", settles=True, by="staff:2")
        with pytest.raises(drafts.Settled):
            drafts.note(difference.pk, text="more", settles=False, by="staff:1")
        assert [step.text for step in difference.steps.order_by("pk")] == ["asked them", "their mistake"]
        assert [e["data"]["text"] for e in events("difference.settled", on=str(difference))] == ["their mistake"]


class TestThePages:
    @pytest.mark.sweep
    def test_lead_from_the_file_through_the_preview_to_the_result(self):
        payment = a_deposit()
        _staff, visitor = visitor_as("finance")
        file = SimpleUploadedFile("november.csv", a_file([named(payment.pk), named("nobody-s", amount="7,50")]))
        days = {"provider": PROVIDER, "since": today(), "until": today()}
        preview = visitor.post("/staff/statements/upload/", days | {"file": file}, follow=True)
        assert "1 matched, 1 differ" in preview.text
        assert "SEK\u00a07.50" in preview.text
        assert not ProviderStatement.objects.exists()
        address = preview.redirect_chain[-1][0]
        assert visitor.get(address).status_code == 200
        result = visitor.post(f"{address}confirm/", follow=True).text
        assert "Unknown payment" in result
        assert "nobody-s" in result
        statement = ProviderStatement.objects.get()
        difference = statement.differences.get()
        note = f"/staff/statements/{statement.pk}/differences/{difference.pk}/"
        assert "Enter a note." in visitor.post(note, follow=True).text
        assert "Note saved." in visitor.post(note, {"text": "asked"}, follow=True).text
        settled = visitor.post(note, {"text": "theirs", "settles": "on"}, follow=True).text
        assert "No open differences." in settled
        assert "theirs" in visitor.get(f"/staff/statements/{statement.pk}/?settled=on").text

    def test_say_of_a_file_that_was_not_let_in_that_it_is_too_large(self):
        _staff, visitor = visitor_as("finance")
        assert "larger than 5 MB" in visitor.get("/staff/statements/?too-much=1").text
        assert "larger than 5 MB" not in visitor.get("/staff/statements/").text

    @pytest.mark.sweep
    @pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
    def test_are_of_days_that_clocks_can_tell(self, day):
        _staff, visitor = visitor_as("finance")
        file = SimpleUploadedFile("x.csv", a_file([]))
        sent = {"provider": PROVIDER, "since": day, "until": day, "file": file}
        assert "Ensure this value is" in visitor.post("/staff/statements/upload/", sent).text

    @pytest.mark.sweep
    def test_show_first_what_differs_and_name_what_the_file_lacks(self):
        payment, lacked = a_deposit(), a_deposit()
        draft = drafted([named(payment.pk), named("nobody-s")])
        visitor = a_visitor()
        visitor.force_login(draft.staff.user)
        page = visitor.get(f"/staff/statements/draft/{draft.pk}/").text
        lines = page.partition("<h2>Lines, differences first</h2>")[2]
        assert lines.index("nobody-s") < lines.index(str(payment.pk))
        assert f"payment:{lacked.pk}" in page.partition("<h2>Missing from the statement</h2>")[2].partition("<h2>")[0]

    @pytest.mark.sweep
    def test_say_of_days_that_are_not_over_that_more_may_come(self):
        staff, visitor = visitor_as("finance")
        early = drafted([], staff=staff)
        assert "The last day has not ended yet" in visitor.get(f"/staff/statements/draft/{early.pk}/").text
        yesterday = today() - timedelta(days=1)
        over = drafts.upload(
            content=a_file([]), name="", provider=PROVIDER, since=yesterday, until=yesterday, staff=staff
        )
        assert "The last day has not ended yet" not in visitor.get(f"/staff/statements/draft/{over.pk}/").text

    @pytest.mark.sweep
    def test_say_what_is_wrong_with_each_line_and_offer_no_confirming(self):
        _staff, visitor = visitor_as("finance")
        file = SimpleUploadedFile("x.csv", a_file([named(uuid4(), amount="1.234,50")]))
        days = {"provider": PROVIDER, "since": today(), "until": today()}
        page = visitor.post("/staff/statements/upload/", days | {"file": file}, follow=True).text
        assert "without thousands separators" in page
        assert "1.234,50" in page
        assert "Confirm statement" not in page
        assert "cannot be confirmed, some lines are invalid" in visitor.get("/staff/statements/").text

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "message"),
        sample(
            [
                ({"until": "2020-01-01"}, "The last day must not be before the first day"),
                ({"since": "2020-01-01"}, "more than 92 days"),
                ({"provider": "x"}, "is not one of the available choices"),
                ({"file": ""}, "Choose a file."),
            ],
            1,
        ),
    )
    def test_report_an_unreadable_file_next_to_the_form(self, changes, message):
        _staff, visitor = visitor_as("finance")
        file = SimpleUploadedFile("x.csv", a_file([]))
        data = {"provider": PROVIDER, "since": today(), "until": today(), "file": file} | changes
        assert message in visitor.post("/staff/statements/upload/", data).text

    @pytest.mark.sweep
    def test_of_another_s_preview_are_not_there(self):
        draft = drafted([])
        _staff, visitor = visitor_as("finance")
        assert visitor.get(f"/staff/statements/draft/{draft.pk}/").status_code == 404

    @pytest.mark.sweep
    def test_let_compliance_read_and_do_nothing(self):
        statement = confirmed([named(uuid4())])
        _staff, visitor = visitor_as("compliance")
        page = visitor.get(f"/staff/statements/{statement.pk}/").text
        assert "Unknown payment" in page
        assert "Settle" not in page.replace("Settled", "")
        assert visitor.post("/staff/statements/upload/").status_code == 403


class TestTheFiles:
    @pytest.mark.sweep
    def test_say_the_same_as_the_page_and_begin_no_formula(self):
        payment = a_deposit()
        statement = confirmed([named("-1cmd", amount="12.34")])
        drafts.note(statement.differences.order_by("pk")[0].pk, text="=1+1", settles=False, by="staff:1")
        _staff, visitor = visitor_as("compliance")
        text = visitor.get(f"/staff/statements/{statement.pk}/statement.csv").content.decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text)))
        (line,) = [row for row in rows if row[:2] == ["2", "Differs"]]
        assert line[5] == "'-1cmd"
        assert line[10] == "12.34"
        assert line[15] == "staff:1: =1+1"
        (lacking,) = [row for row in rows if len(row) > 4 and row[4] == f"payment:{payment.pk}"]
        assert lacking[11] == "500.00"
        content = visitor.get(f"/staff/statements/{statement.pk}/statement.xlsx").content
        sheet = load_workbook(io.BytesIO(content))["Rows"]
        assert [cell.value for cell in sheet[2]][10] == 12.34
        assert len(events("statement.exported", on=str(statement))) == 2
        assert visitor.get(f"/staff/statements/{statement.pk}/statement.pdf").status_code == 404


class TestTheSandboxBank:
    @pytest.mark.sweep
    def test_prints_a_statement_that_matches_to_the_last_line(self):
        payment, withdrawal = a_deposit(), a_payout()
        printed = io.StringIO()
        since, until = today() - timedelta(days=1), today()
        call_command("print_bank_statement", since=since, until=until, stdout=printed)
        draft = drafted([], content=printed.getvalue().encode())
        statement = drafts.confirm(draft.pk, draft.staff)
        assert kinds(statement) == []
        subjects = set(statement.lines.values_list("subject", flat=True))
        assert subjects == {str(payment), str(withdrawal)}
        assert json.dumps(statement.totals).count('"said": 50000') == 2
        assert BankOrder.objects.get().authorisation in printed.getvalue()

    @pytest.mark.sweep
    def test_hands_it_out_in_a_demo_alone(self, settings):
        address = f"/demo/bank/statement.csv?since={today()}&until={today()}"
        settings.DEMO = False
        assert a_visitor().get(address).status_code == 404
        settings.DEMO = True
        assert a_visitor().get(address).text.startswith("reference,authorisation,kind")
        assert a_visitor().get("/demo/bank/statement.csv").text.startswith("reference,authorisation,kind")
        assert a_visitor().get("/demo/bank/statement.csv?since=x").status_code == 404


def test_a_difference_is_of_its_statement():
    first, second = confirmed([named(uuid4())]), confirmed([named(uuid4())])
    _staff, visitor = visitor_as("finance")
    other = Difference.objects.get(statement=second)
    assert visitor.post(f"/staff/statements/{first.pk}/differences/{other.pk}/", {"text": "x"}).status_code == 404
