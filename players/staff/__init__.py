"""Changes of staff accounts by two people: create, roles, disable, enable, reset of second factors.

One person asks and another decides; neither may be the person concerned. The database executes the
change (``sql/functions/staff.sql``) and checks the approval itself. This module asks, refuses
impossible requests early, ends sessions and tokens, records the event, and mails the person
concerned.

Descriptions of staff roles.

Roles are groups of permissions, created by the migrations (``players/migrations/0002_data.sql``).

Hints next to a reason field: whether the player can later read the reason.

Players may ask for all their data (`accounts.data_export`), so they can read most reasons.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import partial
from typing import Final, cast

import psycopg
from django.conf import settings
from django.contrib.auth.models import Group
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from django.utils.crypto import salted_hmac

from audit import approvals, log
from audit.models import Approval
from players import mail
from players.api import tokens
from players.login import second_factor, sessions
from players.models import Ended, Staff, StaffChange, StaffDeed, User
from players.registration import EmailTaken

ASK: Final = "players.ask_staff"
DECIDE: Final = "players.decide_staff"
SOMEBODY_DECIDES: Final = """
SELECT EXISTS (SELECT FROM players_staff_holders() WHERE codename = 'decide_staff' AND person <> ALL (%s::uuid[]))
"""
# Event of each action.
EVENTS: Final = {
    StaffDeed.MAKE: "staff.employed",
    StaffDeed.ROLES: "staff.roles_changed",
    StaffDeed.DISABLE: "staff.disabled",
    StaffDeed.ENABLE: "staff.enabled",
    StaffDeed.FACTORS: "staff.factors_reset",
}
TITLES: Final = {
    StaffDeed.ROLES: "Give %s other roles",
    StaffDeed.DISABLE: "Disable the account of %s",
    StaffDeed.ENABLE: "Enable the account of %s",
    StaffDeed.FACTORS: "Reset the second factors of %s",
}
NAMES: Final = {
    StaffDeed.MAKE: "new account of staff",
    StaffDeed.ROLES: "other roles of somebody of staff",
    StaffDeed.DISABLE: "disabling of an account of staff",
    StaffDeed.ENABLE: "enabling of an account of staff",
    StaffDeed.FACTORS: "reset of somebody’s second factors",
}
THEN: Final = {
    StaffDeed.MAKE: "The account is made at once. Its owner is written to, and chooses a password with a code by mail.",
    StaffDeed.ROLES: "The roles change at once, and whoever it is about is told.",
    StaffDeed.DISABLE: "Nobody can log in with the account any more, and its sessions and tokens end.",
    StaffDeed.ENABLE: "Whoever it belongs to can log in again, in the roles that it had.",
    StaffDeed.FACTORS: "The second factors no longer count and the sessions end. The next log-in sets up new ones.",
}
ENDS_SESSIONS: Final = {StaffDeed.DISABLE: Ended.CLOSED, StaffDeed.FACTORS: Ended.PASSWORD}
UNIQUE: Final = "23505"
# By SQLSTATE of the database's refusal.
REFUSALS: Final = {
    "SB020": "This was done already, or nobody approved it.",
    "SB021": "This is about your own account, or about that of whoever asked for it. Another person has to see to it.",
    "SB023": "The account is not any more as it was when this was asked for. It has to be asked for again.",
    "SB024": "Whoever asked for this may not any more. Somebody else has to ask for it again.",
}


class StaffingError(Exception):
    """Nothing was requested. The message is for staff."""


class OwnAccount(StaffingError):
    """The request concerns the asker's own person."""


class NothingToDo(StaffingError):
    """The account is already in the requested state."""


class NobodyDecides(StaffingError):
    """No third person could decide the request."""


class UnknownRole(StaffingError):
    """A role does not exist, or none was chosen."""


@transaction.atomic
def ask_to_make(
    *, email: str, name: str, roles: Iterable[str], same_as: Staff | None, reason: str, by: Staff
) -> Approval:
    """Ask for a new staff account. *same_as* is another account of the same person, None for a new person.

    Raises OwnAccount if *same_as* is the asker's; EmailTaken, UnknownRole, NobodyDecides,
    approvals.AskedTwice.
    """
    address = email.strip().lower()
    if same_as and same_as.person == by.person:
        raise OwnAccount("Nobody asks for a second account of their own.")
    if User.objects.filter(email=address).exists():
        raise EmailTaken
    request: dict[str, log.Json] = {
        "email": address,
        "name": name.strip(),
        "roles": _roles(roles),
        "person": str(same_as.person) if same_as else None,
    }
    # The event stores what the approval is on, and must not contain the address.
    number = salted_hmac("players.staff", address, algorithm="sha256").hexdigest()[:12]
    return _ask(StaffDeed.MAKE, f"log-in:{number}", request, reason, by)


