"""What staff decide in the chat of shared tables, and what the house forgets of it.

Messages and players are on record by their numbers; the words stay in the chat alone.
"""

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Final

from django.db import connection, transaction
from django.db.models.functions import Now

from audit import log, retention
from audit.log import Json
from audit.models import Kept
from games.live import news
from games.live.chat import bans_in_force
from games.live.chat_rules import ChatError
from games.models import ChatBan, ChatMessage, ChatReport, ReportDecision
from players.models import Player, Staff

BATCH: Final = 1000


class Decided(ChatError):
    """Somebody else has decided it meanwhile."""


class Length(StrEnum):
    """For how long staff keep a player from writing."""

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


@transaction.atomic
def remove(*, message_id: int, by: Staff) -> ChatMessage:
    """Take a message away for everybody, for good; reports of it are decided with it. Raises Decided."""
    said = ChatMessage.objects.select_for_update(no_key=True).filter(pk=message_id).first()
    if said is None or said.removed_at is not None:
        raise Decided("This message has been removed meanwhile.")
    ChatMessage.objects.filter(pk=said.pk).update(removed_at=Now(), removed_by=str(by))
    reports = _decide(said, ReportDecision.REMOVED, by)
    data: dict[str, Json] = {"author": str(said.author), "reports": reports}
    log.record("chat.removed", by=str(by), on=f"chat_message:{said.pk}", data=data)
    news.tell_chat(said.live_table_id)
    return said


@transaction.atomic
def keep(*, message_id: int, by: Staff) -> ChatMessage:
    """Let a message stand that was reported. Raises Decided."""
    said = ChatMessage.objects.select_for_update(no_key=True).filter(pk=message_id).first()
    reports = _decide(said, ReportDecision.KEPT, by) if said else []
    if said is None or not reports:
        raise Decided("These reports have been decided meanwhile.")
    data: dict[str, Json] = {"author": str(said.author), "reports": reports}
    log.record("chat.kept", by=str(by), on=f"chat_message:{said.pk}", data=data)
    return said


@transaction.atomic
def ban(*, player: Player, length: Length, reason: str, by: Staff) -> ChatBan:
    """Keep a player from writing in any chat, from now on."""
    span = LENGTHS[length]
    until = Now() + span if span else None
    begun = ChatBan.objects.create(player=player, until=until, reason=reason, by=str(by))
    data = {"ban": begun.pk, "length": length.value}
    log.record("chat.banned", by=str(by), on=str(player), data=data, personal={"reason": reason})
    begun.refresh_from_db()
    return begun


@transaction.atomic
def lift(*, ban_id: int, by: Staff) -> ChatBan:
    """Let a player write again. Raises Decided where nothing keeps them from it any more."""
    found = (
        bans_in_force().select_for_update(no_key=True, of=("self",)).filter(pk=ban_id).select_related("player").first()
    )
    if found is None:
        raise Decided("This ban has ended already.")
    ChatBan.objects.filter(pk=found.pk).update(lifted_at=Now(), lifted_by=str(by))
    log.record("chat.ban_lifted", by=str(by), on=str(found.player), data={"ban": found.pk})
    return found


def decide(*, message_id: int, decision: ReportDecision, length: Length | None, reason: str, by: Staff) -> ChatMessage:
    """Decide on a reported message and, where *length* says so, keep its author from writing: both or neither. Raises
    Decided.
    """
    with transaction.atomic():
        deed: Callable[..., ChatMessage] = remove if decision is ReportDecision.REMOVED else keep
        said = deed(message_id=message_id, by=by)
        if length is not None:
            ban(player=said.player, length=length, reason=reason, by=by)
    return said


def forget_old() -> int:
    """Delete what was said longer ago than the chat is kept, with what was reported of it and decided; return how many
    messages went. What still awaits its decision waits.
    """
    count = 0
    while went := _forget_some():
        count += went
    return count


@transaction.atomic
def _forget_some() -> int:
    waiting = ChatReport.objects.filter(decision="").values("message")
    old = ChatMessage.objects.filter(at__lt=Now() - retention.kept(Kept.CHAT)).exclude(pk__in=waiting).order_by("pk")
    due = list(old.values_list("pk", flat=True)[:BATCH])
    ChatReport.objects.filter(message__in=due).delete()
    return ChatMessage.objects.filter(pk__in=due)._raw_delete(using="default")


def forget(player: Player) -> None:
    """Forget under what name a player was read, whom they blocked, why they were banned, and what is left of what they
    said. The database refuses where the account has not been erased.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_forget_chat(%s)", [player.pk])


def _decide(said: ChatMessage, decision: ReportDecision, by: Staff) -> list[int]:
    open_ones = ChatReport.objects.filter(message=said, decision="").order_by("pk")
    numbers = list(open_ones.values_list("pk", flat=True))
    open_ones.update(decision=decision, decided_by=str(by), decided_at=Now())
    return numbers
