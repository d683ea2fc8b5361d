"""Outgoing mail: written in the transaction of its cause, sent by a task, retried on failure.

A mail is a plain-text template in ``templates/mail``, in the reader's language, or a part of the template of its
subject (`SUBJECTS`). Its first line is the subject; the body follows a blank line. Mail to staff is in
``templates/staff/mail``: in the language that its reader has chosen in the back office, or else in English.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from typing import Final

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.db.models.functions import Now
from django.template import Context, Engine
from django.urls import reverse
from django.utils.translation import override
from kombu.exceptions import OperationalError

from audit import approvals, retention
from audit.log import Json
from audit.models import Approval, Category, Clock, Decision, RetainedData, Significant, Verdict, Weight
from audit.significant import workflow
from players.models import ApprovalNotification, Mail, Staff, User

SUBJECTS: Final = frozenset(
    {
        *("account", "approvals", "complaint", "deposit", "documents", "identity", "limits", "log", "service"),
        *("staff", "withdrawal"),
    }
)
"""First words of mails that are parts of one template: ``deposit.txt#deposit_held``."""

EXPIRES = 60  # seconds after which the task message expires; beat runs the task every minute
LONGEST_ERROR = Mail._meta.get_field("last_error").max_length
NOBODY = "nobody.invalid"  # the host of invented addresses: no mail is sent there
ATTEMPTS = 12  # about two days: the delay doubles from one minute up to half a day

DUE = """
SELECT id FROM players_mail WHERE next_try_at <= clock_timestamp()
ORDER BY next_try_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
SENT = """
UPDATE players_mail SET sent_at = clock_timestamp(), next_try_at = NULL, attempts = attempts + 1, last_error = '',
    sealed_body = CASE WHEN %s THEN sealed_body ELSE '' END
WHERE id = %s
"""
FAILED = """
UPDATE players_mail SET attempts = attempts + 1, last_error = %s, next_try_at = CASE WHEN attempts + 1 < %s THEN
    clock_timestamp() + least(interval '1 minute' * (2 ^ attempts), interval '12 hours') END
WHERE id = %s
"""


def write(*, user: User, template: str, context: Mapping[str, object]) -> Mail:
    """Write the mail *template* to *user*, in their language, in the current transaction."""
    return _write(user, user.email, user.language, "mail", template, context)


def write_to_staff(
    *, user: User, template: str, context: Mapping[str, object], page: str, of: Sequence[object] = ()
) -> None:
    """Write the mail *template* to a staff member, in their language.

    It is written in the current transaction. What *context* has in words must still be translatable: the template
    translates it. *page* is the URL name of the page that the mail speaks of, and *of* its arguments. The template
    shows its address, ``link``.
    """
    path, scheme = reverse(page, args=list(of)), "http" if settings.DEMO else "https"
    link = {"link": f"{scheme}://{settings.HOUSE_HOST}{path}"}
    _write(user, user.email, user.language, "staff/mail", template, {**context, **link})


def write_to(*, address: str, language: str, template: str, context: Mapping[str, object]) -> None:
    """Write to an e-mail address that may belong to no user."""
    _write(None, address, language, "mail", template, context)


def send_due() -> None:
    """Send all mail that is due, each in its own transaction. Several workers can share the work."""
    while _send_next():
        pass


def forget_old() -> int:
    """Erase address, subject and body of mail written long enough ago. Return the number of mails.

    Mail that is still to be sent is kept.
    """
    old = Mail.objects.filter(written_at__lt=Now() - retention.period(RetainedData.MAIL), next_try_at=None)
    return old.exclude(address="").update(address="", subject="", sealed_body=b"")


def file_of(folder: str, template: str) -> str:
    """Return the name of the template of a mail, as Django's engine finds it."""
    subject = template.partition("_")[0]
    return f"{folder}/{subject}.txt#{template}" if subject in SUBJECTS else f"{folder}/{template}.txt"


def _write(
    user: User | None, address: str, language: str, folder: str, template: str, context: Mapping[str, object]
) -> Mail:
    with override(language):
        plain = Context({**context, "language": language}, autoescape=False)
        text = Engine.get_default().get_template(file_of(folder, template)).render(plain)
    subject, _blank, body = text.strip().partition("\n")
    with transaction.atomic():
        written = Mail(user=user, address=address, language=language, template=template, subject=subject.strip())
        written.body = body.strip()
        if address.endswith(f"@{NOBODY}"):
            written.next_try_at = None
        written.save()
        transaction.on_commit(_ask_for_the_post)
    return written


def _ask_for_the_post() -> None:
    """Send a Celery message as a hint. Without it, beat sends the mail within a minute."""
    with suppress(OperationalError):
        current_app.send_task("players.tasks.send_mail", retry=False, expires=EXPIRES)


@transaction.atomic
def _send_next() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(DUE)
        row = cursor.fetchone()
        if row is None:
            return False
        mail = Mail.objects.get(pk=row[0])
        try:
            EmailMessage(mail.subject, mail.body, settings.DEFAULT_FROM_EMAIL, [mail.address]).send()
        except (OSError, SMTPException, ValueError) as error:  # ValueError: an address that cannot be used in a mail
            cursor.execute(FAILED, [_said(error)[:LONGEST_ERROR], ATTEMPTS, mail.pk])
        else:
            cursor.execute(SENT, [settings.DEMO, mail.pk])
    return True


