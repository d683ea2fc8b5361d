"""Outgoing mail: written in the transaction of its cause, sent by a task, retried on failure.

A mail is a plain-text template in ``templates/mail``, in the reader's language. Its first line is
the subject; the body follows a blank line. Mail to staff is in ``templates/staff/mail``, in
English.
"""

from collections.abc import Mapping
from contextlib import suppress
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.db.models.functions import Now
from django.template import Context, Engine
from django.utils.translation import override
from kombu.exceptions import OperationalError

from audit import retention
from audit.models import RetainedData
from players.models import Mail, User

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
    """Write ``templates/mail/<template>.txt`` to *user*, in their language, in the current transaction."""
    return _write(user, user.email, user.language, f"mail/{template}", context)


def write_to_staff(*, user: User, template: str, context: Mapping[str, object]) -> None:
    """Write ``templates/staff/mail/<template>.txt`` to a staff member, in the current transaction."""
    _write(user, user.email, settings.LANGUAGE_CODE, f"staff/mail/{template}", context)


def write_to(*, address: str, language: str, template: str, context: Mapping[str, object]) -> None:
    """Write to an e-mail address that may belong to no user."""
    _write(None, address, language, f"mail/{template}", context)


def send_due() -> None:
    """Send all mail that is due, each in its own transaction. Several workers can share the work."""
    while _send_next():
        pass


def forget_old() -> int:
    """Erase address, subject and body of mail written long enough ago. Return the number of mails.

    Mail that is still to be sent is kept.
    """
    old = Mail.objects.filter(written_at__lt=Now() - retention.kept(RetainedData.MAIL), next_try_at=None)
    return old.exclude(address="").update(address="", subject="", sealed_body=b"")


def _write(user: User | None, address: str, language: str, path: str, context: Mapping[str, object]) -> Mail:
    with override(language):
        plain = Context({**context, "language": language}, autoescape=False)
        text = Engine.get_default().get_template(f"{path}.txt").render(plain)
    subject, _blank, body = text.strip().partition("\n")
    _folder, _slash, template = path.rpartition("/")
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
