"""Webhooks: announce events to the operator's own systems, signed, with retries, each attempt recorded.

A webhook says that an event happened: its number, kind, time, and subject as the event log names it
(``player:7``). It has no personal values and no amounts; a system that needs them reads the event by
the API. The calls go the way of calls to operators (`wallet.operator_wallet.operators`): https, no
network of the house, no redirects, five seconds. The signature is that of the seamless wallet
(`wallet.seamless_wallet.signing`; docs/webhooks.md).

`queue_new` reads each leaf of the event log once, as finders of significant events do, so a delivery
is committed for every sealed event. Rows in PostgreSQL are the queue; Celery messages are only hints.
"""

import json
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, timedelta
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext
from kombu.exceptions import OperationalError

from audit import log
from audit.models import Category, Event, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves
from players import key_rotation, mail
from players.models import Staff
from wallet.models import WEBHOOK_KINDS, DeliveryState, Webhook, WebhookDelivery, WebhookTry
from wallet.operator_wallet import operators
from wallet.seamless_wallet import partners, signing

MANAGE: Final = "wallet.manage_webhooks"
READERS: Final = (MANAGE, "wallet.see_webhooks")
EXPIRES: Final = 60  # seconds; older hints are dropped
MOST_TRIES: Final = 20  # more than twelve hours
FIRST_PAUSE: Final = timedelta(seconds=10)  # between two attempts; it doubles
LONGEST_PAUSE: Final = timedelta(hours=1)
OFF_AFTER: Final = timedelta(hours=24)  # without a successful attempt
LONGEST_SAID: Final = 200
OVERLAP: Final = timedelta(hours=24)  # for which a replaced secret signs next to the new one
OK: Final = range(200, 300)
DUE: Final = """
SELECT delivery.id FROM wallet_webhook_delivery AS delivery JOIN wallet_webhook AS webhook ON webhook.id = webhook_id
WHERE delivery.state = 'waiting' AND delivery.due_at <= clock_timestamp() AND webhook.off_at IS NULL
  AND webhook.id <> ALL (%s)
ORDER BY delivery.due_at, delivery.id LIMIT 1 FOR UPDATE OF delivery SKIP LOCKED
"""
FAILED: Final = """
UPDATE wallet_webhook_delivery SET tries = tries + 1,
    state = CASE WHEN tries + 1 >= %s THEN 'given_up' ELSE 'waiting' END,
    ended_at = CASE WHEN tries + 1 >= %s THEN clock_timestamp() END,
    due_at = clock_timestamp() + interval '1 second' * least(%s * 2 ^ least(tries, 20), %s)
WHERE id = %s
"""
UNIX_TIME: Final = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"
# Marks a webhook as failing and returns whether it has failed for too long.
FAILS: Final = """
UPDATE wallet_webhook SET failing_since = coalesce(failing_since, clock_timestamp()) WHERE id = %s AND off_at IS NULL
RETURNING failing_since < clock_timestamp() - %s * interval '1 second'
"""
KINDS: Final[dict[str, detection.Significance]] = {
    "webhook.added": (Category.PARAMETER, Weight.NOTICE, "Webhook added"),
    "webhook.changed": (Category.PARAMETER, Weight.NOTICE, "Webhook changed"),
    "webhook.secret_replaced": (Category.PARAMETER, Weight.NOTICE, "Secret of a webhook replaced"),
    "webhook.secret_ended": (Category.PARAMETER, Weight.NOTICE, "Replaced secret of a webhook ended"),
    "webhook.switched_off": (Category.PARAMETER, Weight.NOTICE, "Webhook switched off"),
    "webhook.switched_on": (Category.PARAMETER, Weight.NOTICE, "Webhook switched on"),
    "webhook.failed": (Category.ERROR, Weight.ALERT, "Webhook switched off because it failed"),
}
ORDINARY: Final = ("webhook.resent",)


PREVIOUS: Final = ("previous_key_name", "previous_sealed", "previous_until")


class WebhookError(Exception):
    """Nothing was changed. The message is for staff."""


