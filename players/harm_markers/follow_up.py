"""Follow-up of flags by staff: record contacts and close flags. Contacts are only added, never changed."""

from datetime import date, datetime

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Now

from audit import log
from players.models import Contact, ContactWay, Flag, FlagOutcome, Marker, Player, Sighting, Staff


class FlagError(Exception):
    """Nothing was written. The message is for staff."""


class FlagClosed(FlagError):
    """The flag is closed already."""


class NoContact(FlagError):
    """The flag has no contact. Even "no contact needed" must be recorded before the flag is closed."""


class NotYet(FlagError):
    """The time of the contact is in the future, or the next review is before the contact."""


def flags(*, player: Player | None = None, marker: Marker | None = None, is_open: bool = True) -> QuerySet[Flag]:
    """Return flags with their sightings and contacts, newest first."""
    found = Flag.objects.filter(closed_at__isnull=is_open).select_related("player__user", "player__jurisdiction")
    if player is not None:
        found = found.filter(player=player)
    if marker is not None:
        found = found.filter(marker=marker)
    seen = Prefetch("sightings", Sighting.objects.defer("rows").order_by("-id"))
    return found.prefetch_related(seen, Prefetch("contacts", Contact.objects.order_by("-id"))).order_by("-id")


@transaction.atomic
def record_contact(
    *, flag_id: int, made_at: datetime, way: ContactWay, said: str, next_look: date | None, by: Staff
) -> Contact:
    """Record how staff contacted the player because of a flag, what was said, and the date of the next review.

    Raises Flag.DoesNotExist, FlagClosed, NotYet.
    """
    flag = _open(flag_id)
    if not Flag.objects.filter(pk=flag.pk).annotate(now=Now()).filter(now__gte=made_at).exists():
        raise NotYet("The contact lies in the future.")
    if next_look is not None and next_look < made_at.date():
        raise NotYet("The next look lies before the contact.")
    contact = Contact.objects.create(flag=flag, staff=by, made_at=made_at, way=way, said=said, next_look=next_look)
    data: dict[str, log.Json] = {
        "flag": flag.pk,
        "contact": contact.pk,
        "way": way.value,
        "made_at": made_at.isoformat(),
        "next_look": next_look.isoformat() if next_look else None,
    }
    log.record("marker.contact", by=str(by), on=str(flag.player), data=data)
    return contact


@transaction.atomic
def close(*, flag_id: int, outcome: FlagOutcome, note: str, by: Staff) -> Flag:
    """Close a flag permanently. What was seen until now raises no new flag.

    Raises Flag.DoesNotExist, FlagClosed, NoContact.
    """
    flag = _open(flag_id)
    if not flag.contacts.exists():
        raise NoContact("Record the contact first, or that none was needed.")
    Flag.objects.filter(pk=flag.pk).update(closed_at=Now(), closed_by=by, outcome=outcome, note=note)
    flag.refresh_from_db()
    data: dict[str, log.Json] = {"flag": flag.pk, "marker": str(flag.marker), "outcome": outcome.value}
    log.record("marker.closed", by=str(by), on=str(flag.player), data=data)
    return flag


def _open(flag_id: int) -> Flag:
    """Return the flag, locked until the transaction ends. Raises FlagClosed."""
    flag = Flag.objects.select_for_update(of=("self",)).select_related("player").get(pk=flag_id)
    if flag.closed_at is not None:
        raise FlagClosed("This flag is closed.")
    return flag
