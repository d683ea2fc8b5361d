"""Reply templates, from which staff start an answer in the player's language. Each change is a new version."""

from collections.abc import Collection, Mapping
from typing import Final

from django.db import IntegrityError, transaction

from audit import log
from players.models import ReplyKind, ReplyTemplate, ReplyWithdrawal, Staff

WRITE: Final = "players.write_replies"


class Meanwhile(Exception):
    """Another staff member has written the next version, or withdrawn this one. The message is for staff."""


@transaction.atomic
def write(
    *, name: str, based_on: int, kind: ReplyKind, title: str, texts: Mapping[str, str], by: Staff
) -> ReplyTemplate:
    """Write the version of a template after *based_on* (0: the first version). Raises Meanwhile."""
    try:
        with transaction.atomic():
            made = ReplyTemplate.objects.create(
                name=name, number=based_on + 1, kind=kind, title=title, texts=dict(texts), by=by
            )
    except IntegrityError as error:
        raise Meanwhile("Somebody else has written this template meanwhile.") from error
    log.record("reply.written", by=str(by), on=str(made), data={"version": made.number, "kind": kind.value})
    return made


@transaction.atomic
def withdraw(*, name: str, number: int, reason: str, by: Staff) -> ReplyTemplate:
    """Withdraw a template whose newest version is *number*. Raises Meanwhile, ReplyTemplate.DoesNotExist."""
    newest = ReplyTemplate.objects.filter(name=name).order_by("-number").first()
    if newest is None:
        raise ReplyTemplate.DoesNotExist
    if newest.number != number:
        raise Meanwhile(f"There is a version {newest.number} by now. Look at it first.")
    _, is_new = ReplyWithdrawal.objects.get_or_create(template=newest, defaults={"by": by, "reason": reason})
    if not is_new:
        raise Meanwhile("It has been withdrawn already.")
    log.record("reply.withdrawn", by=str(by), on=str(newest), data={"version": number, "reason": reason})
    return newest


def newest() -> list[ReplyTemplate]:
    """Return the newest version of every template, withdrawn or not, by kind and title."""
    found = ReplyTemplate.objects.order_by("name", "-number").distinct("name").select_related("by", "withdrawal")
    return sorted(found, key=lambda each: (list(ReplyKind).index(ReplyKind(each.kind)), each.title))


def offered(kinds: Collection[ReplyKind]) -> list[ReplyTemplate]:
    """Return the templates of *kinds* that are not withdrawn."""
    return [each for each in newest() if each.kind in kinds and not hasattr(each, "withdrawal")]


def versions(name: str) -> list[ReplyTemplate]:
    """Return all versions of a template, newest first."""
    return list(ReplyTemplate.objects.filter(name=name).order_by("-number").select_related("by", "withdrawal__by"))
