"""Screening: lists of sanctioned and of politically exposed people, and the players who match them.

``SABOT_SCREENING_LISTS`` configures the lists by dotted path; see ``docs/registers.md``. Each is read every night, and
all players are compared with it; a player also when they state their name and before their first deposit. Names are
compared as those of possible duplicates are (`players.identity.normalise`), in the database (``players_screen`` in
``players/sql/functions/screening.sql``).

A match opens a case that holds payouts. Two people close it with a reason; a false match is remembered for exactly this
version of the entry. A list that cannot be read is a significant event each time.

The database takes a reading, and the word that there was none, with a proof of this process alone: a thief of the login
role can load no list without the person they look for (`players.login.credentials.proof_here`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final, Protocol

from django.conf import settings
from django.db import DatabaseError, DataError, IntegrityError, connection, transaction
from django.utils.module_loading import import_string
from django.utils.translation import gettext, gettext_noop

from audit import approvals
from audit.log import Json, canonical
from audit.models import Approval
from audit.raw_rows import sqlstate
from players import cases
from players.identity import normalise
from players.login import credentials
from players.models import (
    Case,
    CaseAction,
    CaseKind,
    CaseOutcome,
    ListTopic,
    Player,
    ScreeningEntry,
    ScreeningReading,
    Staff,
)

READ: Final = "SELECT players_read_screening_list(%s, %s, %s, %s)"
MISS: Final = "SELECT players_miss_screening_list(%s, %s, %s)"
SCREEN: Final = "SELECT players_screen(%s)"
IMPLAUSIBLE: Final = "SB154"
NIGHT: Final = time(3, 0)  # UTC: lists are read again from then on
RETRY: Final = timedelta(hours=4)  # after which a list that failed is read again
LONGEST_REASON: Final = 300  # characters of a reason that is stored
KIND: Final = "screening.decide"
PERMISSION: Final = "audit.handle_significant"


@dataclass(frozen=True)
class Listed:
    """A person on a list. *key* names the entry at the list, *names* are all spellings, the usual one first.

    *born* is the date of birth as far as it is known: "1960-01-31", "1960" or "".
    """

    key: str
    topic: ListTopic
    names: Sequence[str]
    born: str = ""


@dataclass(frozen=True)
class Published:
    """A list as it was published on a day."""

    on: date
    people: Sequence[Listed]


class ListUnreadable(Exception):
    """The list could not be read. The message says why, in a sentence for staff."""


class ScreeningList(Protocol):
    """A list of people. It holds no state of a player, and learns of none."""

    name: str  # recorded with each reading, 40 characters at most

    def read(self) -> Published:
        """Return the list as it is published now. Raises ListUnreadable."""
        ...


class SandboxList:
    """Invented people, for demos and tests."""

    name = "sandbox"
    published = date(2026, 1, 1)
    people = (
        Listed("S-1", ListTopic.SANCTIONS, ("Viktor Examplevich Sanctionov", "Victor Sanctionoff"), "1961-05-04"),
        Listed("S-2", ListTopic.SANCTIONS, ("Ingrid Mørk Listedahl",), "1970"),
        Listed("P-1", ListTopic.PEP, ("Henri Politique",), "1958-11-23"),
    )

    def read(self) -> Published:
        """Return the list, which never changes."""
        return Published(self.published, self.people)


def lists() -> list[ScreeningList]:
    """Return the configured lists."""
    return [_configured(path) for path in settings.SCREENING_LISTS]


def read_due(moment: datetime | None = None) -> int:
    """Read the lists that were not read since last night, and compare all players with them. Return the new cases.

    A list that cannot be read, or cannot be right, is recorded, tried again after `RETRY`, and its last entries stay in
    force. *moment*: now by default.
    """
    now = moment or datetime.now(UTC)
    night = datetime.combine(now.date(), NIGHT, UTC)
    night = night if night <= now else night - timedelta(days=1)
    due = [each for each in lists() if _is_due(each.name, night, now)]
    for each in due:
        _read(each)
    return _screen(None) if due else 0


def screen(player: Player) -> int:
    """Compare one player with the lists as they were read last, and return the number of new cases."""
    return _screen(player.pk)


def entry_of(case: Case) -> ScreeningEntry:
    """Return the entry that a case is about."""
    return ScreeningEntry.objects.get(pk=int(case.subject.partition(":")[2]))


def last_readings() -> list[ScreeningReading]:
    """Return the last successful reading of each list, and a later failure as a row of its own."""
    found = ScreeningReading.objects.order_by("list", "-id")
    read = {each.list: each for each in found.filter(published__isnull=False).distinct("list")}
    latest = {each.list: each for each in found.distinct("list")}
    return [each for name in sorted(latest) for each in dict.fromkeys((read.get(name), latest[name])) if each]


def ask(*, case: Case, outcome: str, reason: str, by: Staff) -> Approval:
    """Ask another person to close a case with *outcome*. Raises cases.CaseError, approvals.AskedTwice."""
    if outcome not in cases.OUTCOMES[CaseKind.SCREENING] or case.closed_at or not reason.strip():
        raise cases.DoesNotFit(gettext("Choose a closing reason and enter the findings of the case."))
    request: dict[str, Json] = {"case": case.pk, "player": case.player_id, "outcome": str(outcome)}
    return approvals.ask(kind=KIND, on=str(case), request=request, by=str(by), person=by.person, reason=reason)


def execute(request: Mapping[str, Json], verdict: approvals.Verdicted) -> None:
    """Close the case of an approved request. Raises approvals.CannotExecute."""
    asked = Approval.objects.get(pk=verdict.approval_id)
    by = Staff.objects.get(pk=int(verdict.by.partition(":")[2]))
    try:
        cases.act(case=_case(request), action=CaseAction.CLOSED, by=by, to=str(request["outcome"]), words=asked.reason)
    except cases.TakesTwo as error:
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error
    except cases.CaseError as error:
        raise approvals.CannotExecute(str(error)) from error


def describe(request: Mapping[str, Json]) -> approvals.Description:
    """Describe the match and the decision to the deciding staff member."""
    case = _case(request)
    entry = entry_of(case)
    return approvals.Description(
        title=gettext("Close %(case)s of %(player)s: %(outcome)s")
        % {"case": case, "player": case.player, "outcome": CaseOutcome(str(request["outcome"])).label},
        facts=[
            (gettext("List"), f"{entry.list}, {entry.get_topic_display()}, {entry.published}"),
            (gettext("Entry"), entry.key),
            (gettext("Listed name"), entry.name),
            (gettext("Listed date of birth"), entry.born or gettext("not known")),
            (gettext("Date of birth"), f"{case.player.birth_date}"),
        ],
    )


def register() -> None:
    """Register the request of two people who close a case."""
    approvals.register(
        KIND,
        title=gettext_noop("decision about a match with a list"),
        then=gettext_noop(
            "The case is closed. A false match releases payouts, and is not reported again for this entry. Otherwise "
            "payouts stay held."
        ),
        execute=execute,
        permission=PERMISSION,
        describe=describe,
    )


def _case(request: Mapping[str, Json]) -> Case:
    return Case.objects.select_related("player").get(pk=int(str(request["case"])))


@cache
def _configured(path: str) -> ScreeningList:
    made: ScreeningList = import_string(path)()
    return made


def _is_due(name: str, night: datetime, now: datetime) -> bool:
    tried = ScreeningReading.objects.filter(list=name)
    is_read = tried.filter(published__isnull=False, at__gte=night).exists()
    return not is_read and not tried.filter(at__gt=now - RETRY, at__gte=night).exists()


def _read(source: ScreeningList) -> None:
    """Store what a list says now, or why it could not be read."""
    try:
        published = source.read()
        said = [_said(each) for each in published.people]
        _keep(source.name, published.on, canonical(said))
    except (ListUnreadable, OSError, ValueError) as error:
        _miss(source.name, str(error)[:LONGEST_REASON] or "It gave no reason.")
    except (DataError, IntegrityError) as error:
        _miss(source.name, f"It has entries that cannot be stored: {error}"[:LONGEST_REASON])
    except DatabaseError as error:
        if sqlstate(error) != IMPLAUSIBLE:
            raise
        why = (
            f"It has {len(published.people)} entries of {published.on}: "
            "empty, older, of a day to come, or less than half of the last."
        )
        _miss(source.name, why)


@transaction.atomic
def _keep(name: str, published: date, said: str) -> None:
    proof = credentials.proof_here("screening read", f"{name}:{published.isoformat()}:{said}")
    _call(READ, name, published, said, proof)


@transaction.atomic
def _miss(name: str, why: str) -> None:
    _call(MISS, name, why, credentials.proof_here("screening missed", f"{name}:{why}"))


def _said(listed: Listed) -> dict[str, Json]:
    names = [words for words in (sorted(set(normalise.words(each))) for each in listed.names) if words]
    return {
        "key": listed.key,
        "topic": listed.topic.value,
        "name": "; ".join(listed.names),
        "names": [list(words) for words in names],
        "born": listed.born,
    }


def _screen(player_id: int | None) -> int:
    return int(_call(SCREEN, player_id) or 0)


def _call(statement: str, *values: str | bytes | int | date | None) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        (number,) = cursor.fetchone()
    return number if isinstance(number, int) else None
