"""Changes of staff accounts by two people: create, roles, disable, enable, reset of second factors.

One person asks and another decides; neither may be the person concerned. A suspension is the
exception: it takes effect when it is requested, and another person confirms it, or refuses it, which
enables the account again. Without a decision in `CONFIRM_WITHIN` the account stays suspended, all who
could decide are mailed, and only two people enable it. The database executes the change
(``sql/functions/staff.sql``) and checks the approval itself. This module asks, refuses impossible
requests early, ends sessions and tokens, records the event, and mails the person concerned.

It also describes the roles, which are groups of permissions created by the migrations
(``players/migrations/0002_data.sql``), and the sections of the back office. Players may ask for all
their data (`accounts.data_export`), so a hint says where they can read a reason later.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Final, cast
from uuid import UUID

import psycopg
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import Group
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy

from audit import approvals, log
from audit.models import Approval
from players import mail
from players.account.registration import EmailTaken
from players.api import tokens
from players.login import second_factor, sessions
from players.models import Ended, Note, Player, Staff, StaffAction, StaffChange, User

OWNER: Final = "owner"  # database alias of the owner of the tables
FOUND: Final = "SELECT players_staff_found(%s, %s, %s::text[], %s)"
ASK: Final = "players.ask_staff"
DECIDE: Final = "players.decide_staff"
SOMEBODY_DECIDES: Final = """
SELECT EXISTS (SELECT FROM players_staff_holders() WHERE codename = 'decide_staff' AND person <> ALL (%s::uuid[]))
"""
# Event of each action.
EVENTS: Final = {
    StaffAction.MAKE: "staff.employed",
    StaffAction.ROLES: "staff.roles_changed",
    StaffAction.SUSPEND: "staff.suspension_confirmed",
    StaffAction.DISABLE: "staff.disabled",
    StaffAction.ENABLE: "staff.enabled",
    StaffAction.FACTORS: "staff.factors_reset",
}
TITLES: Final = {
    StaffAction.ROLES: gettext_lazy("Change the roles of %s"),
    StaffAction.SUSPEND: gettext_lazy("Confirm the suspension of %s"),
    StaffAction.DISABLE: gettext_lazy("Disable the account of %s"),
    StaffAction.ENABLE: gettext_lazy("Enable the account of %s"),
    StaffAction.FACTORS: gettext_lazy("Reset the second factors of %s"),
}
NAMES: Final = {
    StaffAction.MAKE: gettext_noop("new staff account"),
    StaffAction.ROLES: gettext_noop("change of staff roles"),
    StaffAction.SUSPEND: gettext_noop("suspension of a staff account"),
    StaffAction.DISABLE: gettext_noop("disabling of a staff account"),
    StaffAction.ENABLE: gettext_noop("enabling of a staff account"),
    StaffAction.FACTORS: gettext_noop("reset of second factors"),
}
THEN: Final = {
    StaffAction.MAKE: gettext_noop(
        "The account is created at once. Its owner receives an e-mail with a code to set a password."
    ),
    StaffAction.ROLES: gettext_noop("The roles change at once. The account owner is notified."),
    StaffAction.SUSPEND: gettext_noop("The account stays disabled until two people enable it."),
    StaffAction.DISABLE: gettext_noop("The account can no longer log in. Its sessions and API tokens end."),
    StaffAction.ENABLE: gettext_noop("The owner can log in again with the previous roles."),
    StaffAction.FACTORS: gettext_noop(
        "The second factors become invalid and the sessions end. New ones are set up at the next log-in."
    ),
}
CONFIRM_WITHIN: Final = timedelta(hours=24)  # for the decision about a suspension
SUSPENDED: Final = "staff.suspended"  # kinds of events
RESTORED: Final = "staff.suspension_refused"
UNCONFIRMED: Final = "staff.suspension_unconfirmed"
ENDS_SESSIONS: Final = {StaffAction.DISABLE: Ended.CLOSED, StaffAction.FACTORS: Ended.PASSWORD}
ENABLED_AGAIN: Final = gettext_noop("The account is enabled again with its previous roles.")
UNIQUE: Final = "23505"
# By SQLSTATE of the database's refusal.
REFUSALS: Final = {
    "SB020": gettext_lazy("This request was already executed or is not approved."),
    "SB021": gettext_lazy(
        "This request concerns your own account or the requester’s account. Another person must handle it."
    ),
    "SB023": gettext_lazy("The account has changed since this request. Submit a new request."),
    "SB024": gettext_lazy(
        "The requester no longer has the permission for this. Another person must submit the request."
    ),
    "SB025": gettext_lazy(
        "Nobody else could decide about this suspension. "
        "The last person who decides about staff accounts cannot be suspended."
    ),
    "SB026": gettext_lazy(
        "Another person refused your suspension of this colleague in the last 30 days. "
        "Request to disable the account instead."
    ),
    "SB027": gettext_lazy(
        "Another person who decides about staff accounts is suspended. "
        "That suspension must be confirmed or refused before the next one."
    ),
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
        raise OwnAccount(gettext("You cannot request a second account for yourself."))
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
    return _ask(StaffAction.MAKE, f"log-in:{number}", request, reason, by)


@transaction.atomic
def ask_for_roles(*, member: Staff, roles: Iterable[str], reason: str, by: Staff) -> Approval:
    """Ask for a staff member to have exactly *roles*.

    Raises OwnAccount, UnknownRole, NothingToDo, NobodyDecides, approvals.AskedTwice.
    """
    _demand_another(member, by)
    now, wanted = roles_of(member), _roles(roles)
    if wanted == now:
        raise NothingToDo(gettext("The account already has these roles."))
    request: dict[str, log.Json] = {"staff": member.pk, "roles": wanted, "from": now}
    return _ask(StaffAction.ROLES, str(member), request, reason, by)


@transaction.atomic
def ask(*, action: StaffAction, member: Staff, reason: str, by: Staff) -> Approval:
    """Ask for an account to be disabled or enabled, or for its second factors to be reset.

    Raises OwnAccount, NothingToDo, NobodyDecides, approvals.AskedTwice.
    """
    _demand_another(member, by)
    is_active = User.objects.get(pk=member.user_id).is_active
    if action is StaffAction.DISABLE and not is_active:
        raise NothingToDo(gettext("This account is disabled."))
    if action is StaffAction.ENABLE and is_active:
        raise NothingToDo(gettext("This account is not disabled."))
    if action is StaffAction.FACTORS and not second_factor.is_set_up(member.user):
        raise NothingToDo(gettext("The account has no second factor. One is set up at the next log-in."))
    return _ask(action, str(member), {"staff": member.pk}, reason, by)


@transaction.atomic
def suspend(*, member: Staff, reason: str, by: Staff) -> Approval:
    """Suspend a staff account at once: its sessions and API tokens end and no log-in succeeds.

    The returned request waits `CONFIRM_WITHIN` for another person. The member and all others who manage
    staff accounts are mailed.

    Raises OwnAccount, NothingToDo, NobodyDecides, approvals.AskedTwice, StaffingError.
    """
    _demand_another(member, by)
    if not User.objects.get(pk=member.user_id).is_active:
        raise NothingToDo(gettext("This account is disabled."))
    asked = _ask(StaffAction.SUSPEND, str(member), {"staff": member.pk}, reason, by)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT players_staff_suspend(%s)", [asked.pk])
    except DatabaseError as error:
        raise StaffingError(_why(error)) from error
    sessions.end_all(user=member.user, why=Ended.CLOSED, by=str(by))
    tokens.revoke_all(user=member.user, why=Ended.CLOSED, by=str(by))
    change = StaffChange.objects.get(approval=asked, kind=StaffAction.SUSPEND)
    data: dict[str, log.Json] = {
        "before": change.before,
        "after": change.after,
        "reason": reason,
        "approval": asked.pk,
        "confirm_by": asked.expires_at.isoformat(),
    }
    log.record(SUSPENDED, by=str(by), on=str(member), data=data)
    _mail(StaffAction.SUSPEND, member, asked, {})
    _mail_managers("staff_suspended", member, asked)
    return asked


def suspension_of(member: Staff) -> Approval | None:
    """Return the request that the account is suspended by, None if it is not suspended.

    It may still wait for another person, or have expired. A confirmed suspension is a disabled account.
    """
    changes = StaffChange.objects.filter(user=member.user_id).exclude(kind__in=[StaffAction.ROLES, StaffAction.FACTORS])
    last = changes.select_related("approval").order_by("-pk").first()
    return last.approval if last and last.kind == StaffAction.SUSPEND else None


def execute(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Execute an approved request, end the account's sessions and tokens if needed, and mail the person concerned.

    Raises approvals.CannotExecute, with the reason, if the database refuses.
    """
    _change(Approval.objects.get(pk=verdict.approval_id), request, verdict)