@transaction.atomic
def ask_for_roles(*, member: Staff, roles: Iterable[str], reason: str, by: Staff) -> Approval:
    """Ask for a staff member to have exactly *roles*.

    Raises OwnAccount, UnknownRole, NothingToDo, NobodyDecides, approvals.AskedTwice.
    """
    _demand_another(member, by)
    now, wanted = roles_of(member), _roles(roles)
    if wanted == now:
        raise NothingToDo("These are the roles that the account has.")
    request: dict[str, log.Json] = {"staff": member.pk, "roles": wanted, "from": now}
    return _ask(StaffDeed.ROLES, str(member), request, reason, by)


@transaction.atomic
def ask(*, deed: StaffDeed, member: Staff, reason: str, by: Staff) -> Approval:
    """Ask for an account to be disabled or enabled, or for its second factors to be reset.

    Raises OwnAccount, NothingToDo, NobodyDecides, approvals.AskedTwice.
    """
    _demand_another(member, by)
    is_active = User.objects.get(pk=member.user_id).is_active
    if deed is StaffDeed.DISABLE and not is_active:
        raise NothingToDo("This account is disabled.")
    if deed is StaffDeed.ENABLE and is_active:
        raise NothingToDo("This account is not disabled.")
    if deed is StaffDeed.FACTORS and not second_factor.is_set_up(member.user):
        raise NothingToDo("No second factor is set up: it will be asked for at the next log-in.")
    return _ask(deed, str(member), {"staff": member.pk}, reason, by)