def register() -> None:
    """Register the reader of the event log and the event kinds."""
    detection.register_kinds(KINDS)
    detection.register_ordinary(ORDINARY)
    detection.register("webhooks", queue_new)


@transaction.atomic
def add(*, name: str, address: str, kinds: Sequence[str], by: Staff) -> tuple[Webhook, str]:
    """Create a webhook and return it with its secret, which cannot be shown again.

    Raises partners.BadAddress, and WebhookError for an unknown kind or none.
    """
    wanted = _demand(address, kinds)
    key_name, secret = signing.new_name(), secrets.token_urlsafe(32)
    hook = Webhook.objects.create(
        name=name.strip(),
        address=address,
        kinds=wanted,
        key_name=key_name,
        sealed=key_rotation.seal(settings.PARTNER_KEY, secret.encode(), _bound(key_name)),
        made_by=by,
    )
    data: dict[str, log.Json] = {"name": hook.name, "address": address, "kinds": list(wanted), "key": key_name}
    log.record("webhook.added", by=str(by), on=str(hook), data=data)
    return hook, secret


@transaction.atomic
def change(*, webhook_id: int, name: str, address: str, kinds: Sequence[str], by: Staff) -> Webhook:
    """Change name, address and kinds of events. The secret stays, and queued events are sent to the new address.

    Raises partners.BadAddress, and WebhookError for an unknown kind or none, and if nothing would change.
    """
    wanted = _demand(address, kinds)
    hook = Webhook.objects.select_for_update().get(pk=webhook_id)
    before = _stated(hook)
    hook.name, hook.address, hook.kinds = name.strip(), address, wanted
    if _stated(hook) == before:
        raise WebhookError(gettext("Nothing was changed."))
    data: dict[str, log.Json] = {"before": before, "after": _stated(hook)}
    log.record("webhook.changed", by=str(by), on=str(hook), data=data)  # a trigger compares the row with it
    hook.save(update_fields=["name", "address", "kinds"])
    return hook


def _stated(hook: Webhook) -> dict[str, log.Json]:
    return {"name": hook.name, "address": hook.address, "kinds": list(hook.kinds)}


def _demand(address: str, kinds: Sequence[str]) -> list[str]:
    """Return the kinds in order. Raises partners.BadAddress, WebhookError."""
    partners.demand_address(address)
    wanted = sorted(set(kinds))
    if not wanted or not set(wanted) <= set(WEBHOOK_KINDS):
        raise WebhookError(gettext("Choose at least one kind of event from the list."))
    return wanted


@transaction.atomic
def replace_secret(*, webhook_id: int, by: Staff, at_once: bool = False) -> tuple[Webhook, str]:
    """Replace the secret and return the webhook with the new one, which signs from now on.

    For `OVERLAP`, calls are signed with the replaced secret too, so that the receiver can change at any time; *at_once*
    ends it now, as a secret that somebody knows must be. A secret that was replaced before ends in any case.
    """
    hook = Webhook.objects.select_for_update().get(pk=webhook_id)
    before, secret = hook.key_name, secrets.token_urlsafe(32)
    hook.previous_key_name, hook.previous_sealed = (None, None) if at_once else (before, bytes(hook.sealed))
    hook.previous_until = None if at_once else Now() + OVERLAP
    hook.key_name = signing.new_name()
    hook.sealed = key_rotation.seal(settings.PARTNER_KEY, secret.encode(), _bound(hook.key_name))
    hook.save(update_fields=["key_name", "sealed", *PREVIOUS])
    hook.refresh_from_db(fields=["previous_until"])
    until = hook.previous_until.isoformat() if hook.previous_until else None
    data: dict[str, log.Json] = {"before": before, "after": hook.key_name, "until": until}
    log.record("webhook.secret_replaced", by=str(by), on=str(hook), data=data)
    return hook, secret


