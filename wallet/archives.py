"""What is asked of months whose journals have gone to an archive: which one has them, and in words for staff."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Sum

from audit import partitions
from audit.models import ArchivedMonth
from wallet import ledger
from wallet.models import ArchivedAccount, ArchivedJournal, PostingKey


def of_round(round_id: UUID) -> ArchivedMonth | None:
    """Return the first month with whose archive journals of a round have gone; None where all are here, or there were
    none.

    Of a round that went on in another month the ledger has kept which journals they were. Of others it has the keys
    under which stakes and payouts of every round are posted, with the numbers of their journals.
    """
    stayed = ArchivedJournal.objects.filter(round_id=round_id).order_by("pk").values_list("pk", flat=True).first()
    if stayed is not None:
        return partitions.archived(stayed)
    keys = [ledger.system_key(round_id, kind) for kind in ("stake", "settle")]
    first = PostingKey.objects.filter(key__in=keys).order_by("journal_id").values_list("journal_id", flat=True).first()
    return None if first is None else partitions.archived(first)


def gone(rounds: Sequence[UUID]) -> AbstractSet[UUID]:
    """Return which of these rounds have journals in an archive, as `of_round` says it of one."""
    cut = partitions.cut()
    if cut is None:
        return frozenset()
    keys = {ledger.system_key(each, kind): each for each in rounds for kind in ("stake", "settle")}
    posted = PostingKey.objects.filter(key__in=list(keys), journal_id__lt=cut.beyond).values_list("key", flat=True)
    stayed = ArchivedJournal.objects.filter(round_id__in=rounds).values_list("round_id", flat=True)
    return {keys[key] for key in posted}.union(each for each in stayed if each)


def of_events(at: datetime) -> ArchivedMonth | None:
    """Return the month with whose archive events of that moment have gone; None where they are here."""
    return ArchivedMonth.objects.filter(until__gte=at).order_by("beyond").first()


def sentence(month: ArchivedMonth) -> str:
    """Say to staff where journals are."""
    return f"Its journals are in the archive of {month.month}, file {month.file}."


def opening(account_id: int) -> int | None:
    """Return what an account came to when the last month went to an archive, minor units; None where nothing on it
    had moved by then.
    """
    found: int | None = ArchivedAccount.objects.filter(account_id=account_id).aggregate(sum=Sum("amount"))["sum"]
    return found


REST = "SELECT EXISTS (SELECT FROM wallet_archived_account AS c JOIN wallet_account AS a ON a.id = c.account_id"


def has_gone(player_id: int, mode: str, begin: datetime) -> bool:
    """Whether movements of a player's from that moment on may have gone to an archive."""
    cut = partitions.cut()
    if cut is None or begin > cut.until:
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"{REST} WHERE a.owner_id = %s AND a.mode = %s)", [player_id, mode])
        (found,) = cursor.fetchone()
    return bool(found)
