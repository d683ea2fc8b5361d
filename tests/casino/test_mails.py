"""Every mail in every language: complete. Nowhere does a full stop follow that of the Danish "kr."."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from django.conf import settings
from django.template import Context, Engine
from django.urls import reverse
from django.utils.translation import override

from audit.models import Verdict
from players.account import registration
from players.mail import file_of, write_to_staff
from players.models import Mail
from tests.harness.product import mails
from tests.harness.sweeps import sweep_languages
from tests.people import a_member_of_staff
from wallet.models import Payment, Withdrawal
from wallet.money import format_money

LANGUAGES = [code for code, _ in settings.LANGUAGES]
MAILS = sorted(mails("mail"))


def written(template: str, language: str) -> str:
    """Render a mail with all values of any mail; Danish money ends in its own full stop."""
    context = {
        "amount": format_money(100_000, "DKK", language),
        "payment": Payment(
            amount=100_000, currency="DKK", authorisation="A-1", begun_at=datetime(2026, 1, 1, tzinfo=UTC)
        ),
        "withdrawal": Withdrawal(pk=7, amount=100_000, currency="DKK"),
        "account": "SE ··· 7466",
        "late": True,
        "number": 7,
        "code": "ABCD-EFGH",
        "change": -100_000,
        "currency": "DKK",
        "reason": "-",
        "note": "-",
        "subject": "-",
        "text": "-",
        "support": settings.SUPPORT_EMAIL,
        "when": "1 januar 2026, 14.05",
        "lines": [("-", format_money(100_000, "DKK", language)), ("-", "")],
        "years": 5,
        "language": language,
    }
    with override(language):
        return Engine.get_default().get_template(file_of("mail", template)).render(Context(context, autoescape=False))


STAFF_MAILS = sorted(mails("staff/mail"))
STAFF_PAGES = {
    "approvals_ended": "staff_approvals",
    "approvals_waiting": "staff_approvals",
    "significant": "staff_significant",
    "scheduled_report": "staff_report",
    "staff_account": "staff_home",
    "staff_suspended": "staff_approval",
    "staff_suspension_unconfirmed": "staff_approval",
    "table_stopped": "staff_incident",
    "webhook_failed": "staff_webhook",
} | {name: "staff_log" for name in STAFF_MAILS if name.startswith("log_")}


@pytest.mark.django_db
def test_every_mail_to_staff_links_to_the_page_it_speaks_of():
    user = a_member_of_staff("compliance").user
    context = {"lines": [], "count": 2, "data": {}, "first": datetime(2026, 1, 1, tzinfo=UTC), "action": "staff.roles"}
    for template in STAFF_MAILS:
        page = STAFF_PAGES[template]
        of = [7] if page in ("staff_approval", "staff_incident", "staff_report", "staff_webhook") else []
        write_to_staff(user=user, template=template, context=context, page=page, of=of)
        address = f"http://{settings.HOUSE_HOST}{reverse(page, args=of)}"
        # Followed by a space or the end of the line, so that no full stop becomes part of the address.
        assert re.search(rf"{re.escape(address)}(\s|$)", Mail.objects.latest("pk").body), template


VALUES = {
    "lines": [(7, "balance adjustment", Verdict.APPROVED.label)],
    "data": {"finding": "Leaf 7 differs.", "reason": "-", "since": "2026-01-01", "size": 7, "needed": 2},
    "first": datetime(2026, 1, 1, tzinfo=UTC),
    "count": 2,
    "asked_by": "-",
    "said": "HTTP 500",
}


@pytest.mark.django_db
@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_mail_to_staff_is_in_the_language_of_its_reader(language):
    """Every line that is specific to a mail differs from the line of the English mail."""
    readers = {read_in: a_member_of_staff("compliance").user for read_in in ("en", language)}
    for read_in, user in readers.items():
        registration.choose_language(user=user, language=read_in)
        user.refresh_from_db()
    for template in STAFF_MAILS:
        page = STAFF_PAGES[template]
        of = [7] if page in ("staff_approval", "staff_incident", "staff_report", "staff_webhook") else []
        texts = []
        for read_in, user in readers.items():
            with override("en" if read_in != "en" else language):  # the language of the process decides nothing
                context = VALUES | {"lines": VALUES["lines"] if template != "approvals_waiting" else [("payout", 2)]}
                write_to_staff(user=user, template=template, context=context, page=page, of=of)
            mail = Mail.objects.filter(user=user).latest("pk")
            assert mail.language == read_in, template
            texts.append([mail.subject, *(line for line in mail.body.splitlines() if len(line.split()) > 3)])
        assert not {*texts[0]} & {*texts[1]}, template


@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_no_sentence_ends_twice(language):
    texts = {template: written(template, language) for template in MAILS}
    assert [template for template, text in texts.items() if ".." in text or not text.strip()] == []


DANISH = Path(settings.BASE_DIR, "locale/da/LC_MESSAGES/django.po")
AMOUNT_AT_THE_END = re.compile(
    r"%\((?:amount|limit|left|paid|staked|stake|balance|total|sum|minimum|maximum)\)s\.(?!\w)"
)


def test_no_danish_sentence_ends_with_an_amount() -> None:
    """It would read "100 kr..". The pages of Chemin de Fer take the second full stop away themselves."""
    with DANISH.open("rb") as catalogue:
        texts = [
            str(text)
            for message in read_po(catalogue)
            if not all(file.startswith("games/chemin/") for file, _line in message.locations)
            for text in (message.string if isinstance(message.string, list | tuple) else (message.string,))
        ]
    assert len(texts) > 1000
    assert [text for text in texts if AMOUNT_AT_THE_END.search(text)] == []
