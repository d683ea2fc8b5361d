"""Moderation of the chat of shared tables: its queue, decisions of staff, deletion of old messages.

The player concerned is notified at once, by a letter among their messages and at their tables. The
audit log names messages and players by id; the texts are stored in the chat only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Final

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext

from audit import log, retention
from audit.log import Json
from audit.models import RetainedData
from games.chat import bans_in_force, letters
from games.chat.letters import ActionText
from games.chat.rules import ChatError
from games.models import (
    ChatBan,
    ChatMessage,
    ChatName,
    ChatNameTaken,
    ChatReport,
    CheminSeat,
    Grounds,
    LiveTable,
    ReportDecision,
)
from players import notify
from players.models import Player, Staff

BATCH: Final = 1000


class Decided(ChatError):
    """Another staff member has decided first."""


class Length(StrEnum):
    """Length of a ban from writing."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    LIFTED = "lifted"


LENGTHS: Final[dict[Length, timedelta | None]] = {
    Length.HOUR: timedelta(hours=1),
    Length.DAY: timedelta(days=1),
    Length.WEEK: timedelta(weeks=1),
    Length.LIFTED: None,
}


@dataclass(frozen=True)
class Why:
    """The grounds, which the player sees, and a note that only staff see."""

    grounds: Grounds
    note: str = ""


@dataclass(frozen=True)
class Decision:
    """A decision on a message, its author and the author's name."""

    of_message: ReportDecision
    why: Why
    length: Length | None = None  # length of the author's ban, None for no ban
    is_at_one_table: bool = False  # the ban is for the table of the message only, not for all tables
    takes_name: bool = False


@transaction.atomic
def remove(*, message_id: int, why: Why, by: Staff) -> ChatMessage:
    """Remove a message for everybody, and decide its reports. Raises Decided."""
    said, message = _remove(message_id, why, by)
    _notify_player(said.player, [message], why, by)
    return said


@transaction.atomic
def keep(*, message_id: int, by: Staff) -> ChatMessage:
    """Keep a reported message. Raises Decided."""
    said = ChatMessage.objects.select_for_update(no_key=True).filter(pk=message_id).first()
    reports = _decide(said, ReportDecision.KEPT, by) if said else []
    if said is None or not reports:
        raise Decided(gettext("These reports have already been decided."))
    data: dict[str, Json] = {"author": str(said.author), "reports": reports}
    log.record("chat.retained", by=str(by), on=f"chat_message:{said.pk}", data=data)
    return said


@transaction.atomic
def ban(*, player: Player, length: Length, why: Why, by: Staff, live_table: LiveTable | None = None) -> ChatBan:
    """Ban a player from writing, at one table or at all."""
    begun, message = _ban(player, length, why, by, live_table)
    _notify_player(player, [message], why, by)
    return begun


@transaction.atomic
def take_name(*, player: Player, name: str, why: Why, by: Staff) -> ChatNameTaken:
    """Take *name* away from a player who has it or had it. Raises Decided.

    Nobody can choose the name again, and messages written under it show no name. A newer name of
    the player stays.
    """
    taken, message = _take_name(player, name, why, by)
    _notify_player(player, [message] if message else [], why, by)
    return taken


@transaction.atomic
def decide(*, message_id: int, decision: Decision, by: Staff) -> ChatMessage:
    """Decide on a message, its author and the author's name, all or nothing, with one letter.

    Raises Decided.
    """
    why, done = decision.why, []
    if decision.of_message is ReportDecision.REMOVED:
        said, message = _remove(message_id, why, by)
        done.append(message)
    else:
        said = keep(message_id=message_id, by=by)
    if decision.takes_name:
        _, taken = _take_name(said.player, said.name, why, by)
        done += [taken] if taken else []
    if decision.length is not None:
        where = said.live_table if decision.is_at_one_table else None
        done.append(_ban(said.player, decision.length, why, by, where)[1])
    _notify_player(said.player, done, why, by)
    return said


@transaction.atomic
def lift(*, ban_id: int, by: Staff) -> ChatBan:
    """Lift a ban. Raises Decided where it is no longer in force."""
    found = (
        bans_in_force().select_for_update(no_key=True, of=("self",)).filter(pk=ban_id).select_related("player").first()
    )
    if found is None:
        raise Decided(gettext("This ban has ended already."))
    ChatBan.objects.filter(pk=found.pk).update(lifted_at=Now(), lifted_by=str(by))
    log.record("chat.ban_lifted", by=str(by), on=str(found.player), data={"ban": found.pk})
    notify.notify_decision(found.player_id)
    return found


def forget_old() -> int:
    """Delete messages past the retention time with their reports; return the number of messages.

    Messages with an undecided report are kept.
    """
    count = 0
    while went := _forget_some():
        count += went
    return count