@transaction.atomic
def end_previous(*, webhook_id: int, by: Staff) -> Webhook:
    """End the replaced secret before its time. Raises WebhookError if there is none."""
    hook = Webhook.objects.select_for_update().get(pk=webhook_id)
    if hook.previous_key_name is None:
        raise WebhookError(gettext("There is no replaced secret."))
    data: dict[str, log.Json] = {"key": hook.previous_key_name}
    hook.previous_key_name = hook.previous_sealed = hook.previous_until = None
    hook.save(update_fields=PREVIOUS)
    log.record("webhook.secret_ended", by=str(by), on=str(hook), data=data)
    return hook


@transaction.atomic
def switch(*, webhook_id: int, is_on: bool, by: Staff) -> Webhook:
    """Switch a webhook on or off. Events in the meantime are not announced; waiting deliveries are kept.

    Raises WebhookError if it is so already.
    """
    hook = Webhook.objects.select_for_update().get(pk=webhook_id)
    if (hook.off_at is None) is is_on:
        raise WebhookError(
            gettext("This webhook is already switched on.")
            if is_on
            else gettext("This webhook is already switched off.")
        )
    if is_on:
        Webhook.objects.filter(pk=hook.pk).update(off_at=None, on_since=Now(), failing_since=None)
        transaction.on_commit(send_soon)
    else:
        Webhook.objects.filter(pk=hook.pk).update(off_at=Now())
    log.record("webhook.switched_on" if is_on else "webhook.switched_off", by=str(by), on=str(hook), data={})
    hook.refresh_from_db()
    return hook


@transaction.atomic
def resend(*, delivery_id: int, by: Staff) -> WebhookDelivery:
    """Send an announcement again, now. Raises WebhookError while it waits for its first attempt."""
    found = WebhookDelivery.objects.select_for_update().get(pk=delivery_id)
    if found.state == DeliveryState.WAITING and not found.tries:
        raise WebhookError(gettext("This delivery is waiting and will be sent automatically."))
    before = found.state
    found.state, found.ended_at, found.due_at, found.tries = DeliveryState.WAITING, None, Now(), 0
    found.save(update_fields=["state", "ended_at", "due_at", "tries"])
    data: dict[str, log.Json] = {"delivery": found.pk, "event": found.event_id, "before": before}
    log.record("webhook.resent", by=str(by), on=f"webhook:{found.webhook_id}", data=data)
    transaction.on_commit(send_soon)
    return found


def queue_new(leaves: Leaves) -> Iterable[Found]:
    """Queue a delivery for each event of *leaves* at each webhook that wants it. Finds nothing significant.

    Reading the same leaves again queues nothing twice.
    """
    hooks = list(Webhook.objects.filter(off_at=None))
    kinds = {kind for hook in hooks for kind in hook.kinds}
    rows = [
        WebhookDelivery(webhook=hook, event_id=event.pk, kind=event.kind)
        for event in (detection.events(leaves, *kinds) if kinds else ())
        for hook in hooks
        if event.kind in hook.kinds and event.at >= hook.on_since
    ]
    if rows:
        with transaction.atomic():
            WebhookDelivery.objects.bulk_create(rows, ignore_conflicts=True)
            transaction.on_commit(send_soon)
    return ()


def send_soon() -> None:
    """Ask a worker to send. Without it, beat does within seconds."""
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.send_webhooks", retry=False, expires=EXPIRES)


def send_due() -> None:
    """Send the due deliveries, each in its own transaction. Several workers can run it.

    After a failure the webhook is left alone until the next call.
    """
    ended = Webhook.objects.filter(previous_until__lt=Now())
    ended.update(previous_key_name=None, previous_sealed=None, previous_until=None)
    left: set[int] = set()
    while _send_next(left):
        pass


