"""Webhooks: each event once queued, signed, repeated until it is answered, every attempt on record; switched off after
a day of failures. The receiver is `examples/receive_webhook.py`, which runs as anybody runs it.
"""

import json
import os
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from audit import log
from audit.models import Event
from audit.sealing import sealer
from audit.significant import detection
from players import key_rotation
from players.models import Mail
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff, a_visitor, events
from wallet import webhooks
from wallet.models import WEBHOOK_KINDS, DeliveryState, Webhook, WebhookDelivery, WebhookTry
from wallet.seamless_wallet.partners import BadAddress

pytestmark = pytest.mark.django_db

EXAMPLE = Path(settings.BASE_DIR) / "examples" / "receive_webhook.py"
OTHER_KEY = b64encode(bytes(range(32))).decode()
KINDS = ["player.registered", "withdrawal.paid"]


class _Broken(BaseHTTPRequestHandler):
    """Answers every call with the status of the server."""

    def do_POST(self) -> None:
        self.server.seen.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *said: object) -> None:
        """Say nothing."""


@contextmanager
def broken(status: int = 503) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Broken) as server:
        server.status, server.seen = status, []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


@contextmanager
def receiver(secret: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The example, with its address."""
    environment = os.environ | {"WEBHOOK_SECRET": secret}
    with subprocess.Popen(
        [sys.executable, str(EXAMPLE), "0"], env=environment, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout
        port = program.stdout.readline().rpartition(" ")[2].strip()
        try:
            yield f"http://127.0.0.1:{port}/events", program
        finally:
            program.kill()


def a_hook(address: str = "https://hooks.example/sabot", kinds=KINDS) -> tuple[Webhook, str]:
    return webhooks.add(name="Warehouse", address=address, kinds=kinds, by=a_member_of_staff("administrator"))


def happen(kind: str, on: str) -> int:
    """Return an event that is sealed and read."""
    event = log.record(kind, by="system", on=on, data={"name": "Ada Lovelace"}, personal={"email": "ada@example.com"})
    read()
    return event


def read() -> None:
    sealer.seal()
    while detection.find():
        pass


def due_now() -> None:
    WebhookDelivery.objects.update(due_at=Now())


class TestTheReceiver:
    def test_gets_each_event_once_signed_and_without_personal_values(self):
        hook, secret = a_hook()
        with receiver(secret) as (address, program):
            hook = at_address(hook, address)
            event = happen("player.registered", "player:7")
            happen("player.excluded", "player:8")  # not wanted
            read()
            webhooks.send_due()
            delivery = WebhookDelivery.objects.get()
            assert (delivery.state, delivery.event_id, delivery.tries) == (DeliveryState.DELIVERED, event, 1)
            (attempt,) = delivery.attempts.all()
            assert (attempt.status, attempt.said) == (204, "")
            at = Event.objects.get(pk=event).at.isoformat()
            assert program.stdout
            assert program.stdout.readline() == f"player.registered player:7 event {event} of {at}\n"
            webhooks.resend(delivery_id=delivery.pk, by=hook.made_by)
            webhooks.send_due()
            happen("withdrawal.paid", "withdrawal:9")
            webhooks.send_due()
            assert program.stdout.readline().startswith("withdrawal.paid withdrawal:9 ")  # the repetition is not shown
        assert list(delivery.attempts.values_list("status", flat=True)) == [204, 204]
        sent = json.loads(webhooks.body_of(delivery, Event.objects.get(pk=event)))
        assert sent == {
            "delivery": delivery.pk,
            "event": event,
            "kind": "player.registered",
            "at": at,
            "on": "player:7",
        }

    def test_refuses_another_secret_and_an_old_call(self):
        hook, secret = a_hook()
        with receiver("another") as (address, _program):
            at_address(hook, address)
            happen("player.registered", "player:7")
            webhooks.send_due()
            delivery = WebhookDelivery.objects.get()
            assert delivery.attempts.get().status == 401
            _hook, new = webhooks.replace_secret(webhook_id=hook.pk, by=hook.made_by, at_once=True)
        assert new != secret
        with receiver(new) as (address, _program):
            at_address(hook, address)
            due_now()
            webhooks.send_due()
        delivery.refresh_from_db()
        assert (delivery.state, delivery.tries) == (DeliveryState.DELIVERED, 2)
        (event,) = events("webhook.secret_replaced")
        assert new not in str(event)

    def test_of_a_replaced_secret_goes_on_for_a_day_or_until_it_is_ended(self):
        hook, old = a_hook()
        _hook, new = webhooks.replace_secret(webhook_id=hook.pk, by=hook.made_by)
        for number, secret in enumerate((old, new)):
            assert answer_to(hook, secret, number) == 204
        webhooks.end_previous(webhook_id=hook.pk, by=hook.made_by)
        assert [answer_to(hook, secret, 2 + number) for number, secret in enumerate((old, new))] == [401, 204]
        _hook, newest = webhooks.replace_secret(webhook_id=hook.pk, by=hook.made_by)
        as_owner("UPDATE wallet_webhook SET previous_until = clock_timestamp() - interval '1 second'", [])
        assert [answer_to(hook, secret, 4 + number) for number, secret in enumerate((new, newest))] == [401, 204]
        hook.refresh_from_db()
        assert hook.previous_sealed is None  # no longer stored
        kinds = ("webhook.secret_replaced", "webhook.secret_ended")
        said = [event["data"] for kind in kinds for event in events(kind, on=str(hook))]
        assert [bool(data["until"]) for data in said[:2]] == [True, True]
        assert not any(secret in str(said) for secret in (old, new, newest))


def answer_to(hook: Webhook, secret: str, player: int) -> int | None:
    """Return the answer of a receiver with *secret* to the next event."""
    with receiver(secret) as (address, _program):
        at_address(hook, address)
        happen("player.registered", f"player:{player}")
        webhooks.send_due()
    delivery = WebhookDelivery.objects.latest("pk")
    WebhookDelivery.objects.update(state=DeliveryState.DELIVERED, ended_at=Now())
    return delivery.attempts.get().status


def at_address(hook: Webhook, address: str) -> Webhook:
    """Move a webhook to another address."""
    return webhooks.change(webhook_id=hook.pk, name=hook.name, address=address, kinds=hook.kinds, by=hook.made_by)


class TestChanging:
    def test_is_in_the_log_and_keeps_the_secret_and_what_waits(self):
        hook, _secret = a_hook("https://old.example/")
        happen("player.registered", "player:7")
        with broken(200) as server:
            address = f"http://127.0.0.1:{server.server_port}/"
            kinds = ["withdrawal.paid", "player.registered", "withdrawal.paid"]
            changed = webhooks.change(webhook_id=hook.pk, name=" Lake ", address=address, kinds=kinds, by=hook.made_by)
            webhooks.send_due()
            assert len(server.seen) == 1  # type: ignore[attr-defined]
        assert (changed.name, changed.kinds, changed.key_name) == ("Lake", sorted(set(kinds)), hook.key_name)
        (event,) = events("webhook.changed", on=str(hook))
        assert event["by"] == str(hook.made_by)
        assert event["data"] == {
            "before": {"name": "Warehouse", "address": "https://old.example/", "kinds": KINDS},
            "after": {"name": "Lake", "address": address, "kinds": KINDS},
        }

    @pytest.mark.parametrize(
        ("asked", "refusal"),
        [
            ({"address": "http://hooks.example/"}, BadAddress),
            ({"address": "https://10.0.0.5/x"}, BadAddress),
            ({"address": "https://u@hooks.example/"}, BadAddress),
            ({"kinds": []}, webhooks.WebhookError),
            ({"kinds": ["login.failed"]}, webhooks.WebhookError),
            ({}, webhooks.WebhookError),  # nothing would change
        ],
        ids=str,
    )
    def test_takes_what_adding_takes(self, asked, refusal, settings):
        settings.PARTNER_NETWORKS, settings.DEMO = [], False
        hook, _secret = a_hook()
        given = {"name": hook.name, "address": hook.address, "kinds": hook.kinds} | asked
        with pytest.raises(refusal):
            webhooks.change(webhook_id=hook.pk, **given, by=hook.made_by)
        assert not events("webhook.changed")

    def test_by_the_web_login_needs_the_event_of_somebody_who_may(self):
        hook, _secret = a_hook()
        stated = {"name": hook.name, "address": hook.address, "kinds": hook.kinds}
        mine = "https://mine.example/"
        data = {"before": stated, "after": stated | {"address": mine}}
        for by in (None, a_member_of_staff("operator"), hook.made_by):
            if by:
                log.record("webhook.changed", by=str(by), on=str(hook), data=data)
            if by == hook.made_by:
                assert Webhook.objects.filter(pk=hook.pk).update(address=mine) == 1
                continue
            with pytest.raises(DatabaseError, match="the log does not say"), transaction.atomic():
                Webhook.objects.filter(pk=hook.pk).update(address=mine)

    def test_is_a_page_of_administrators(self):
        hook, _secret = a_hook()
        member, visitor = a_member_of_staff("administrator"), a_visitor()
        visitor.force_login(member.user)
        page = f"/staff/webhooks/{hook.pk}/"
        form = {"name": "Lake", "address": "https://10.0.0.5/", "kinds": KINDS}
        assert "This URL is not allowed" in visitor.post(f"{page}change/", form).text
        form["address"] = "https://hooks.example/lake"
        assert "https://hooks.example/lake" in visitor.post(f"{page}change/", form, follow=True).text
        assert visitor.post(f"{page}secret/").context["secret"]
        shown = visitor.get(page).text
        assert f'<span class="num">{hook.key_name}</span> until' in shown
        assert (
            "The replaced secret is no longer valid."
            in visitor.post(f"{page}secret/", {"replace": "end"}, follow=True).text
        )
        assert "Replaced key" not in visitor.get(page).text
        compliance = a_visitor()
        compliance.force_login(a_member_of_staff("compliance").user)
        assert compliance.get(f"{page}change/").status_code == 403


class TestFailures:
    def test_are_repeated_with_growing_pauses_and_given_up(self):
        with broken() as server:
            hook, _secret = a_hook(f"http://127.0.0.1:{server.server_port}/")
            happen("player.registered", "player:7")
            happen("player.registered", "player:8")
            pauses = []
            for _ in range(3):
                due_now()
                webhooks.send_due()
                first = WebhookDelivery.objects.earliest("pk")
                pauses.append(first.due_at - first.attempts.latest("pk").at)
            assert len(server.seen) == 3  # type: ignore[attr-defined]  # one of a webhook that does not answer in each run
            assert [pause.total_seconds() // 10 for pause in pauses] == [1, 2, 4]
            WebhookDelivery.objects.filter(pk=first.pk).update(tries=webhooks.MOST_TRIES - 1)
            WebhookDelivery.objects.exclude(pk=first.pk).update(due_at=Now() + timedelta(hours=1))
            WebhookDelivery.objects.filter(pk=first.pk).update(due_at=Now())
            webhooks.send_due()
        first.refresh_from_db()
        assert first.state == DeliveryState.GIVEN_UP
        assert {each.said for each in WebhookTry.objects.all()} == {"HTTP 503"}
        hook.refresh_from_db()
        assert hook.failing_since

    def test_of_a_day_switch_it_off_with_a_mail_and_nothing_is_lost(self):
        administrator = a_member_of_staff("administrator")
        with broken() as server:
            hook, _secret = a_hook(f"http://127.0.0.1:{server.server_port}/")
            happen("player.registered", "player:7")
            webhooks.send_due()
            Webhook.objects.filter(pk=hook.pk).update(failing_since=Now() - webhooks.OFF_AFTER)
            due_now()
            webhooks.send_due()
            due_now()
            webhooks.send_due()
            assert len(server.seen) == 2  # type: ignore[attr-defined]
            hook.refresh_from_db()
            assert hook.off_at
            assert events("webhook.failed", on=str(hook))
            reported = Mail.objects.get(address=administrator.user.email, template="webhook_failed")
            assert f"/staff/webhooks/{hook.pk}/" in reported.body
            assert "HTTP 503" in reported.body
            happen("player.registered", "player:8")  # while it is off: not queued
            server.status = 200  # type: ignore[attr-defined]
            webhooks.switch(webhook_id=hook.pk, is_on=True, by=administrator)
            due_now()
            webhooks.send_due()
        assert [each.state for each in WebhookDelivery.objects.all()] == [DeliveryState.DELIVERED]
        hook.refresh_from_db()
        assert hook.failing_since is None

    def test_to_reach_anybody_is_on_record_too(self):
        a_hook("https://10.0.0.5.nip.invalid/")
        happen("player.registered", "player:7")
        webhooks.send_due()
        attempt = WebhookTry.objects.get()
        assert attempt.status is None
        assert attempt.said

    def test_a_redirect_is_not_followed(self):
        with broken(307) as server:
            a_hook(f"http://127.0.0.1:{server.server_port}/")
            happen("player.registered", "player:7")
            webhooks.send_due()
            assert len(server.seen) == 1  # type: ignore[attr-defined]
        assert WebhookTry.objects.get().said == "HTTP 307"


class TestAdding:
    @pytest.mark.parametrize(
        "address",
        ["http://hooks.example/", "https://10.0.0.5/x", "https://169.254.169.254/", "https://u@hooks.example/"],
    )
    def test_takes_https_and_no_network_of_the_house(self, address, settings):
        settings.PARTNER_NETWORKS, settings.DEMO = [], False
        with pytest.raises(BadAddress):
            a_hook(address)

    @pytest.mark.parametrize(
        "address",
        [
            "https://[x",
            "https://hooks.example:99999/",
            "HTTPS://hooks.example/",
            "https://hooks.example/\u00e5",
            "https://hooks.example/a b",
            "https://@hooks.example/",
        ],
    )
    def test_an_address_that_cannot_be_called_is_refused_on_the_page(self, address):
        administrator = a_visitor()
        administrator.force_login(a_member_of_staff("administrator").user)
        form = {"name": "Warehouse", "address": address, "kinds": KINDS}
        assert "address" in administrator.post("/staff/webhooks/new/", form).context["form"].errors
        assert not Webhook.objects.exists()

    @pytest.mark.parametrize("kinds", [[], ["session.began"], ["player.registered", "login.failed"]])
    def test_takes_kinds_of_the_list_only(self, kinds):
        with pytest.raises(webhooks.WebhookError):
            a_hook(kinds=kinds)

    @pytest.mark.parametrize(
        "changes", [{"kinds": ["login.failed"]}, {"kinds": []}, {"address": "http://hooks.example/"}], ids=str
    )
    def test_the_database_takes_no_others_either(self, changes):
        said = {"name": "x", "address": "https://hooks.example/", "kinds": KINDS, "key_name": "k", "sealed": b""}
        by = a_member_of_staff("administrator")
        with pytest.raises(DatabaseError), transaction.atomic():
            Webhook.objects.create(**said | changes, made_by=by)

    def test_every_kind_is_one_that_the_house_records(self):
        assert set(WEBHOOK_KINDS) <= set(detection.kinds())

    def test_no_secret_is_stored_readably_and_a_retired_key_is_replaced(self, settings):
        hook, secret = a_hook()
        assert secret.encode() not in bytes(hook.sealed)
        assert webhooks.resealed(hook.key_name, bytes(hook.sealed)) is None
        settings.PARTNER_KEY = f"{OTHER_KEY},{settings.PARTNER_KEY}"
        again = webhooks.resealed(hook.key_name, bytes(hook.sealed))
        assert again
        assert key_rotation.unseal(OTHER_KEY, again, f"webhook:{hook.key_name}".encode()).decode() == secret


class TestThePages:
    def test_show_the_secret_once_and_every_delivery_with_its_answer(self):
        member, visitor = a_member_of_staff("administrator"), a_visitor()
        visitor.force_login(member.user)
        with broken() as server:
            address = f"http://127.0.0.1:{server.server_port}/"
            form = {"name": "Warehouse", "address": address, "kinds": KINDS}
            made = visitor.post("/staff/webhooks/new/", form)
            hook = Webhook.objects.get()
            secret = made.context["secret"]
            assert secret in made.text
            assert made["Cache-Control"].startswith("max-age=0")
            happen("player.registered", "player:7")
            webhooks.send_due()
        page = f"/staff/webhooks/{hook.pk}/"
        shown = visitor.get(page)
        assert secret not in shown.text
        for text in ("player.registered", "HTTP 503".removeprefix("HTTP "), "failing since", "waiting"):
            assert text in shown.text
        delivery = WebhookDelivery.objects.get()
        assert f"next attempt {delivery.due_at:%m-%d %H:%M:%S}" in shown.text
        resend = f"/staff/webhooks/deliveries/{delivery.pk}/resend/"
        assert "is being resent" in visitor.post(resend, follow=True).text  # it waited for its second attempt
        assert "will be sent automatically" in visitor.post(resend, follow=True).text
        WebhookDelivery.objects.update(state=DeliveryState.GIVEN_UP, ended_at=Now())
        assert "is being resent" in visitor.post(resend, follow=True).text
        assert visitor.post(f"{page}switch/", {"on": "0"}, follow=True).text.count("Warehouse is switched off.")
        assert events("webhook.switched_off", on=str(hook))[0]["by"] == str(member)
        assert "1" in visitor.get("/staff/webhooks/").text
