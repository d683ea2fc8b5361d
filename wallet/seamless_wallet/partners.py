"""Partners and their keys. Two people approve a new one (docs/seamless.md); one person can end it.

The database enforces this (``sql/functions/seamless_wallet.sql``) and reads the approval itself.
Error messages are for staff.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from audit import approvals, log
from audit.models import Approval, Clock
from audit.raw_rows import sqlstate
from players.login import sessions
from players.models import Player, Staff
from players.protection import eligibility
from wallet import house_stop
from wallet.models import (
    GameSession,
    MessageState,
    Mode,
    OperatorMessage,
    Partner,
    PartnerKey,
    PartnerKind,
    StudioPlayer,
)
from wallet.seamless_wallet import reach, signing

ADD: Final = "partner.add"
KEY: Final = "partner.key"
VIEW: Final = "wallet.view_partners"
ASK: Final = "wallet.ask_partner"
DECIDE: Final = "wallet.decide_partner"
READERS: Final = (VIEW, ASK, DECIDE)
MOST_KEYS: Final = 2
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
VISIBLE: Final = re.compile(r"[!-~]+")  # characters that an address may have
UNSAFE: Final = gettext_noop("The URL must start with https:// and have no user name, query or fragment.")
KINDS: Final = {PartnerKind.STUDIO: gettext_lazy("studio: its games use our players’ balances")} | {
    PartnerKind.OPERATOR: gettext_lazy("operator: its players use our tables")
}
AGREED: Final = "SB050"
FULL: Final = "SB056"


class PartnerError(Exception):
    """Base error: nothing was done. The message is a sentence for staff."""


class CodeTaken(PartnerError):
    """Another partner has this code."""


class BadAddress(PartnerError):
    """The house does not connect to this address."""


class KeysFull(PartnerError):
    """The partner already has two active keys."""


class PartnerOff(PartnerError):
    """The partner is switched off."""


class MessagesWait(PartnerError):
    """This is the last key of an operator that still has messages in the queue."""


class NotShown(PartnerError):
    """The secret was already shown, its key has ended, or another staff member asked for it."""


@transaction.atomic
def ask_to_add(
    *, code: str, name: str, kind: PartnerKind, address: str, per_minute: int, reason: str, by: Staff
) -> Approval:
    """Ask for approval of a partner with its first key.

    Raises BadAddress, CodeTaken, approvals.AskedTwice.
    """
    demand_address(address)
    if Partner.objects.filter(code=code).exists():
        raise CodeTaken(gettext("This code is already used by the partner %(code)s.") % {"code": code})
    request: dict[str, log.Json] = {
        "code": code,
        "name": name,
        "kind": kind.value,
        "address": address,
        "per_minute": per_minute,
    }
    return approvals.ask(kind=ADD, on=f"partner:{code}", request=request, by=str(by), person=by.person, reason=reason)


@transaction.atomic
def ask_for_key(*, partner: Partner, reason: str, by: Staff) -> Approval:
    """Ask for approval of another key. Raises KeysFull, PartnerOff, approvals.AskedTwice."""
    if partner.off_at is not None:
        raise PartnerOff(gettext("This partner is deactivated."))
    if running_keys(partner) >= MOST_KEYS:
        raise KeysFull(
            gettext(
                "The partner already has two keys. Revoke the older one after the partner has switched "
                "to the newer one."
            )
        )
    request = {"code": partner.code}
    return approvals.ask(kind=KEY, on=str(partner), request=request, by=str(by), person=by.person, reason=reason)


def running_keys(partner: Partner) -> int:
    """Return the number of active keys of a partner."""
    return PartnerKey.objects.filter(partner=partner, ended_at=None).count()


def add(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Create the partner and its first key. Raises approvals.CannotExecute."""
    try:
        with transaction.atomic():
            partner = Partner.objects.create(
                code=str(request["code"]),
                name=str(request["name"]),
                kind=str(request["kind"]),
                address=str(request["address"]),
                per_minute=int(str(request["per_minute"])),
                approval_id=verdict.approval_id,
            )
    except DatabaseError as error:
        raise approvals.CannotExecute(_why(error)) from error
    log.record("partner.added", by=verdict.by, on=str(partner), data=dict(request) | _approval(verdict))
    add_key(request, verdict)