def _change(
    asked: Approval, request: Mapping[str, log.Json], verdict: approvals.Verdicted, *, is_refused: bool = False
) -> None:
    action = StaffAction(asked.kind)
    try:
        with transaction.atomic():
            login = _new_login(request) if action is StaffAction.MAKE else None
            member = _execute(asked, login)
    except DatabaseError as error:
        raise approvals.CannotExecute(_why(error)) from error
    if action in ENDS_SESSIONS:
        sessions.end_all(user=member.user, why=ENDS_SESSIONS[action], by=verdict.by)
        tokens.revoke_all(user=member.user, why=ENDS_SESSIONS[action], by=verdict.by)
    change = StaffChange.objects.filter(approval=asked).latest("pk")
    data: dict[str, log.Json] = {
        "before": change.before,
        "after": change.after,
        "reason": asked.reason,
        "asked_by": asked.by,
        "approval": asked.pk,
    }
    personal = None
    if action is StaffAction.MAKE:
        data |= {"roles": change.after["roles"], "person": str(member.person), "demo": False}
        personal = {"email": member.user.email, "name": member.name}
    log.record(RESTORED if is_refused else EVENTS[action], by=verdict.by, on=str(member), data=data, personal=personal)
    _mail(StaffAction(change.kind), member, asked, change.after, decided_by=verdict.by)


