"""The chat as staff read it: what awaits their decision, each message among those around it, and the log of it all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Min, Q, QuerySet

from games.live.chat import bans_in_force
from games.models import ChatBan, ChatMessage, ChatReport, LiveTable, ReportDecision

AROUND: Final = 5  # messages before and after the one in question
FEW: Final = 5


@dataclass(frozen=True)
class Case:
    """A message with what was said around it, and what is known of its author."""

    message: ChatMessage
    before: Sequence[ChatMessage]
    after: Sequence[ChatMessage]
    reports: Sequence[ChatReport]  # of this message, oldest first
    removed: int  # other messages of the author that staff took away
    kept: int  # other messages of the author that were reported, and stayed
    waiting: int  # other messages of the author that await a decision
    bans: Sequence[ChatBan]  # of the author, latest first
    ban_in_force: ChatBan | None

    @property
    def is_open(self) -> bool:
        """Whether a report awaits its decision."""
        return any(not report.decision for report in self.reports)


def open_reports() -> QuerySet[ChatReport]:
    """Return the reports that nobody has decided."""
    return ChatReport.objects.filter(decision="")


def waiting_count() -> int:
    """Return how many messages await a decision."""
    return open_reports().values("message").distinct().count()


def open_cases(most: int) -> list[Case]:
    """Return the messages that await a decision, those that were reported first before the others."""
    waiting = open_reports().values("message").annotate(since=Min("at")).order_by("since", "message")
    numbers = [row["message"] for row in waiting[:most]]
    found = said().in_bulk(numbers)
    return [case_of(found[number]) for number in numbers if number in found]


def case_of(message: ChatMessage) -> Case:
    """Return all there is to know for a decision on a message."""
    around = said().filter(live_table=message.live_table_id)
    reported = ChatReport.objects.filter(message__player=message.player_id).exclude(message=message)
    bans = ChatBan.objects.filter(player=message.player_id).order_by("-pk")
    return Case(
        message=message,
        before=list(around.filter(pk__lt=message.pk).order_by("-pk")[:AROUND])[::-1],
        after=list(around.filter(pk__gt=message.pk).order_by("pk")[:AROUND]),
        reports=list(ChatReport.objects.filter(message=message).order_by("pk")),
        removed=ChatMessage.objects.filter(player=message.player_id, removed_at__isnull=False)
        .exclude(pk=message.pk)
        .count(),
        kept=reported.filter(decision=ReportDecision.KEPT).values("message").distinct().count(),
        waiting=reported.filter(decision="").values("message").distinct().count(),
        bans=list(bans[:FEW]),
        ban_in_force=bans_in_force().filter(player=message.player_id).order_by("-pk").first(),
    )


def said() -> QuerySet[ChatMessage]:
    """Return everything that was said, with where it was."""
    return ChatMessage.objects.select_related("live_table__table")


def search(
    *, live_table: LiveTable | None, who: str, text: str, since: object, until: object, before: int | None
) -> QuerySet[ChatMessage]:
    """Return what was said, latest first: at a table, by a player (a number, or a name they had in the chat), between
    two moments, with these words in it; *before* the message of that number.
    """
    found = said().order_by("-pk")
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
    return found.filter(pk__lt=before) if before else found