def execute(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Execute an approved request, end the account's sessions and tokens if needed, and mail the person concerned.

    Raises approvals.CannotExecute, with the reason, if the database refuses.
    """
    asked = Approval.objects.get(pk=verdict.approval_id)
    deed = StaffDeed(asked.kind)
    try:
        with transaction.atomic():
            login = _new_login(request) if deed is StaffDeed.MAKE else None
            member = _execute(asked, login)
    except DatabaseError as error:
        raise approvals.CannotExecute(_why(error)) from error
    if deed in ENDS_SESSIONS:
        sessions.end_all(user=member.user, why=ENDS_SESSIONS[deed], by=verdict.by)
        tokens.revoke_all(user=member.user, why=ENDS_SESSIONS[deed], by=verdict.by)
    change = StaffChange.objects.get(approval=asked)
    data: dict[str, log.Json] = {
        "before": change.before,
        "after": change.after,
        "reason": asked.reason,
        "asked_by": asked.by,
        "approval": asked.pk,
    }
    personal = None
    if deed is StaffDeed.MAKE:
        data |= {"roles": change.after["roles"], "person": str(member.person), "demo": False}
        personal = {"email": member.user.email, "name": member.name}
    log.record(EVENTS[deed], by=verdict.by, on=str(member), data=data, personal=personal)
    names = called()
    told = {
        "deed": deed,
        "member": member,
        "after": change.after,
        "asked": asked,
        "asked_by": names.get(asked.by, asked.by),
        "decided_by": names.get(verdict.by, verdict.by),
        "support": settings.SUPPORT_EMAIL,
        "house": settings.OPERATOR_NAME,
        "address": settings.HOUSE_HOST + reverse("staff_home"),
    }
    mail.write_to_staff(user=member.user, template="staff_account", context=told)


def refuse(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Refuse a request; nothing changes.

    Raises approvals.CannotExecute if it concerns the decider's own person.
    """
    subject = subject_of(request)
    if subject and Staff.objects.filter(pk=verdict.by.removeprefix("staff:"), person=subject.person).exists():
        raise approvals.CannotExecute(REFUSALS["SB021"])


def describe(deed: StaffDeed, request: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the request to the deciding staff member."""
    subject = subject_of(request)
    if deed is StaffDeed.MAKE:
        human = _accounts_of(subject) if subject else "somebody who has no account here yet, says who asks"
        return approvals.Description(
            title=f"Make an account of staff for {request['name']}",
            facts=[("E-mail address", str(request["email"])), ("Roles", _listed(request["roles"])), ("Who", human)],
        )
    assert subject  # noqa: S101  (staff accounts are never deleted)
    facts = [("Account", f"{subject}, {subject.user.email}"), ("Roles now", _listed(roles_of(subject)))]
    if deed is StaffDeed.ROLES:
        facts.append(("Roles then", _listed(request["roles"])))
    return approvals.Description(title=TITLES[deed] % subject.name, facts=facts)


def standing(deed: StaffDeed, request: Mapping[str, log.Json]) -> approvals.Facts:
    """Return the roles that nobody would have after the change."""
    subject = subject_of(request)
    if deed not in (StaffDeed.DISABLE, StaffDeed.ROLES) or not subject:
        return ()
    kept = request["roles"] if deed is StaffDeed.ROLES else []
    lost = [role for role in only_one_in(subject) if role not in cast("list[str]", kept)]
    return [("Then nobody is in", ", ".join(lost))] if lost else ()


def only_one_in(member: Staff) -> list[str]:
    """Return the roles that no other active person has, sorted. Empty if the account is disabled."""
    if not member.user.is_active:
        return []
    others = Staff.objects.filter(user__is_active=True).exclude(person=member.person)
    return sorted(set(roles_of(member)) - set(others.values_list("user__groups__name", flat=True)))


def subject_of(request: Mapping[str, log.Json]) -> Staff | None:
    """Return the staff member whom a request concerns.

    For a new account: another account of the same person, or None.
    """
    staff = Staff.objects.select_related("user").order_by("pk")
    if "staff" in request:
        return staff.get(pk=int(str(request["staff"])))
    return staff.filter(person=str(request["person"])).first() if request["person"] else None


def roles_of(member: Staff) -> list[str]:
    """Return the names of the member's roles, sorted."""
    return sorted(Group.objects.filter(user=member.user_id).values_list("name", flat=True))


def roles_with(permission: str) -> list[str]:
    """Return the names of the roles that have a permission (``app.codename``), sorted."""
    app, _dot, codename = permission.partition(".")
    found = Group.objects.filter(permissions__codename=codename, permissions__content_type__app_label=app)
    return sorted(found.values_list("name", flat=True))


def called() -> dict[str, str]:
    """Return the display name of each staff account, by its actor name in events."""
    return {str(member): f"{member.name} ({member})" for member in Staff.objects.only("name")}


def register() -> None:
    """Register the approvals of all actions on staff accounts."""
    for deed in StaffDeed:
        approvals.register(
            deed,
            title=NAMES[deed],
            then=THEN[deed],
            execute=execute,
            refuse=refuse,
            permission=DECIDE,
            describe=partial(describe, deed),
            standing=partial(standing, deed),
        )


def _ask(deed: StaffDeed, on: str, request: Mapping[str, log.Json], reason: str, by: Staff) -> Approval:
    subject = subject_of(request)
    with connection.cursor() as cursor:
        cursor.execute(SOMEBODY_DECIDES, [[by.person, *([subject.person] if subject else [])]])
        (somebody_decides,) = cursor.fetchone()
    if not somebody_decides:
        raise NobodyDecides(
            "Nobody could decide this: it takes a person who may, besides you and the one whom it is about. Ask for "
            "one first, or have whoever owns the database make one: manage.py make_staff."
        )
    return approvals.ask(kind=deed.value, on=on, request=request, by=str(by), person=by.person, reason=reason)


def _roles(wanted: Iterable[str]) -> list[str]:
    names = sorted(set(wanted))
    if not names or Group.objects.filter(name__in=names).count() != len(names):
        raise UnknownRole("Choose at least one of the roles.")
    return names


def _demand_another(member: Staff, by: Staff) -> None:
    if member.person == by.person:
        raise OwnAccount("Nobody asks for changes of their own account.")


def _new_login(request: Mapping[str, log.Json]) -> int:
    """Create the user without a password. The owner sets the first one with a mailed code."""
    return User.objects.create_user(str(request["email"]), None, verified=True, language="en").pk


def _execute(asked: Approval, login: int | None) -> Staff:
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_staff_execute(%s, %s)", [asked.pk, login])
        (number,) = cursor.fetchone()
    return Staff.objects.select_related("user").get(pk=number)


def _why(error: DatabaseError) -> str:
    state = error.__cause__.sqlstate if isinstance(error.__cause__, psycopg.Error) else None
    if state == UNIQUE:
        return "Somebody has this e-mail address already."
    if state not in REFUSALS:
        raise error
    return REFUSALS[state]


def _accounts_of(member: Staff) -> str:
    others = Staff.objects.filter(person=member.person).select_related("user").order_by("pk")
    return "the human of " + ", ".join(f"{each} ({each.name}, {each.user.email})" for each in others)


def _listed(roles: log.Json) -> str:
    return ", ".join(map(str, roles)) if isinstance(roles, list) else ""


# What each role is for, as shown where roles are given.
WORDS: Final = {
    "administrator": "looks after accounts of staff, always with a second person; sees no player and no money",
    "compliance": "reads everything, works on significant events and on players’ protection; moves no money",
    "finance": "pays out, holds the books against the providers’ statements, and sees whom it pays",
    "operator": "opens and closes tables, and answers players",
    "supervisor": "rules on what went wrong at tables, agrees to payments, and watches returns and the chat",
    "support": "looks after players: who they are, what they asked, their limits and exclusions",
}


class Section(StrEnum):
    """A group of pages and lists, in the order of the menu."""

    PEOPLE = "People"
    MONEY = "Money"
    GAMES = "Games"
    COMPLIANCE = "Compliance"
    HOUSE = "House"


TOLD: Final = "The player can read this: it is part of the data that they may ask for."
TOLD_ONCE_DONE: Final = "Once it is done the player can read this: it is part of the data that they may ask for."
UNTOLD: Final = "The player never reads this."