def refuse(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Refuse a request. Nothing changes, except that a suspended account is enabled again.

    Raises approvals.CannotExecute if it concerns the decider's own person.
    """
    subject = subject_of(request)
    if subject and Staff.objects.filter(pk=verdict.by.removeprefix("staff:"), person=subject.person).exists():
        raise approvals.CannotExecute(REFUSALS["SB021"])
    asked = Approval.objects.get(pk=verdict.approval_id)
    if asked.kind == StaffAction.SUSPEND and subject and suspension_of(subject) == asked:
        _change(asked, request, verdict, is_refused=True)


def lapse(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Report a suspension that nobody confirmed or refused in time. The account stays suspended."""
    member, asked = subject_of(request), Approval.objects.get(pk=verdict.approval_id)
    if asked.kind != StaffAction.SUSPEND or member is None or suspension_of(member) != asked:
        return
    data: dict[str, log.Json] = {"approval": asked.pk, "asked_by": asked.by, "reason": asked.reason}
    log.record(UNCONFIRMED, by=verdict.by, on=str(member), data=data)
    _mail_managers("staff_suspension_unconfirmed", member, asked)


def _mail(
    action: StaffAction, member: Staff, asked: Approval, after: Mapping[str, log.Json], *, decided_by: str = ""
) -> None:
    """Mail the person concerned."""
    names = called()
    context = {
        "action": action,
        "member": member,
        "after": after,
        "asked": asked,
        "asked_by": names.get(asked.by, asked.by),
        "decided_by": names.get(decided_by, decided_by),
        "support": settings.SUPPORT_EMAIL,
        "house": settings.OPERATOR_NAME,
    }
    mail.write_to_staff(user=member.user, template="staff_account", context=context, page="staff_home")


def _mail_managers(template: str, member: Staff, asked: Approval) -> None:
    """Mail all who request or decide changes of staff accounts, except the requester and the member."""
    managers = {user for permission in (ASK, DECIDE) for user in mail.holders(permission)}
    context = {"member": member, "asked": asked, "asked_by": called().get(asked.by, asked.by)}
    for user in sorted(managers, key=lambda each: each.pk):
        if user.staff.person not in (asked.person, member.person):
            mail.write_to_staff(user=user, template=template, context=context, page="staff_approval", of=[asked.pk])


def describe(action: StaffAction, request: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the request to the deciding staff member."""
    subject = subject_of(request)
    if action is StaffAction.MAKE:
        human = _accounts_of(subject) if subject else gettext("no other account, according to the requester")
        return approvals.Description(
            title=(gettext("Create a staff account for %(name)s") % {"name": request["name"]}),
            facts=[
                (gettext("Name"), str(request["name"])),
                (gettext("E-mail address"), str(request["email"])),
                (gettext("Roles"), _listed(request["roles"])),
                (gettext("Other accounts"), human),
            ],
        )
    assert subject  # noqa: S101  (staff accounts are never deleted)
    facts = [
        (gettext("E-mail address"), subject.user.email),
        (gettext("Current roles"), _listed(roles_of(subject))),
    ]
    if action is not StaffAction.SUSPEND:  # `current_facts` says whether it still holds
        facts.insert(1, (gettext("Status"), gettext("active") if subject.user.is_active else gettext("disabled")))
    if action is StaffAction.FACTORS:
        count = Authenticator.objects.filter(user=subject.user_id, type__in=second_factor.FACTORS).count()
        facts.append((gettext("Second factors that are removed"), str(count)))
    if action is StaffAction.ROLES:
        facts.append((gettext("Roles when requested"), _listed(request["from"])))
        facts.append((gettext("New roles"), _listed(request["roles"])))
    return approvals.Description(title=TITLES[action] % subject.name, facts=facts)


def current_facts(action: StaffAction, request: Mapping[str, log.Json]) -> approvals.Facts:
    """Return the roles that nobody would have after the change."""
    subject = subject_of(request)
    if action is StaffAction.SUSPEND and subject:
        now = gettext("suspended") if suspension_of(subject) else gettext("not suspended any more")
        return [(gettext("Current status"), now)]
    if action not in (StaffAction.DISABLE, StaffAction.ROLES) or not subject:
        return ()
    remaining_roles = request["roles"] if action is StaffAction.ROLES else []
    lost = [role for role in only_one_in(subject) if role not in cast("list[str]", remaining_roles)]
    return [(gettext("Roles left without staff"), ", ".join(lost))] if lost else ()


def only_one_in(member: Staff) -> list[str]:
    """Return the roles that no other active person has, sorted. Empty if the account is disabled."""
    if not member.user.is_active:
        return []
    others = Staff.objects.filter(user__is_active=True).exclude(person=member.person)
    return sorted(set(roles_of(member)) - set(others.values_list("user__groups__name", flat=True)))


def subject_of(request: Mapping[str, log.Json]) -> Staff | None:
    """Return the staff member that a request concerns.

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
    for action in StaffAction:
        is_suspension = action is StaffAction.SUSPEND
        approvals.register(
            action,
            title=NAMES[action],
            then=THEN[action],
            otherwise=ENABLED_AGAIN if is_suspension else gettext_noop("Nothing was executed."),
            lasts=CONFIRM_WITHIN if is_suspension else approvals.LASTS,
            lapse=lapse,
            may_withdraw=not is_suspension,
            execute=execute,
            refuse=refuse,
            permission=DECIDE,
            describe=partial(describe, action),
            current_facts=partial(current_facts, action),
        )


def _ask(action: StaffAction, on: str, request: Mapping[str, log.Json], reason: str, by: Staff) -> Approval:
    subject = subject_of(request)
    with connection.cursor() as cursor:
        cursor.execute(SOMEBODY_DECIDES, [[by.person, *([subject.person] if subject else [])]])
        (somebody_decides,) = cursor.fetchone()
    if not somebody_decides:
        raise NobodyDecides(
            gettext(
                "No other person can decide this request. It needs an approver other than you and the "
                "account owner. Request one first, or ask the database owner to run manage.py make_staff."
            )
        )
    return approvals.ask(kind=action.value, on=on, request=request, by=str(by), person=by.person, reason=reason)


def _roles(wanted: Iterable[str]) -> list[str]:
    names = sorted(set(wanted))
    if not names or Group.objects.filter(name__in=names).count() != len(names):
        raise UnknownRole(gettext("Choose at least one role."))
    return names


def _demand_another(member: Staff, by: Staff) -> None:
    if member.person == by.person:
        raise OwnAccount(gettext("You cannot request changes to your own account."))


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
        return gettext("This e-mail address is already in use.")
    if state not in REFUSALS:
        raise error
    return str(REFUSALS[state])


def _accounts_of(member: Staff) -> str:
    others = Staff.objects.filter(person=member.person).select_related("user").order_by("pk")
    return gettext("same person as ") + ", ".join(f"{each} ({each.name}, {each.user.email})" for each in others)


def _listed(roles: log.Json) -> str:
    return ", ".join(role_name(str(role)) for role in roles) if isinstance(roles, list) else ""


# Names of roles on pages. Texts for programs and events have the name of the group.
ROLE_NAMES: Final = {
    "administrator": pgettext_lazy("role", "administrator"),
    "compliance": pgettext_lazy("role", "compliance"),
    "finance": pgettext_lazy("role", "finance"),
    "operator": pgettext_lazy("role", "operator"),
    "supervisor": pgettext_lazy("role", "supervisor"),
    "support": pgettext_lazy("role", "support"),
}
# Description of each role, shown where roles are assigned.
ROLE_DESCRIPTIONS: Final = {
    "administrator": gettext_lazy(
        "manages staff accounts together with a second person, and webhooks; has no access to players or money"
    ),
    "compliance": gettext_lazy(
        "has read access to everything, handles significant events and player protection; cannot move money"
    ),
    "finance": gettext_lazy("approves payouts, reconciles provider statements and views the players it pays"),
    "operator": gettext_lazy("opens and closes tables, and answers players’ messages"),
    "supervisor": gettext_lazy(
        "rules on incidents, approves payments as second person, monitors RTP and moderates the chat"
    ),
    "support": gettext_lazy("supports players: KYC, messages, limits and exclusions"),
}


def role_name(role: str) -> str:
    """Return the name of a role in the active language, or *role* if it is not one of ours."""
    return str(ROLE_NAMES.get(role, role))


class Section(StrEnum):
    """A group of pages and lists, in the order of the menu."""

    PEOPLE = "Players"
    MONEY = "Payments"
    GAMES = "Games"
    COMPLIANCE = "Compliance"
    HOUSE = "Administration"


VISIBLE_TO_PLAYER: Final = gettext_lazy("The player can read this text in a data export.")
VISIBLE_ONCE_DONE: Final = gettext_lazy("Once executed, the player can read this text in a data export.")
STAFF_ONLY: Final = gettext_lazy("Not disclosed to the player.")


PERMISSION = "players.note_players"


class EmptyNote(Exception):
    """The note is empty."""


@transaction.atomic
def add(*, player: Player, text: str, restricted: bool, by: Staff) -> Note:
    """Add a note of at most `LONGEST_NOTE` characters. Raises EmptyNote.

    The event of a restricted note does not name the player, because players can export the events
    that name them.
    """
    said = text.strip()
    if not said:
        raise EmptyNote
    note = Note.objects.create(player=player, by=by, text=said, restricted=restricted)
    on = f"note:{note.pk}" if restricted else str(player)
    log.record("note.added", by=str(by), on=on, data={"note": note.pk, "restricted": restricted})
    note.refresh_from_db()
    return note


def notes(player: Player, *, restricted_too: bool) -> QuerySet[Note]:
    """Return the notes about a player, newest first. Erased notes are left out."""
    found = Note.objects.filter(player=player).exclude(text="").select_related("by").order_by("-id")
    return found if restricted_too else found.filter(restricted=False)


def forget(player: Player) -> None:
    """Erase the texts of all notes about a player. The database refuses unless the account has been erased."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_forget_notes(%s)", [player.pk])


def create_first(
    *,
    email: str,
    name: str,
    roles: tuple[str, ...],
    password: str | None = None,
    is_demo: bool = False,
    same_person: UUID | None = None,
) -> Staff:
    """Create a staff account with *roles* and a verified address, as the database owner on the command
    line: one of the first of an installation, or one where too few people are left.

    Without *password*, the owner of the account sets the first one with a mailed code.
    *same_person* is the person of another account of theirs.

    Raises EmailTaken; ProgrammingError or InternalError if the database refuses, for example for an
    unknown role.
    """
    with transaction.atomic(using=OWNER):
        try:
            with transaction.atomic(using=OWNER):
                user = User.objects.db_manager(OWNER).create_user(
                    email, password, verified=True, language="en", is_demo=is_demo
                )
        except IntegrityError as error:
            raise EmailTaken from error
        with connections[OWNER].cursor() as cursor:
            cursor.execute(FOUND, [user.pk, name, list(roles), same_person])
            (number,) = cursor.fetchone()
        staff = Staff.objects.using(OWNER).get(pk=number)
        log.record(
            "staff.employed",
            by="system",
            on=str(staff),
            data={"roles": sorted(roles), "demo": is_demo, "person": str(staff.person)},
            personal={"email": user.email, "name": name},
            using=OWNER,
        )
    return staff