@transaction.atomic
def _send_next(left: set[int]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(DUE, [list(left)])
        row = cursor.fetchone()
        if row is None:
            return False
        delivery = WebhookDelivery.objects.select_related("webhook").get(pk=row[0])
        cursor.execute(UNIX_TIME)
        (at,) = cursor.fetchone()
    begun = monotonic()
    status, said = _post(delivery, at)
    took = round((monotonic() - begun) * 1000)
    WebhookTry.objects.create(delivery=delivery, status=status, milliseconds=took, said=said[:LONGEST_SAID])
    if status in OK:
        delivery.state, delivery.ended_at, delivery.tries = DeliveryState.DELIVERED, Now(), delivery.tries + 1
        delivery.save(update_fields=["state", "ended_at", "tries"])
        Webhook.objects.filter(pk=delivery.webhook_id, failing_since__isnull=False).update(failing_since=None)
    else:
        left.add(delivery.webhook_id)
        _fail(delivery)
    return True


def body_of(delivery: WebhookDelivery, event: Event) -> bytes:
    """Return what is sent: ids, kind and time of the event."""
    said = {
        "delivery": delivery.pk,
        "event": event.pk,
        "kind": event.kind,
        "at": event.at.astimezone(UTC).isoformat(),
        "on": event.on,
    }
    return json.dumps(said, separators=(",", ":")).encode()


def resealed(key_name: str, sealed: bytes) -> bytes | None:
    """Return a secret re-encrypted with the first key, None if it already is. Raises InvalidTag."""
    return key_rotation.resealed(settings.PARTNER_KEY, sealed, _bound(key_name))


def _post(delivery: WebhookDelivery, at: int) -> tuple[int | None, str]:
    """Send and return the HTTP status, None without an answer, and what went wrong."""
    hook = delivery.webhook
    event = Event.objects.filter(pk=delivery.event_id).first()
    if event is None:
        return None, "the event is archived"
    body, path = body_of(delivery, event), urlsplit(hook.address).path or "/"
    headers = {"Content-Type": "application/json"} | _signed(hook, at, path, body)
    try:
        scheme, host, port, _ = operators.check_address(hook.address)
        status, _answer = operators.exchange((scheme, host, port), path, body, headers)
    except operators.NoAnswer as silence:
        return None, str(silence)
    return status, "" if status in OK else f"HTTP {status}"


def _signed(hook: Webhook, at: int, path: str, body: bytes) -> dict[str, str]:
    """Return the headers of a call at Unix second *at*, with a signature of each secret that is valid then."""
    keys = [(hook.key_name, bytes(hook.sealed))]
    if hook.previous_until and hook.previous_key_name and hook.previous_sealed and at < hook.previous_until.timestamp():
        keys.append((hook.previous_key_name, bytes(hook.previous_sealed)))
    signed = [
        signing.headers(
            name,
            key_rotation.unseal(settings.PARTNER_KEY, sealed, _bound(name)).decode(),
            at=at,
            method="POST",
            path=path,
            body=body,
        )
        for name, sealed in keys
    ]
    joined = (signing.KEY_HEADER, signing.SIGNATURE_HEADER)
    return signed[0] | {header: " ".join(each[header] for each in signed) for header in joined}


def _fail(delivery: WebhookDelivery) -> None:
    """Plan the next attempt; switch the webhook off and mail those who manage it after `OFF_AFTER`."""
    hook = delivery.webhook
    pauses = [FIRST_PAUSE.total_seconds(), LONGEST_PAUSE.total_seconds()]
    with connection.cursor() as cursor:
        cursor.execute(FAILED, [MOST_TRIES, MOST_TRIES, *pauses, delivery.pk])
        cursor.execute(FAILS, [hook.pk, OFF_AFTER.total_seconds()])
        row = cursor.fetchone()
    if row is None or not row[0]:
        return
    Webhook.objects.filter(pk=hook.pk).update(off_at=Now())
    hook.refresh_from_db()
    data: dict[str, log.Json] = {"failing_since": hook.failing_since.isoformat() if hook.failing_since else None}
    log.record("webhook.failed", by="system", on=str(hook), data=data)
    last = delivery.attempts.latest("pk")
    for user in mail.holders(MANAGE):
        context = {"hook": hook, "said": last.said}
        mail.write_to_staff(user=user, template="webhook_failed", context=context, page="staff_webhook", of=[hook.pk])


def _bound(key_name: str) -> bytes:
    """Return the associated data of a secret: the name of its key."""
    return f"webhook:{key_name}".encode()
