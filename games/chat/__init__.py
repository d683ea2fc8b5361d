"""Chat at shared tables: players choose a name, write, block other players and report messages.

The database and its clock decide who may write and how often (``games/sql/functions/chat.sql``).
`games.chat.rules` decides what may be written. The audit log names messages and players by id;
names and reasons are personal data, and the texts are stored in the chat only.

Every error message is in the active language.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Lower, Now
from django.db.utils import DatabaseError
from django.utils.translation import gettext as _

from audit import log
from games.chat import letters
from games.chat.rules import ChatError, readable_name, readable_text
from games.errors import NotEligible
from games.models import (
    ChatBan,
    ChatBlock,
    ChatMessage,
    ChatName,
    ChatNameTaken,
    ChatReport,
    Grounds,
    LiveTable,
    ReportReason,
)
from players import notify
from players.datetime_format import written_until
from players.models import Player
from players.protection import eligibility
from wallet.models import Mode

SAME_AGAIN: Final = timedelta(minutes=10)  # period in which a repeated text is refused
SHOWN_FOR: Final = timedelta(days=1)  # to players; staff see messages until the retention time ends
JUST_NOW: Final = timedelta(minutes=15)  # period in which a page says that a message of the reader was removed
LANGUAGES: Final = frozenset(code for code, _name in settings.LANGUAGES)


class NoName(ChatError):
    """The player has not chosen a chat name."""


class NameTaken(ChatError):
    """Another player has this name."""


class NameGone(ChatError):
    """Staff took this name away from a player."""


class NamedToday(ChatError):
    """A name can be changed once a day."""


class TooFast(ChatError):
    """The player writes too many messages too fast."""


class SameAgain(ChatError):
    """The player repeats their last message."""


class Banned(ChatError):
    """The player is banned from writing."""


class NotThere(ChatError):
    """There is no such message at the table, or it was removed."""


class TooManyReports(ChatError):
    """The player has reported 20 messages within an hour."""


class OwnMessage(ChatError):
    """Players cannot report or block themselves."""


@dataclass(frozen=True)
class Ban:
    """A ban: its reason, and its end; `until` is None where only staff can lift it."""

    until: datetime | None
    grounds: str = Grounds.OTHER
    is_at_one_table: bool = False


@transaction.atomic
def choose_name(*, player: Player, name: str) -> ChatName:
    """Set the player's chat name. Raises BadName, NameTaken, NameGone, NamedToday, Banned."""
    readable = readable_name(name)
    _demand_no_ban(player)
    known = ChatName.objects.select_for_update().filter(player=player).first()
    if known and known.name == readable:
        return known
    with _said_by_the_database(player):
        if known:
            ChatName.objects.filter(player=player).update(name=readable)
        else:
            ChatName.objects.create(player=player, name=readable)
    log.record("chat.named", by=str(player), on=str(player), data={}, personal={"name": readable})
    return ChatName.objects.get(player=player)


@transaction.atomic
def say(*, player: Player, live_table: LiveTable, text: str, language: str, session: UUID | None = None) -> ChatMessage:
    """Write a message at a table.

    Raises BadText, NoName, Banned, SameAgain, TooFast, and NotEligible where the player may not play
    there now. An unanswered reality check does not keep a player from writing.
    """
    readable = readable_text(text)
    ineligibility = eligibility.check_play(player, real=live_table.mode == Mode.REAL, session=session)
    if ineligibility and ineligibility.code is not eligibility.Code.CHECK:
        raise NotEligible(ineligibility)
    _demand_no_ban(player, live_table)
    if not ChatName.objects.select_for_update().filter(player=player).exists():
        raise _no_name(player)
    lately = ChatMessage.objects.filter(player=player, at__gt=Now() - SAME_AGAIN).order_by("-pk").first()
    if lately and lately.text.casefold() == readable.casefold() and lately.live_table_id == live_table.pk:
        raise SameAgain(_("You have already sent this message."))
    with _said_by_the_database(player, live_table):
        said = ChatMessage.objects.create(
            live_table=live_table, player=player, language=language if language in LANGUAGES else "en", text=readable
        )
    notify.notify_chat(live_table.pk)
    said.refresh_from_db()
    return said


@transaction.atomic
def block(*, player: Player, live_table: LiveTable, number: int) -> ChatBlock:
    """Block the author of a message. Idempotent. Raises NotThere, OwnMessage."""
    said = message_at(live_table, number)
    if said.player_id == player.pk:
        raise OwnMessage(_("This is your own message."))
    found, is_new = ChatBlock.objects.get_or_create(player=player, blocked_id=said.player_id)
    if is_new:
        notify.notify_blocks(player.pk)
    return found


@transaction.atomic
def unblock(*, player: Player, block_id: int) -> None:
    """Remove a block. Idempotent."""
    if ChatBlock.objects.filter(pk=block_id, player=player).delete()[0]:
        notify.notify_blocks(player.pk)


