"""The moderation queue: messages that await a decision, with context and author; decisions; chat search."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Lower

from games.chat import bans_in_force
from games.models import ChatBan, ChatMessage, ChatNameTaken, ChatReport, LiveTable, ReportDecision

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
        """Whether a report awaits a decision."""
        return any(not report.decision for report in self.reports)


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
    first: int  # id of the first waiting report, used for paging
    since: datetime
    cases: Sequence[Case]  # the first `FEW` messages, in the order of their reports
    count: int  # of waiting messages


def open_reports() -> QuerySet[ChatReport]:
    """Return the undecided reports."""
    return ChatReport.objects.filter(decision="")


def waiting_count() -> int:
    """Return how many messages await a decision."""
    return open_reports().values("message").distinct().count()


def authors_waiting(wanted: Wanted, *, after: int, most: int) -> list[Author]:
    """Return the authors whose messages await a decision, the longest waiting first, after the report *after*."""
    waiting = _fitting(open_reports(), wanted)
    found = waiting.values("message__player").annotate(first=Min("pk"), since=Min("at")).filter(first__gt=after)
    return [
        _author(waiting, row["message__player"], row["first"], row["since"]) for row in found.order_by("first")[:most]
    ]


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


def _author(waiting: QuerySet[ChatReport], player_id: int, first: int, since: datetime) -> Author:
    reported = waiting.filter(message__player=player_id).values("message").annotate(first=Min("pk")).order_by("first")
    numbers = [row["message"] for row in reported]
    found = said().in_bulk(numbers[:FEW])
    cases = [case_of(found[number]) for number in numbers[:FEW]]
    return Author(player_id=player_id, first=first, since=since, cases=cases, count=len(numbers))
