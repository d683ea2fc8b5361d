"""Confirmation of identities by a register or an eID: a common interface, and what follows from an answer.

``SABOT_IDENTITY_REGISTERS`` and ``SABOT_EIDS`` configure the register and the eID of each
jurisdiction by dotted path; see ``docs/registers.md``. A confirmed identity counts as one that
staff have verified. The national number is stored as a keyed hash only. Where the law does not ask
for a confirmation, the player's own statement is stored and compared in the same way.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from typing import Final, Protocol

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils.module_loading import import_string

from audit import log
from players import search
from players.identity import duplicates, normalise
from players.identity.verification import (
    AnotherPerson,
    DuplicateOpen,
    SamePerson,
    demand_one_account,
    keep_confirmation,
)
from players.models import Ground, Player, RefusalReason, Submission, SubmissionStatus, Trait
from players.protection import screening

# Papers refused for one of these are for staff: no register knows of it.
FOR_STAFF: Final = (RefusalReason.ALTERED, RefusalReason.ANOTHER_ACCOUNT)


@dataclass(frozen=True)
class Stated:
    """Name and address as the player states them."""

    given_names: str
    family_name: str
    street: str
    postal_code: str
    city: str


@dataclass(frozen=True)
class Claim:
    """A person to confirm. *number* is the national number, empty in countries without an entry in `NUMBERS`."""

    country: str
    birth_date: date
    stated: Stated
    number: str


class NotConfirmed(Exception):
    """The register knows no such person."""


class RegisterSilent(Exception):
    """The register gave no valid answer."""


class LeftToStaff(Exception):
    """Only staff can confirm this player: there may be another account, staff refused the player's papers, or the
    register names another person than it did before.
    """


class IdentityRegister(Protocol):
    """A register of people, or an eID."""

    name: str  # recorded with each confirmation, 40 characters at most

    def confirm(self, claim: Claim) -> bool:
        """Return whether this person exists with exactly this data, within a few seconds. Raises RegisterSilent."""
        ...


@dataclass(frozen=True)
class Identified:
    """Person as identified by an eID. *number* is as in `Claim`."""

    birth_date: date
    stated: Stated
    number: str


class Eid(Protocol):
    """An electronic identity on whose pages people say who they are, such as BankID or MitID."""

    name: str  # recorded with each confirmation, 40 characters at most

    def title(self, country: str) -> str:
        """Return what people call it in a country."""
        ...

    def page(self, *, state: str, country: str) -> str:
        """Return the address of its page. It leads back to `identity_eid_back` with *state* and its answer."""
        ...

    def read_answer(self, query: Mapping[str, str], *, state: str) -> Identified:
        """Return who answered a page of this *state*. Raises RegisterSilent for any other answer."""
        ...


@dataclass(frozen=True)
class NationalNumber:
    """The number that a country gives each person: its name there, and its form as people write it."""

    label: str
    pattern: re.Pattern[str]


NUMBERS: Final[Mapping[str, NationalNumber]] = {
    "SE": NationalNumber("Personnummer", re.compile(r"(?:19|20)?\d{6}[-+]?\d{4}", re.ASCII)),
    "DK": NationalNumber("CPR-nummer", re.compile(r"\d{6}-?\d{4}", re.ASCII)),
    "RO": NationalNumber("CNP", re.compile(r"\d{13}", re.ASCII)),
}


def register_of(jurisdiction: str) -> IdentityRegister | None:
    """Return the identity register that is configured for a jurisdiction, if any."""
    path = settings.IDENTITY_REGISTERS.get(jurisdiction)
    return _configured(path) if path else None


def eid_of(jurisdiction: str) -> Eid | None:
    """Return the eID that is configured for a jurisdiction, if any."""
    path = settings.EIDS.get(jurisdiction)
    return _configured_eid(path) if path else None


def confirm(*, player: Player, stated: Stated, number: str) -> Submission:
    """Have the register confirm a player, and store that with the data that it confirmed.

    Another account with the same name and date of birth, or the same number, becomes a likely
    duplicate, and its exclusions hold for this account too. Raises NotConfirmed, RegisterSilent,
    LeftToStaff; all are recorded.
    """
    register = register_of(player.jurisdiction_id)
    if register is None:
        raise RegisterSilent
    with _refusals_recorded(player, register.name):
        if not register.confirm(Claim(player.jurisdiction_id, player.birth_date, stated, number)):
            raise NotConfirmed
        return _keep(player, stated, number, register.name)


def confirm_by_eid(*, player: Player, query: Mapping[str, str], state: str) -> Submission:
    """Store who an eID says that the player is, from its answer to a page of this *state*.

    What follows is as with `confirm`. Raises NotConfirmed if the person has another date of birth
    than the player stated, RegisterSilent, LeftToStaff; all are recorded.
    """
    eid = eid_of(player.jurisdiction_id)
    if eid is None:
        raise RegisterSilent
    with _refusals_recorded(player, eid.name):
        found = eid.read_answer(query, state=state)
        if found.birth_date != player.birth_date:
            raise NotConfirmed
        return _keep(player, found.stated, found.number, eid.name)


def state(*, player: Player, stated: Stated) -> Submission:
    """Store what a player states, where the law does not ask for a confirmation before play. Raises LeftToStaff."""
    return _keep(player, stated, "", "")


@contextmanager
def _refusals_recorded(player: Player, register: str) -> Iterator[None]:
    try:
        yield
    except AnotherPerson as refusal:
        with transaction.atomic():
            log.record("identity.another_person", by=str(player), on=str(player), data={"register": register})
        raise LeftToStaff from refusal
    except (NotConfirmed, RegisterSilent, LeftToStaff) as refusal:
        data: dict[str, log.Json] = {"register": register, "reason": type(refusal).__name__}
        log.record_refusal("identity.not_confirmed", by=str(player), on=str(player), data=data)
        raise


@transaction.atomic
def _keep(player: Player, stated: Stated, number: str, register: str) -> Submission:
    """Store a submission that a *register* has confirmed, or nobody if it is empty. Raises LeftToStaff."""
    duplicates.hold_still()
    if register:
        _demand_same_name(player, stated, number)
    _demand_no_decision_of_staff(player)
    said, status = asdict(stated), SubmissionStatus.VERIFIED if register else SubmissionStatus.STATED
    submission = Submission.objects.create(
        player=player, status=status, register=register, reviewed_at=Now() if register else None, **said
    )
    keep_confirmation(player, f"register:{register}" if register else str(player), number if register else "")
    log.record(
        "identity.confirmed" if register else "identity.stated",
        by=str(player),
        on=str(player),
        data={"submission": submission.pk, "register": register},
        personal=said,
    )
    duplicates.note_submission(submission)
    search.keep_words(submission)
    screening.screen(player)
    return submission


def _demand_same_name(player: Player, stated: Stated, number: str) -> None:
    """Raise AnotherPerson if the player was verified under another name, unless the national number is the same one.

    The database compares the number, which not every country has, and not across a change of the keys of its hashes.
    Somebody who marries keeps it; for all others staff look at documents.
    """
    verified = Submission.objects.filter(player=player, status=SubmissionStatus.VERIFIED).order_by("-id").first()
    if verified is None or Trait.objects.filter(
        player=player, ground=Ground.PERSON, fingerprint__in=duplicates.hashes_of_number(player, number)
    ):
        return
    names = [normalise.name(each.given_names, each.family_name) for each in (verified, stated)]
    if names[0] != names[1]:
        raise AnotherPerson


def _demand_no_decision_of_staff(player: Player) -> None:
    """Raise LeftToStaff if staff have to decide about the player, or have decided what a register cannot know."""
    reviewed = Submission.objects.filter(player=player, reviewed_at__isnull=False).order_by("-id").first()
    if reviewed and reviewed.reason in FOR_STAFF:
        raise LeftToStaff
    try:
        demand_one_account(player)
    except (DuplicateOpen, SamePerson) as other_account:
        raise LeftToStaff from other_account


@cache
def _configured(path: str) -> IdentityRegister:
    register: IdentityRegister = import_string(path)()
    return register


@cache
def _configured_eid(path: str) -> Eid:
    eid: Eid = import_string(path)()
    return eid
