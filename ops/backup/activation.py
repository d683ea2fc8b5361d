"""Activation of a copy of the database, after a restore or on another server.

The copy is older than its source, and the house may have played on in between. So the cards
committed to in the copy may be known: the next round of each solo seat and the rest of each shoe.
A player who saw them would know the next cards. None of them is ever dealt. Seats commit again,
shoes are retired, undealt rounds of live tables are cancelled, and dealt rounds are settled by
their cards. All log-in sessions end and all API tokens are revoked.

Every step can be repeated, and must be after an interruption: only the last one lets the house
open.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from allauth.mfa.models import Authenticator
from cryptography.exceptions import InvalidTag
from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction

from audit import log
from audit.models import Event
from audit.sealing import sealer, signing
from ops.backup import database_identity, pg_tools, tables
from ops.backup.pg_tools import WrongKey
from players.api import tokens
from players.encryption import Purpose, unseal
from players.login import second_factor, sessions
from players.models import BrowserSession, DocumentContent, Ended, Session
from wallet.models import PartnerKey, Payment, PaymentState, PayoutAccount, Withdrawal
from wallet.models.payments import OPEN
from wallet.payouts import accounts
from wallet.seamless_wallet.signing import secret_of

FEW = 20  # rows to try: a single damaged one must not decide


def demand_right() -> list[str]:
    """Return sentences about which keys were tried. Raises WrongKey."""
    return [
        _message("SECOND_FACTOR_KEY", "the secrets of second factors", [*_factors()]),
        _message("DOCUMENT_KEY", "players' documents and bank accounts", [*_documents(), *_accounts()]),
        _message("PARTNER_KEY", "the secrets shared with partners", [*_partners()]),
    ]


def _message(key: str, what: str, opened: list[bool]) -> str:
    if opened and not any(opened):
        raise WrongKey(
            f"{key} is not the right key: it cannot decrypt {what}. Set the right key and run"
            " manage.py after_restore. Nothing was changed, and the system cannot start."
        )
    return f"{key} is the right key." if opened else f"{key} could not be tested: nothing in the backup uses it."


def _factors() -> Iterator[bool]:
    found = Authenticator.objects.filter(type=Authenticator.Type.TOTP).order_by("-pk")
    for each in found[:FEW]:
        try:
            second_factor.secret_of(each)
        except InvalidTag:
            yield False
        else:
            yield True


def _documents() -> Iterator[bool]:
    for each in DocumentContent.objects.select_related("document__submission").order_by("-pk")[:FEW]:
        owner = each.document.submission.player_id
        try:
            unseal(Purpose.DOCUMENT, owner, each.pk, bytes(each.sealed))
        except InvalidTag:
            yield False
        else:
            yield True


def _accounts() -> Iterator[bool]:
    for each in PayoutAccount.objects.exclude(sealed=b"").order_by("-pk")[:FEW]:
        try:
            accounts.reveal(each)
        except InvalidTag:
            yield False
        else:
            yield True


def _partners() -> Iterator[bool]:
    for each in PartnerKey.objects.order_by("-pk")[:FEW]:
        try:
            secret_of(each)
        except InvalidTag:
            yield False
        else:
            yield True


BY: Final = "system"
WHY: Final = "Restored from a backup."

# The number of a transaction is the server's own. Those in a copy are another server's, and this one's will come to
# them: a transaction would pass for the one that wrote a row years ago. Moved up by 2^48, at each copy once more,
# they stay apart and no server ever comes to them.
FURTHER: Final = 1 << 48
AHEAD: Final = "SELECT EXISTS (SELECT FROM {table} WHERE xid >= pg_current_xact_id() AND xid < '{further}'::xid8)"
MOVE_UP: Final = "ALTER TABLE {table} ALTER COLUMN xid TYPE xid8 USING (xid::text::numeric + {further})::text::xid8"
WITH_NUMBERS: Final = ("wallet_journal", "players_staff_change")


@dataclass(frozen=True)
class Settled:
    """What was done to a copy, and what is left for people: sentences about tables that wait for a ruling."""

    until: str  # time of the last event in it
    waiting: list[str]


def settle(say: Callable[[str], object]) -> Settled:
    """Make the house of a copy, saying each step. Raises NotReady, WrongKey."""
    pg_tools.demand_owner()
    pg_tools.demand_alone()
    call_command("migrate", verbosity=0, interactive=False)  # and the rights of this program
    for message in demand_right():
        say(message)
    newest = Event.objects.order_by("-pk").first()
    until = f"{newest.at:%Y-%m-%d %H:%M:%S} UTC" if newest else "never"
    say(f"The last event in the backup is from {until}. Later events are not included.")
    _set_numbers_apart()
    ended = _end_sessions()
    say(f"Sessions ended: {ended}.")
    revoked = tokens.revoke_every(by=BY, reason=WHY)  # the copy does not know which have been revoked since
    say(f"API tokens revoked: {revoked}.")
    committed = tables.forget_commitments()
    say(f"Solo seats whose next round is replaced when the table is opened: {committed}.")
    cleared = tables.clear(by=BY, why=WHY)
    say(
        f"At live tables: {cleared.settled} rounds settled that were dealt, {cleared.cancelled} cancelled that were"
        f" not, {cleared.retired} shoes retired."
    )
    say(_money())
    say(_signed())
    data: dict[str, log.Json] = {
        "cancelled": cleared.cancelled,
        "leaves": sealer.leaves(),
        "places": committed,
        "sessions": ended,
        "settled": cleared.settled,
        "shoes": cleared.retired,
        "tokens": revoked,
        "until": until,
    }
    log.record("house.restored", by=BY, on="house", data=data)
    database_identity.settle_in(connections[pg_tools.OWNER])
    return Settled(until, cleared.waiting)


def _set_numbers_apart() -> None:
    with transaction.atomic(using=pg_tools.OWNER), connections[pg_tools.OWNER].cursor() as cursor:
        for table in WITH_NUMBERS:
            cursor.execute(AHEAD.format(table=table, further=FURTHER))
            (are_ahead,) = cursor.fetchone()
            if are_ahead:
                cursor.execute(MOVE_UP.format(table=table, further=FURTHER))


def _end_sessions() -> int:
    """End every session, and forget by what log-ins were known, with the demo games of visitors."""
    running = list(Session.objects.filter(ended_at=None).order_by("pk").values_list("pk", flat=True))
    ended = sum(sessions.end(session_id=each, why=Ended.HOUSE, by=BY, reason=WHY) for each in running)
    BrowserSession.objects.all().delete()
    return ended


def _money() -> str:
    """Say what may have gone on at the providers."""
    deposits = Payment.objects.filter(state=PaymentState.WAITING).count()
    withdrawals = Withdrawal.objects.filter(status__in=OPEN).count()
    return (
        f"In progress in the backup: {deposits} deposits, {withdrawals} withdrawals. The provider is queried for each"
        " automatically. Payments started later are known only to the provider: import "
        "its statement under /staff/statements/."
    )


def _signed() -> str:
    """Say whether the signer has signed more than the copy holds."""
    try:
        signed = signing.last(Path(settings.AUDIT_SIGNER))
    except signing.SignerAway:
        return "The signer does not answer, so signed events that are missing cannot be detected."
    leaves = sealer.leaves()
    if signed > leaves:
        return (
            f"The signer has signed {signed} events and the backup holds {leaves}: the log "
            "with this name has ended. Start"
            " a new log (docs/operating.md, “Begin a new log”)."
        )
    return f"No signed events are missing: {signed} events of {leaves}."