def _said(error: Exception) -> str:
    """Return the error and the server's code.

    A refusing server repeats the address. The text therefore goes into a column that is erased with
    it, and into no other.
    """
    name = type(error).__name__
    match error:
        case SMTPRecipientsRefused():
            return f"{name}: {', '.join(sorted({str(code) for code, _ in error.recipients.values()}))}"
        case SMTPResponseException():
            return f"{name}: {error.smtp_code}"
        case SMTPException() | OSError():
            return f"{name}: {error}"
    return name


TEMPLATES = {
    "log.refused": "log_refused",
    "log.accepted": "log_signed_again",
    "log.lags": "log_lags",
    "log.caught_up": "log_signed_again",
    "log.altered": "log_altered",
    "log.verified": "log_verified",
    "log.unwitnessed": "log_unwitnessed",
    "log.witnessed": "log_witnessed",
}


def mail_alert(kind: str, data: Mapping[str, Json]) -> None:
    """Mail an alarm to all staff who may read the event log, in the current transaction."""
    for user in holders("audit.view_event"):
        write_to_staff(user=user, template=TEMPLATES[kind], context={"data": data}, page="staff_log")


def holders(permission: str) -> list[User]:
    """Return the active staff whose roles have a permission (``app.codename``)."""
    app, _dot, codename = permission.partition(".")
    return list(
        User.objects.filter(
            is_active=True,
            staff__isnull=False,
            groups__permissions__codename=codename,
            groups__permissions__content_type__app_label=app,
        )
        .select_related("staff")
        .distinct()
        .order_by("pk")
    )


PAUSE: Final = timedelta(minutes=5)  # between two mails
MOST: Final = 1000  # alerts per mail
LOCK: Final = 1021  # advisory lock, so that only one worker mails


@transaction.atomic
def mail_alerts() -> int:
    """Mail the alerts that have not been mailed, at most once per `PAUSE`. Return the number of alerts.

    An advisory lock prevents two workers from mailing the same alerts. Staff who muted a category
    get no alerts of it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        (is_alone,) = cursor.fetchone()
    alerts = Significant.objects.filter(weight=Weight.ALERT)
    if not is_alone or alerts.filter(mailed_at__gt=Clock() - PAUSE).exists():
        return 0
    found = list(alerts.filter(mailed_at=None).order_by("pk")[:MOST])
    if not found:
        return 0
    Significant.objects.filter(pk__in=[each.pk for each in found]).update(mailed_at=Clock())
    counted = Counter((Category(each.category), each.title) for each in found)
    for user in holders(workflow.PERMISSION):
        unwanted = workflow.muted(str(user.staff))
        lines = [
            (category.label, title, count) for (category, title), count in counted.items() if category not in unwanted
        ]
        if lines:
            count = sum(number for _category, _title, number in lines)
            context = {"lines": lines, "count": count}
            write_to_staff(user=user, template="significant", context=context, page="staff_significant")
    return len(found)


GATHERED_FOR: Final = timedelta(minutes=5)
# A concurrent worker waits here and finds the rows deleted.
TAKE: Final = "DELETE FROM players_approval_notification RETURNING approval_id"


def keep(asked: Approval) -> None:
    """Queue mail about an approval, in the current transaction."""
    ApprovalNotification.objects.create(approval=asked)


@transaction.atomic
def mail_due() -> int:
    """Mail the queued notifications once the oldest is `GATHERED_FOR` old. Return how many there were.

    Two workers never mail the same notification. If a worker dies, its transaction rolls back and the next
    call mails them.
    """
    if not ApprovalNotification.objects.filter(at__lte=Clock() - GATHERED_FOR).exists():
        return 0
    with connection.cursor() as cursor:
        cursor.execute(TAKE)
        concerned = [approval_id for (approval_id,) in cursor.fetchall()]
    _mail_deciders(approvals.waiting().filter(pk__in=concerned))
    ended = Decision.objects.filter(pk__in=concerned).exclude(verdict=Verdict.WITHDRAWN)
    _mail_requesters(ended.select_related("approval").order_by("pk"))
    return len(concerned)


def _mail_deciders(waiting: Iterable[Approval]) -> None:
    """Mail all who may decide one of the requests. A request of the same person is left out."""
    found = sorted(waiting, key=lambda asked: asked.expires_at)
    deciders = {user for each in {asked.kind for asked in found} for user in holders(approvals.kind(each).permission)}
    for user in sorted(deciders, key=lambda each: each.pk):
        mine = user.get_all_permissions()
        theirs = [
            asked
            for asked in found
            if approvals.kind(asked.kind).permission in mine and asked.person != user.staff.person
        ]
        if theirs:
            context = {"lines": _counted(theirs), "count": len(theirs), "first": theirs[0].expires_at}
            write_to_staff(user=user, template="approvals_waiting", context=context, page="staff_approvals")


def _mail_requesters(ended: Iterable[Decision]) -> None:
    """Mail all who asked for one of the requests, at the account that asked."""
    by_account: dict[str, list[Decision]] = {}
    for decision in ended:
        by_account.setdefault(decision.approval.by, []).append(decision)
    numbers = [account.removeprefix("staff:") for account in by_account]
    for member in Staff.objects.filter(pk__in=numbers, user__is_active=True).select_related("user").order_by("pk"):
        lines = [
            (each.approval_id, approvals.kind(each.approval.kind).title, Verdict(each.verdict).label)
            for each in by_account[str(member)]
        ]
        write_to_staff(user=member.user, template="approvals_ended", context={"lines": lines}, page="staff_approvals")


def _counted(asked: Collection[Approval]) -> list[tuple[str, int]]:
    return sorted(Counter(approvals.kind(each.kind).title for each in asked).items())