@transaction.atomic
def report(*, player: Player, live_table: LiveTable, number: int, reason: ReportReason) -> ChatReport:
    """Report a message to staff; a second call returns the same report.

    Raises NotThere, OwnMessage, TooManyReports.
    """
    said = message_at(live_table, number, lock=True)
    if said.player_id == player.pk:
        raise OwnMessage(_("This is your own message."))
    with _said_by_the_database(player):
        found, is_new = ChatReport.objects.get_or_create(message=said, player=player, defaults={"reason": reason})
    if is_new:
        data: dict[str, log.Json] = {"report": found.pk, "reason": reason.value, "author": str(said.author)}
        log.record("chat.reported", by=str(player), on=f"chat_message:{said.pk}", data=data)
    return found


def name_of(player: Player) -> str:
    """Return a player's chat name; "" where none was chosen."""
    return ChatName.objects.filter(player=player).values_list("name", flat=True).first() or ""


def ban_of(player: Player, live_table: LiveTable | None = None) -> Ban | None:
    """Return the ban that keeps the player from writing, at this table or everywhere."""
    here = Q(live_table=None) | Q(live_table=live_table)
    found = bans_in_force().filter(here, player=player).order_by(F("until").desc(nulls_first=True)).first()
    return Ban(found.until, found.grounds, found.live_table_id is not None) if found else None


def ban_message(ban: Ban, player: Player) -> str:
    """Return the message that a player is banned from writing, until when and why."""
    message = (
        _("You can read the chat at this table, but you cannot write in it %(until)s.")
        if ban.is_at_one_table
        else _("You can read the chat, but you cannot write in it %(until)s.")
    )
    said = message % {"until": written_until(ban.until, player.jurisdiction.time_zone)}
    return f"{said} {letters.because(ban.grounds)}"


def name_taken_message(player: Player) -> str:
    """Return the message that staff took the player's name away; "" where they have a name or never had one."""
    if ChatName.objects.filter(player=player).exists():
        return ""
    taken = ChatNameTaken.objects.filter(player=player).order_by("-pk").first()
    return f"{letters.nameless()} {letters.because(taken.grounds)}" if taken else ""


def removal_message(player: Player, live_table: LiveTable) -> str:
    """Return the message that a message of the player was just removed, and why; "" where none was."""
    removed = ChatMessage.objects.filter(player=player, live_table=live_table, removed_at__gt=Now() - JUST_NOW)
    last = removed.exclude(removed_for="").order_by("-removed_at").first()
    if last is None:
        return ""
    return f"{letters.removed(live_table.table.name)} {letters.because(last.removed_for)}"


def message_at(live_table: LiveTable, number: int, *, lock: bool = False) -> ChatMessage:
    """Return a message of a table that players still see: of the last day, and not removed. Raises NotThere.

    With *lock* it cannot be removed until the transaction ends, so that no removed message is
    reported.
    """
    seen = ChatMessage.objects.filter(pk=number, live_table=live_table, removed_at=None, at__gt=Now() - SHOWN_FOR)
    found = (seen.select_for_update(no_key=True) if lock else seen).first()
    if found is None:
        raise NotThere(_("This message is no longer available."))
    return found


def shown_name(message: ChatMessage) -> str:
    """Return the name shown with a message; "" where staff took it away."""
    taken = ChatNameTaken.objects.alias(lower=Lower("name")).filter(lower=Lower(Value(message.name)))
    return "" if taken.exists() else message.name


def bans_in_force() -> QuerySet[ChatBan]:
    """Return the bans in force."""
    return ChatBan.objects.filter(Q(until=None) | Q(until__gt=Now()), lifted_at=None)


def _demand_no_ban(player: Player, live_table: LiveTable | None = None) -> None:
    found = ban_of(player, live_table)
    if found:
        raise Banned(ban_message(found, player))


def _no_name(player: Player) -> NoName:
    return NoName(name_taken_message(player) or _("Choose a name first. Other players at the table see this name."))


@contextmanager
def _said_by_the_database(player: Player, live_table: LiveTable | None = None) -> Iterator[None]:
    """Convert errors of the database to errors of the chat."""
    try:
        with transaction.atomic():
            yield
    except DatabaseError as error:
        cause = error.__cause__
        match getattr(cause, "sqlstate", None):
            case "SB011":
                raise TooFast(
                    _("You are sending messages too quickly. Wait a moment, then send this one again.")
                ) from error
            case "SB012":
                raise Banned(ban_message(ban_of(player, live_table) or Ban(None), player)) from error
            case "SB013":
                raise _no_name(player) from error
            case "SB014":
                raise NamedToday(_("You can change your name once a day.")) from error
            case "SB015":
                raise NameGone(_("We have removed this name. Choose another one.")) from error
            case "SB146":
                raise TooManyReports(
                    _("You have reported many messages within an hour. We will review them. Report more later.")
                ) from error
            case "23505":
                raise NameTaken(_("This name is already taken. Choose another one.")) from error
        raise