def add_key(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Create a key.

    The staff member who asked for it can see it once. Raises approvals.CannotExecute.
    """
    partner = Partner.objects.get(code=str(request["code"]))
    name = signing.new_name()
    try:
        with transaction.atomic():
            key = PartnerKey.objects.create(
                partner=partner, name=name, sealed=signing.new_sealed(partner.pk, name), approval_id=verdict.approval_id
            )
    except DatabaseError as error:
        raise approvals.CannotExecute(_why(error)) from error
    log.record("partner.key_made", by=verdict.by, on=str(partner), data={"key": key.name} | _approval(verdict))


@transaction.atomic
def show(*, key: PartnerKey, by: Staff) -> str:
    """Return the secret of a key, once, to the staff member who asked for it. Raises NotShown."""
    asker = Approval.objects.get(pk=key.approval_id).person
    unseen = PartnerKey.objects.filter(pk=key.pk, shown_at=None, ended_at=None)
    if asker != by.person or not unseen.update(shown_at=Clock()):
        raise NotShown(
            gettext("A secret is shown once, to the person who requested it. Request a new key if it is lost.")
        )
    log.record("partner.key_shown", by=str(by), on=str(key.partner), data={"key": key.name})
    return signing.secret_of(key)


def waiting(partner: Partner) -> int:
    """Return how many messages to an operator are undelivered. Without a key they cannot be sent."""
    return OperatorMessage.objects.filter(
        bet__launch__operator_player__partner=partner, state__in=(MessageState.WAITING, MessageState.DOUBT)
    ).count()


@transaction.atomic
def end_key(*, key: PartnerKey, reason: str, by: Staff, is_sure: bool = False) -> None:
    """End a key: requests signed with it are refused from now on. A second call does nothing.

    Raises MessagesWait if it is an operator's last key and messages wait, unless *is_sure*.
    """
    partner = Partner.objects.select_for_update().get(pk=key.partner_id)  # two people may end its two keys at once
    is_last = not PartnerKey.objects.filter(partner=partner, ended_at=None).exclude(pk=key.pk).exists()
    if is_last and not is_sure and (count := waiting(partner)):
        raise MessagesWait(
            gettext(
                "This is the last key, and %(partner)s is still waiting for %(count)s wins and "
                "rollbacks. The key was not revoked. Confirm that it is to be revoked anyway."
            )
            % {"partner": partner.name, "count": count}
        )
    if PartnerKey.objects.filter(pk=key.pk, ended_at=None).update(ended_at=Clock()):
        log.record("partner.key_ended", by=str(by), on=str(key.partner), data={"key": key.name, "reason": reason})


@transaction.atomic
def switch_off(*, partner: Partner, reason: str, by: Staff) -> None:
    """Stop taking bets with a partner, permanently. A second call does nothing.

    Its keys stay active, because wins and rollbacks may still arrive. Staff end them one by one.
    """
    if Partner.objects.filter(pk=partner.pk, off_at=None).update(off_at=Clock(), off_by=by):
        log.record("partner.switched_off", by=str(by), on=str(partner), data={"reason": reason})


def describe(request: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the requested partner for the approver."""
    return approvals.Description(
        (gettext("Add the partner %(name)s") % {"name": request["name"]}),
        (
            (gettext("Name"), str(request["name"])),
            (gettext("Code"), str(request["code"])),
            (gettext("Type"), str(KINDS[PartnerKind(str(request["kind"]))])),
            ("URL", str(request["address"])),
            (gettext("Requests per minute"), str(request["per_minute"])),
        ),
    )


def describe_key(request: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the requested key for the approver."""
    partner = Partner.objects.get(code=str(request["code"]))
    running = PartnerKey.objects.filter(partner=partner, ended_at=None).order_by("pk").values_list("name", flat=True)
    facts = (
        (gettext("Partner"), f"{partner.name} ({partner.code})"),
        (gettext("Type"), str(KINDS[PartnerKind(partner.kind)])),
        (gettext("Active keys"), ", ".join(running) or gettext("none")),
    )
    return approvals.Description(gettext("Create a new key for %(partner)s") % {"partner": partner.name}, facts)


def demand_address(address: str) -> None:
    """Accept only https without user, query or fragment, in ASCII. Raises BadAddress.

    A demo house may use http to the local machine.
    """
    try:
        parts = urlsplit(address)
        is_readable = VISIBLE.fullmatch(address) and parts.port != 0  # a port that is no number raises
    except ValueError:
        raise BadAddress(gettext(UNSAFE)) from None
    is_safe = address.startswith("https://") or (
        settings.DEMO and address.startswith("http://") and parts.hostname in LOOPBACK
    )
    if (
        not is_readable
        or not is_safe
        or not parts.hostname
        or parts.username is not None
        or parts.query
        or parts.fragment
    ):
        raise BadAddress(gettext(UNSAFE))
    try:
        reach.demand_literal(parts.hostname)
    except reach.OutOfReach as error:
        raise BadAddress(gettext("This URL is not allowed: %(error)s.") % {"error": error}) from error


def _approval(verdict: approvals.Verdicted) -> dict[str, log.Json]:
    return {"approval": verdict.approval_id, "asked_by": Approval.objects.get(pk=verdict.approval_id).by}


def _why(error: DatabaseError) -> str:
    match sqlstate(error):
        case state if state == AGREED:
            return str(approvals.NOT_THEIRS)
        case state if state == FULL:
            return gettext("The partner already has two keys.")
        case _:
            return gettext("This partner already exists.")


LASTS: Final = timedelta(hours=12)


class CannotOpen(Exception):
    """The player cannot open a studio's game now. The message is a sentence for the player."""


class HouseStopped(Exception):
    """The house is stopped."""


@dataclass(frozen=True)
class Opened:
    """A new game session.

    *player* is the studio's id for the player, *token* lets the studio take bets.

    The token is returned only once.
    """

    player: str
    token: str
    ends_at: datetime


def studios() -> list[Partner]:
    """Return the active studios, by name."""
    return list(Partner.objects.filter(kind=PartnerKind.STUDIO, off_at=None).order_by("name", "pk"))


@transaction.atomic
def open_session(*, player: Player, studio: Partner, mode: Mode, session: UUID) -> Opened:
    """Open a game session within the player's login *session*. Raises CannotOpen, HouseStopped."""
    ineligibility = eligibility.check_play(player, real=mode is Mode.REAL, session=session)
    if ineligibility:
        raise CannotOpen(ineligibility.message)
    if player.uses_operator_wallet and mode is Mode.REAL:
        raise CannotOpen(
            gettext(
                "You are playing with your balance at the site you came from. You can use it at "
                "single-player tables, but not at this table."
            )
        )
    if house_stop.is_stopped():
        raise HouseStopped
    theirs, _is_new = StudioPlayer.objects.get_or_create(
        partner=studio, player=player, defaults={"name": secrets.token_urlsafe(16)}
    )
    token = secrets.token_urlsafe(32)
    opened = GameSession.objects.create(
        studio_player=theirs, mode=mode, digest=digest_of(token), session_id=session, ends_at=Clock() + LASTS
    )
    opened.refresh_from_db(fields=["ends_at"])
    data: dict[str, log.Json] = {"game_session": opened.pk, "studio": studio.code, "mode": mode.value}
    log.record("studio.session_opened", by=str(player), on=str(player), data=data)
    return Opened(theirs.name, token, opened.ends_at)


def find(theirs: StudioPlayer, token: str | None) -> GameSession | None:
    """Return this player's game session with this token, ended or not, or None."""
    if token is None:
        return None
    return GameSession.objects.filter(studio_player=theirs, digest=digest_of(token)).first()


def runs(opened: GameSession) -> bool:
    """Return whether a game session is still open."""
    state = sessions.read_state(opened.session_id)
    is_in_time = GameSession.objects.filter(pk=opened.pk, ends_at__gt=Now()).exists()
    return is_in_time and state is not None and state.left > 0


def act(opened: GameSession) -> None:
    """Record a bet as activity in the player's login session."""
    state = sessions.read_state(opened.session_id)
    if state is not None:
        sessions.act(state)


def digest_of(token: str) -> bytes:
    """Return the stored hash of a token. The token is random, so no slow hash is needed."""
    return hashlib.sha256(token.encode()).digest()
