"""Mail: written with the change it reports, sent once, kept until it can be sent."""

from concurrent.futures import ThreadPoolExecutor
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPSenderRefused

import pytest
from django.core import mail as post
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connections, transaction

from casino.celery import app
from players import mail
from players.models import Mail
from players.tasks import send_mail
from tests.builders import a_player
from tests.people import a_visitor, last_mail, mailed_code

TEMPLATE = "verify_address"


class Unplugged(BaseEmailBackend):
    """A mail server that is down."""

    def send_messages(self, email_messages):
        raise SMTPException("the post office is closed")


class Particular(BaseEmailBackend):
    """A mail server that refuses some recipients and names them."""

    def send_messages(self, email_messages):
        (address,) = email_messages[0].to
        said = f"5.1.1 <{address}>: there is no {address.partition('@')[0]} here".encode()
        if address.startswith("from."):
            raise SMTPSenderRefused(553, said, address)
        raise SMTPRecipientsRefused({address: (550, said)})


def write(code: str = "ABCD-EFGH", language: str = "en", address: str = "someone@example.com") -> Mail:
    mail.write_to(address=address, language=language, template=TEMPLATE, context={"code": code})
    return Mail.objects.latest("id")


@pytest.mark.django_db
class TestAMail:
    def test_is_in_the_readers_language_with_its_first_line_as_the_subject(self):
        player = a_player()
        player.user.language = "de"
        mail.write(user=player.user, template=TEMPLATE, context={"code": "ABCD-EFGH"})
        written = last_mail(player.user.email, TEMPLATE)
        assert (written.user, written.language) == (player.user, "de")
        assert written.subject
        assert "\n" not in written.subject
        assert not written.body.startswith(written.subject)
        assert mailed_code(player.user.email) == "ABCD-EFGH"

    def test_is_plain_text_in_which_nothing_is_escaped(self):
        assert "A<&>'B" in write("A<&>'B").body

    def test_is_never_written_where_what_it_tells_about_did_not_happen(self):
        with transaction.atomic():
            write()
            transaction.set_rollback(True)
        assert not Mail.objects.exists()

    def test_is_sent_once_and_kept_in_a_demo(self):
        written = write()
        send_mail()
        send_mail()
        (sent,) = post.outbox
        assert (sent.subject, sent.to) == (written.subject, ["someone@example.com"])
        written.refresh_from_db()
        assert (written.attempts, written.next_try_at) == (1, None)
        assert written.sent_at
        assert "ABCD-EFGH" in written.body

    def test_is_erased_once_sent_in_production(self, settings):
        settings.DEMO = False
        written = write()
        send_mail()
        written.refresh_from_db()
        assert written.sent_at
        assert written.body == ""

    def test_that_cannot_be_sent_is_tried_again_later_and_in_the_end_no_more(self, settings):
        settings.EMAIL_BACKEND = "tests.players.test_mail.Unplugged"
        settings.DEMO = False
        written = write()
        send_mail()
        send_mail()
        written.refresh_from_db()
        assert (written.attempts, written.sent_at) == (1, None)
        assert written.last_error == "SMTPException: the post office is closed"
        assert written.next_try_at is not None
        assert written.next_try_at > written.written_at
        assert "ABCD-EFGH" in written.body
        Mail.objects.update(attempts=mail.ATTEMPTS - 1, next_try_at=written.written_at)
        send_mail()
        given_up = Mail.objects.get(pk=written.pk)
        assert (given_up.attempts, given_up.next_try_at) == (mail.ATTEMPTS, None)

    @pytest.mark.parametrize("domain", ["ü" * 63 + ".example", "xn--aé.example"], ids=["too long", "punycode"])
    def test_to_an_address_that_no_mail_can_carry_keeps_no_other_back(self, domain):
        """Anyone can request a mail to any address that a form accepts."""
        unfit = write(address=f"someone@{domain}")
        write(address="reader@example.com")
        send_mail()
        assert [sent.to for sent in post.outbox] == [["reader@example.com"]]
        unfit.refresh_from_db()
        assert (unfit.attempts, unfit.sent_at) == (1, None)
        assert unfit.last_error == "UnicodeError"

    @pytest.mark.parametrize(
        ("address", "kept"),
        [("asa@example.com", "SMTPRecipientsRefused: 550"), ("from.asa@example.com", "SMTPSenderRefused: 553")],
    )
    def test_that_a_server_refuses_keeps_its_code_and_no_address(self, settings, address, kept):
        settings.EMAIL_BACKEND = "tests.players.test_mail.Particular"
        written = write(address=address)
        send_mail()
        written.refresh_from_db()
        assert written.last_error == kept


def test_several_workers_send_each_mail_once(cloned_db):
    for number in range(12):
        write(address=f"reader{number}@example.com")

    def work(_number: int) -> None:
        mail.send_due()
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert sorted(sent.to[0] for sent in post.outbox) == sorted(f"reader{number}@example.com" for number in range(12))


def test_beat_sends_what_no_notification_announced():
    assert app.conf.beat_schedule["send mail"]["task"] == send_mail.name


@pytest.mark.django_db
class TestTheOutboxOfADemo:
    def test_shows_the_newest_first_with_its_code(self):
        write("FIRS-TONE")
        write("SECO-NDON")
        page = a_visitor().get("/demo/outbox/").text
        assert page.index("SECO-NDON") < page.index("FIRS-TONE")

    def test_shows_one_address_only_where_asked(self):
        write("FIRS-TONE", address="one@example.com")
        write("SECO-NDON", address="two@example.com")
        page = a_visitor().get("/demo/outbox/", {"address": "ONE@example.com"}).text
        assert "FIRS-TONE" in page
        assert "SECO-NDON" not in page

    def test_is_no_page_of_a_production_house(self, settings):
        settings.DEMO = False
        write()
        assert a_visitor().get("/demo/outbox/", follow=True).status_code == 404