@transaction.atomic
def _forget_some() -> int:
    waiting = ChatReport.objects.filter(decision="").values("message")
    old = (
        ChatMessage.objects.filter(at__lt=Now() - retention.period(RetainedData.CHAT))
        .exclude(pk__in=waiting)
        .order_by("pk")
    )
    due = list(old.values_list("pk", flat=True)[:BATCH])
    ChatReport.objects.filter(message__in=due).delete()
    return ChatMessage.objects.filter(pk__in=due)._raw_delete(using="default")


def forget(player: Player) -> None:
    """Erase a player from the chat: name, names taken away, blocks, reasons of bans, old messages.

    The database refuses where the account was not erased.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_forget_chat(%s)", [player.pk])


def _remove(message_id: int, why: Why, by: Staff) -> tuple[ChatMessage, ActionText]:
    messages = ChatMessage.objects.select_for_update(no_key=True, of=("self",)).select_related("live_table__table")
    said = messages.filter(pk=message_id).first()
    if said is None or said.removed_at is not None:
        raise Decided(gettext("This message has already been removed."))
    ChatMessage.objects.filter(pk=said.pk).update(
        removed_at=Now(), removed_by=str(by), removed_for=why.grounds, removed_note=why.note
    )
    reports = _decide(said, ReportDecision.REMOVED, by)
    data: dict[str, Json] = {"author": str(said.author), "reports": reports, "grounds": why.grounds.value}
    log.record("chat.removed", by=str(by), on=f"chat_message:{said.pk}", data=data)
    notify.notify_chat(said.live_table_id)
    return said, partial(letters.removed, said.live_table.table.name)


def _ban(
    player: Player, length: Length, why: Why, by: Staff, live_table: LiveTable | None
) -> tuple[ChatBan, ActionText]:
    span = LENGTHS[length]
    begun = ChatBan.objects.create(
        player=player,
        live_table=live_table,
        until=Now() + span if span else None,
        grounds=why.grounds,
        reason=why.note,
        by=str(by),
    )
    begun.refresh_from_db(fields=["until", "at"])
    data: dict[str, Json] = {
        "ban": begun.pk,
        "length": length.value,
        "grounds": why.grounds.value,
        "live_table": begun.live_table_id,
    }
    log.record("chat.banned", by=str(by), on=str(player), data=data, personal=_noted(why))
    if live_table:
        return begun, partial(letters.muted, live_table.table.name, begun.until, player)
    return begun, partial(letters.banned, begun.until, player)


def _take_name(player: Player, name: str, why: Why, by: Staff) -> tuple[ChatNameTaken, ActionText | None]:
    """Take a name away; return no message for a player who has already chosen another one."""
    try:
        with transaction.atomic():
            taken = ChatNameTaken.objects.create(
                player=player, name=name, grounds=why.grounds, note=why.note, by=str(by)
            )
    except IntegrityError as error:
        raise Decided(gettext("This name has already been removed.")) from error
    data: dict[str, Json] = {"taken": taken.pk, "grounds": why.grounds.value}
    personal = {"name": name} | _noted(why)
    log.record("chat.name_taken", by=str(by), on=str(player), data=data, personal=personal)
    notify.notify_names(taken.pk)
    for seat in CheminSeat.objects.filter(player=player, left_at=None):
        notify.notify_table(seat.live_table_id)
    return taken, None if ChatName.objects.filter(player=player).exists() else letters.nameless


def _notify_player(player: Player, done: list[ActionText], why: Why, by: Staff) -> None:
    if done:
        letters.write(player=player, done=done, grounds=why.grounds, by=by)
        notify.notify_decision(player.pk)


def _noted(why: Why) -> dict[str, str]:
    return {"reason": why.note} if why.note else {}


def _decide(said: ChatMessage, decision: ReportDecision, by: Staff) -> list[int]:
    open_ones = ChatReport.objects.filter(message=said, decision="").order_by("pk")
    numbers = list(open_ones.values_list("pk", flat=True))
    open_ones.update(decision=decision, decided_by=str(by), decided_at=Now())
    return numbers


AROUND: Final = 5  # messages shown before and after the reported one
FEW: Final = 5


@dataclass(frozen=True)
class Case:
    """A message with its context and the history of its author."""

    message: ChatMessage
    before: Sequence[ChatMessage]
    after: Sequence[ChatMessage]
    reports: Sequence[ChatReport]  # of this message, oldest first
    removed: int  # other messages of the author that staff removed
    kept: int  # other messages of the author that were reported and kept
    waiting: int  # other messages of the author that await a decision
    names: Sequence[ChatNameTaken]  # names that staff took from the author, latest first
    bans: Sequence[ChatBan]  # of the author, latest first
    bans_in_force: Sequence[ChatBan]

    @property
    def is_open(self) -> bool:
        """True if a report awaits a decision."""
        return any(not report.decision for report in self.reports)

    @property
    def players(self) -> set[int]:
        """The ids of the players who wrote or reported a message of the case."""
        said = (self.message, *self.before, *self.after)
        return {each.player_id for each in said} | {each.player_id for each in self.reports}


@dataclass(frozen=True)
class Wanted:
    """Filters of reports; None or "" for no filter."""

    live_table: LiveTable | None = None
    reason: str = ""  # a `ReportReason`
    decision: str = ""  # a `ReportDecision`
    by: str = ""  # the staff member who decided, as in the audit log


@dataclass(frozen=True)
class Author:
    """An author whose messages await a decision."""

    player_id: int
    since: datetime  # time of the first waiting report
    cases: Sequence[Case]  # the first `FEW` messages, in the order of their reports
    count: int  # of waiting messages

    @property
    def players(self) -> set[int]:
        """The ids of the players in the cases."""
        return {self.player_id}.union(*(case.players for case in self.cases))


def open_reports() -> QuerySet[ChatReport]:
    """Return the undecided reports."""
    return ChatReport.objects.filter(decision="")


def waiting_count() -> int:
    """Return how many messages await a decision."""
    return open_reports().values("message").distinct().count()


def first_reports(wanted: Wanted) -> QuerySet[ChatReport]:
    """Return the first waiting report of each author whose messages await a decision."""
    of_authors = _fitting(open_reports(), wanted).values("message__player").annotate(first=Min("pk"))
    return ChatReport.objects.filter(pk__in=of_authors.values("first")).select_related("message")


def authors_of(reports: Iterable[ChatReport], wanted: Wanted) -> list[Author]:
    """Return the authors of these reports, with their waiting messages."""
    waiting = _fitting(open_reports(), wanted)
    return [_author(waiting, report.message.player_id, report.at) for report in reports]


def decided(wanted: Wanted) -> QuerySet[ChatReport]:
    """Return the decided reports."""
    found = _fitting(ChatReport.objects.exclude(decision=""), wanted).select_related("message__live_table__table")
    if wanted.decision:
        found = found.filter(decision=wanted.decision)
    if wanted.by:
        found = found.filter(decided_by=wanted.by)
    return found


def case_of(message: ChatMessage) -> Case:
    """Return a message with everything needed to decide on it."""
    around = said().filter(live_table=message.live_table_id)
    author = message.player_id
    reported = ChatReport.objects.filter(message__player=author).exclude(message=message)
    in_force = bans_in_force().filter(player=author).select_related("live_table__table")
    return Case(
        message=message,
        before=list(around.filter(pk__lt=message.pk).order_by("-pk")[:AROUND])[::-1],
        after=list(around.filter(pk__gt=message.pk).order_by("pk")[:AROUND]),
        reports=list(ChatReport.objects.filter(message=message).order_by("pk")),
        removed=ChatMessage.objects.filter(player=author, removed_at__isnull=False).exclude(pk=message.pk).count(),
        kept=reported.filter(decision=ReportDecision.KEPT).values("message").distinct().count(),
        waiting=reported.filter(decision="").values("message").distinct().count(),
        names=list(ChatNameTaken.objects.filter(player=author).order_by("-pk")[:FEW]),
        bans=list(ChatBan.objects.filter(player=author).select_related("live_table__table").order_by("-pk")[:FEW]),
        bans_in_force=list(in_force.order_by("-pk")),
    )


def said() -> QuerySet[ChatMessage]:
    """Return all messages with their table, and whether the name was taken away."""
    taken = ChatNameTaken.objects.alias(lower=Lower("name")).filter(lower=Lower(OuterRef("name")))
    return ChatMessage.objects.select_related("live_table__table").annotate(is_nameless=Exists(taken))


def search(*, live_table: LiveTable | None, who: str, text: str, since: object, until: object) -> QuerySet[ChatMessage]:
    """Return messages of a table, a player, a period, or containing a text.

    *who* is a player id or a chat name.
    """
    found = said()
    if live_table:
        found = found.filter(live_table=live_table)
    if who:
        number = who.lower().removeprefix("player:").strip()
        is_number = number.isascii() and number.isdecimal() and len(number) < 19
        found = found.filter(Q(player=int(number)) if is_number else Q(name__iexact=who.strip()))
    if text:
        found = found.filter(text__icontains=text)
    if since:
        found = found.filter(at__gte=since)
    if until:
        found = found.filter(at__lt=until)
    return found


def _fitting(reports: QuerySet[ChatReport], wanted: Wanted) -> QuerySet[ChatReport]:
    if wanted.live_table:
        reports = reports.filter(message__live_table=wanted.live_table)
    return reports.filter(reason=wanted.reason) if wanted.reason else reports


def _author(waiting: QuerySet[ChatReport], player_id: int, since: datetime) -> Author:
    reported = waiting.filter(message__player=player_id).values("message").annotate(first=Min("pk")).order_by("first")
    numbers = [row["message"] for row in reported]
    found = said().in_bulk(numbers[:FEW])
    cases = [case_of(found[number]) for number in numbers[:FEW]]
    return Author(player_id=player_id, since=since, cases=cases, count=len(numbers))
