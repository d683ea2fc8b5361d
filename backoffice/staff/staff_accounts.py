"""Staff accounts: list accounts and roles, and request changes, which a second person approves.

Requests are decided on the page of approvals.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final, cast

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import messages
from django.contrib.auth.models import Group
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import approvals
from audit.models import Approval, Event
from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
from backoffice.navigation import Function, duties
from players import staff
from players.access import StaffRequest, staff_required
from players.account.registration import EmailTaken
from players.login import second_factor
from players.login.second_factor import FACTORS
from players.models import Session, Staff, StaffAction, StaffChange

READERS: Final = (staff.ASK, staff.DECIDE)
ENDS: Final = (StaffAction.SUSPEND, StaffAction.DISABLE)  # of an account's access
PASSWORDS: Final = ("password.changed", "password.reset")
STATES: Final = [
    ("", gettext_lazy("All")),
    ("active", gettext_lazy("Active")),
    ("disabled", gettext_lazy("Disabled")),
]
MOST_CHANGES: Final = 50  # of one account on its page
SOMEBODY_NEW: Final = "new"
SUSPENDED: Final = gettext_lazy(
    "The account is suspended. Another person must confirm this within 24 hours under Approvals."
)
ASKED: Final = gettext_lazy("Requested. A second person must approve it under Approvals.")


@dataclass(frozen=True)
class Line:
    """A change of an account: who asked, who decided, why, and the values before and after.

    *asked_by* and *decided_by* are "" if the database owner created the account when the house was
    set up.
    """

    at: datetime
    what: str
    asked_by: str
    asked_because: str
    decided_by: str
    decided_because: str
    before: str
    after: str


@dataclass(frozen=True)
class Offer:
    """Action that can be requested: the last part of its URL, its title, and its meaning."""

    name: str
    title: str | Promise
    meaning: str | Promise


ACTIONS: Final = {
    StaffAction.ROLES: Offer(
        "roles", gettext_lazy("Change roles"), gettext_lazy("The ticked roles replace the current roles.")
    ),
    StaffAction.FACTORS: Offer(
        "factors",
        gettext_lazy("Reset second factors"),
        gettext_lazy(
            "For lost second factors. The current ones become invalid, all sessions end, and the "
            "next log-in asks for a new one. Verify the identity of the person first."
        ),
    ),
    StaffAction.SUSPEND: Offer(
        "suspend",
        gettext_lazy("Suspend at once"),
        gettext_lazy(
            "For an account that may be in the wrong hands, or a colleague who must stop now. It takes effect when you "
            "press the button: all sessions and API tokens end and the account cannot log in. Another person must "
            "confirm it within 24 hours, or refuse it, which enables the account again. Without a decision the account "
            "stays suspended and only two people can enable it. Everyone who manages staff accounts is notified by "
            "e-mail."
        ),
    ),
    StaffAction.DISABLE: Offer(
        "disable",
        gettext_lazy("Disable account"),
        gettext_lazy(
            "All sessions end at once and the account cannot log in. Open requests of this person remain open for "
            "others to decide."
        ),
    ),
    StaffAction.ENABLE: Offer(
        "enable",
        gettext_lazy("Enable account"),
        gettext_lazy(
            "The account keeps its password, second factors and roles. If others may know them, also request a reset."
        ),
    ),
}


class RoleField(forms.ModelChoiceField):
    """Choice of a role, by its name in the reader's language."""

    def label_from_instance(self, obj: Group) -> str:
        """Return the name of the role as a label."""
        return capfirst(staff.role_name(obj.name))


class AccountsForm(ListForm):
    """Filter of accounts."""

    who = forms.CharField(label=gettext_lazy("Name or e-mail address"), max_length=200, required=False)
    state = forms.ChoiceField(label=gettext_lazy("Status"), choices=STATES, required=False)
    role = RoleField(
        Group.objects.order_by("name"),
        to_field_name="name",
        required=False,
        empty_label=gettext_lazy("All"),
        label=gettext_lazy("Role"),
    )


class ReasonForm(forms.Form):
    """Reason for a change. It is stored with the request."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=300,
        strip=True,
        error_messages={"required": gettext_lazy("Enter a reason. It is recorded.")},
    )


class RolesForm(ReasonForm):
    """Roles of an account, with a reason."""

    roles = forms.MultipleChoiceField(
        label=gettext_lazy("Roles"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": gettext_lazy("Select at least one role. To remove all roles, disable the account.")
        },
    )
    field_order: tuple[str, ...] = ("roles", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Offer all roles."""
        super().__init__(*args, **kwargs)
        names = Group.objects.order_by("name").values_list("name", flat=True)
        cast("forms.MultipleChoiceField", self.fields["roles"]).choices = [
            (name, f"{staff.role_name(name)}: {staff.ROLE_DESCRIPTIONS[name]}") for name in names
        ]


class NewForm(RolesForm):
    """Request for a new account. Several accounts of one human count as one person."""

    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        max_length=254,
        help_text=gettext_lazy("The code for the first password is sent to this address."),
    )
    name = forms.CharField(label=gettext_lazy("Name"), max_length=120, strip=True)
    works_here = forms.ChoiceField(
        label=gettext_lazy("Does this person already have an account?"),
        help_text=gettext_lazy("Two accounts of one person count as one person and cannot decide about each other."),
    )
    field_order = ("email", "name", "works_here", "roles", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Offer all accounts of current and former staff."""
        super().__init__(*args, **kwargs)
        known = Staff.objects.select_related("user").order_by("name", "pk")
        cast("forms.ChoiceField", self.fields["works_here"]).choices = [
            ("", gettext("Choose")),
            (SOMEBODY_NEW, gettext("No, new person")),
            *(
                (
                    str(each.pk),
                    gettext("Yes: %(name)s, %(email)s (%(staff)s)")
                    % {"name": each.name, "email": each.user.email, "staff": each},
                )
                for each in known
            ),
        ]

    def clean_works_here(self) -> Staff | None:
        """Return an account of the same human, None for a new person."""
        said = self.cleaned_data["works_here"]
        return None if said == SOMEBODY_NEW else Staff.objects.get(pk=said)


class Accounts(StaffList):
    """Staff accounts, oldest first."""

    model = Staff
    name = gettext_noop("Accounts")
    players = NO_PLAYERS
    is_rising = True
    form_class = AccountsForm
    columns = (
        Column("name", "Name"),
        Column("user__email", "E-mail address"),
        Column("roles", "Roles"),
        Column("status", "Status"),
        Column("has_factor", "Second factor"),
        Column("last_access", "Last access", Form.TIME),
        Column("password_changed", "Password set", Form.TIME),
        Column("user__created_at", "Created", Form.TIME),
    )
    file_columns = (Column("self", "Account"), *columns, Column("last_ip", "Last IP address"))
    links = {"name": ("staff_person", "staff_id", "pk")}
    sorts = {"name": ("name", "id"), "user__email": ("user__email", "id")}
    unmatched = gettext_noop("No accounts match this filter.")

    def found(self) -> QuerySet[Staff]:
        """Return the accounts of the filter."""
        return _filtered(_accounts(), self.asked)

    @cached_property
    def open_on(self) -> set[str]:
        """The accounts that an open request is about."""
        return set(_waiting().values_list("on", flat=True))

    def of_roles(self, member: Staff) -> str:
        """Return the roles of the account."""
        return ", ".join(staff.role_name(role.name) for role in member.user.groups.all()) or gettext("none")

    def of_status(self, member: Any) -> str:
        """Return whether the account is active."""
        return gettext("active") if member.user.is_active else _ended(member)

    def of_has_factor(self, member: Any) -> str:
        """Return whether a second factor is set up."""
        return gettext("set up") if member.has_factor else gettext("not set up")

    def show_name(self, member: Staff) -> str:
        """Return the name with a link, and the number."""
        return cells.link(self.urls_of(member)["name"], f"{member.name} ({member})")

    def show_user__email(self, member: Staff) -> str:
        """Return the e-mail address, which may wrap before the “@”."""
        name, at, host = member.user.email.rpartition("@")
        return format_html('<span class="address">{}<wbr>{}{}</span>', name, at, host)

    def show_status(self, member: Any) -> str:
        """Return the status, and whether a change of it is requested."""
        pending = cells.badge(gettext("change pending"), "brass") if str(member) in self.open_on else ""
        if member.user.is_active:
            return cells.joined(cells.badge(gettext("active"), "on"), pending)
        return cells.joined(
            cells.badge(_ended(member), "off"), gettext("since"), cells.moment(member.disabled_at), pending
        )

    def show_last_access(self, member: Any) -> str:
        """Return when the account was last used, and from which IP address."""
        return cells.joined(
            cells.moment(member.last_access, gettext("never")),
            member.last_ip and (gettext("from %(last_ip)s") % {"last_ip": member.last_ip}),
        )

    def show_password_changed(self, member: Any) -> str:
        """Return when the password was set."""
        return cells.moment(member.password_changed, gettext("never"))


@staff_required(*READERS)
@require_safe
def staff_people(request: StaffRequest) -> HttpResponse:
    """List staff accounts and open requests."""
    context = {
        "waiting": [(asked, _title(asked)) for asked in _waiting().order_by("pk")],
        "may_ask": request.user.has_perm(staff.ASK),
        "roles": _roles(),
    }
    return Accounts(request).answer("staff/people.html", context)


@staff_required(staff.ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_person_new(request: StaffRequest) -> HttpResponse:
    """Request a staff account."""
    form = NewForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            staff.ask_to_make(
                email=asked["email"],
                name=asked["name"],
                roles=asked["roles"],
                same_as=asked["works_here"],
                reason=asked["reason"],
                by=request.staff,
            )
        except EmailTaken:
            form.add_error("email", gettext("This e-mail address is already in use."))
        except staff.OwnAccount as error:
            form.add_error("works_here", str(error))
        except approvals.AskedTwice as error:
            form.add_error(None, _asked_before(error.asked))
        except staff.StaffingError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, ASKED)
            return redirect("staff_people")
    return render(request, "staff/person_new.html", {"form": form})


@staff_required(*READERS)
@require_safe
def staff_person(request: StaffRequest, staff_id: int) -> HttpResponse:
    """Show a staff account: state, functions, history, and possible requests."""
    return _show(request, staff_id)


@staff_required(staff.ASK)
@require_POST
def staff_person_ask(request: StaffRequest, staff_id: int, action: str) -> HttpResponse:
    """Request an action on an account, with a reason."""
    member = get_object_or_404(Staff.objects.select_related("user"), pk=staff_id)
    wanted = next((each for each, offer in ACTIONS.items() if offer.name == action), None)
    if wanted is None:
        raise Http404
    form = _form(wanted, request.POST)
    if not form.is_valid():
        return _show(request, staff_id, {wanted: form})
    reason = form.cleaned_data["reason"]
    try:
        if wanted is StaffAction.SUSPEND:
            staff.suspend(member=member, reason=reason, by=request.staff)
        elif wanted is StaffAction.ROLES:
            staff.ask_for_roles(member=member, roles=form.cleaned_data["roles"], reason=reason, by=request.staff)
        else:
            staff.ask(action=wanted, member=member, reason=reason, by=request.staff)
    except staff.OwnAccount as error:  # the page of an own account has no form for it
        messages.error(request, str(error))
        return redirect("staff_person", staff_id)
    except approvals.AskedTwice as error:
        form.add_error(None, _asked_before(error.asked))
        return _show(request, staff_id, {wanted: form})
    except staff.StaffingError as error:
        form.add_error(None, str(error))
        return _show(request, staff_id, {wanted: form})
    messages.success(request, SUSPENDED if wanted is StaffAction.SUSPEND else ASKED)
    return redirect("staff_person", staff_id)


def _asked_before(asked: Approval) -> SafeString:
    """Return a message about the earlier request: who asked, when, why, and a link."""
    return format_html(
        gettext(
            "{who} already requested this on {at} UTC: “{reason}”. It is pending: "
            '<a class="link" href="{url}">request {number}</a>.'
        ),
        who=staff.called().get(asked.by, asked.by),
        at=f"{asked.at:%Y-%m-%d %H:%M}",
        reason=asked.reason,
        url=reverse("staff_approval", args=[asked.pk]),
        number=asked.pk,
    )


def _show(request: StaffRequest, staff_id: int, sent: dict[StaffAction, forms.Form] | None = None) -> HttpResponse:
    member = get_object_or_404(_accounts(), pk=staff_id)
    held = staff.roles_of(member)
    is_own = member.person == request.staff.person
    context = {
        "one": member,
        "roles": [(name, staff.ROLE_DESCRIPTIONS[name]) for name in held],
        "functions": _functions(held),
        "others": Staff.objects.filter(person=member.person).exclude(pk=member.pk).select_related("user"),
        "waiting": [(asked, _title(asked)) for asked in _waiting().filter(on=str(member)).order_by("pk")],
        "asked_by_them": [
            (asked, _title(asked)) for asked in approvals.waiting().filter(by=str(member)).order_by("pk")
        ],
        "history": _history(member),
        "is_own": is_own,
        "only_one_in": staff.only_one_in(member),
        "suspension": staff.suspension_of(member),
        "sent": next((ACTIONS[action] for action in sent or {}), None),
        "actions": _actions(member, held, sent or {}) if request.user.has_perm(staff.ASK) and not is_own else [],
    }
    return render(request, "staff/person.html", context)


def _form(action: StaffAction, sent: Any = None, **options: Any) -> forms.Form:
    """Return the form of an action. Several forms are on one page."""
    kind = RolesForm if action is StaffAction.ROLES else ReasonForm
    return kind(sent, auto_id=f"id_{ACTIONS[action].name}_%s", **options)


def _actions(
    member: Staff, held: list[str], sent: dict[StaffAction, forms.Form]
) -> list[tuple[Offer, forms.Form, bool]]:
    """Return the possible requests with their forms and whether each was submitted."""
    status = [StaffAction.SUSPEND, StaffAction.DISABLE] if member.user.is_active else [StaffAction.ENABLE]
    offered = [StaffAction.ROLES, *status]
    if second_factor.is_set_up(member.user):
        offered.insert(1, StaffAction.FACTORS)
    return [
        (ACTIONS[action], sent[action] if action in sent else _form(action, initial={"roles": held}), action in sent)
        for action in offered
    ]


def _accounts() -> QuerySet[Staff]:
    """Return accounts with the data that GLI-19 v3.0, 2.8.9 requires.

    These are last access and its IP address, whether a second factor is set up, the last change of
    the password, and when the account was disabled.
    """
    sessions = Session.objects.filter(user=OuterRef("user")).order_by("-began_at", "-pk")
    on = Concat(Value("staff:"), Cast(OuterRef("pk"), TextField()))
    changed = Event.objects.filter(kind__in=PASSWORDS, on=on).order_by("-pk")
    disabled = StaffChange.objects.filter(user=OuterRef("user"), kind__in=ENDS).order_by("-pk")
    factors = Authenticator.objects.filter(user=OuterRef("user"), type__in=FACTORS)
    return (
        Staff.objects.select_related("user")
        .annotate(
            last_access=Subquery(sessions.values("acted_at")[:1]),
            last_ip=Subquery(sessions.values("ip")[:1]),
            password_changed=Subquery(changed.values("at")[:1]),
            disabled_at=Subquery(disabled.values("at")[:1]),
            disabled_by=Subquery(disabled.values("kind")[:1]),
            has_factor=Exists(factors),
        )
        .prefetch_related("user__groups")
    )


def _ended(member: Any) -> str:
    """Return how the access of an account that is not active ended."""
    return gettext("suspended") if member.disabled_by == StaffAction.SUSPEND else gettext("disabled")


def _filtered(found: QuerySet[Staff], asked: dict[str, Any]) -> QuerySet[Staff]:
    if asked.get("who"):
        found = found.filter(Q(name__icontains=asked["who"]) | Q(user__email__icontains=asked["who"]))
    if asked.get("state"):
        found = found.filter(user__is_active=asked["state"] == "active")
    if asked.get("role"):
        found = found.filter(user__groups=asked["role"])
    return found


def _waiting() -> QuerySet[Approval]:
    return approvals.waiting().filter(kind__in=list(StaffAction))


def _title(asked: Approval) -> str:
    """Return the title of a request. A request that was tampered with has only its kind."""
    try:
        return approvals.kind(asked.kind).describe(approvals.thaw(asked)).title
    except approvals.Tampered:
        return asked.kind


def _roles() -> list[tuple[str, str, list[Function]]]:
    """Return every role with its purpose and functions."""
    names = Group.objects.order_by("name").values_list("name", flat=True)
    return [(name, str(staff.ROLE_DESCRIPTIONS[name]), [each for each, _ in _functions([name])]) for name in names]


def _functions(held: list[str]) -> list[tuple[Function, list[str]]]:
    """Return the functions that *held* roles give, each with the roles it comes from."""
    given = [(function, [name for name in held if name in holders]) for function, holders in duties()]
    return [(function, names) for function, names in given if names]


def _history(member: Staff) -> list[Line]:
    changes = StaffChange.objects.filter(user=member.user_id).select_related("approval__decision").order_by("-pk")
    return [_line(change) for change in changes[:MOST_CHANGES]]


def _line(change: StaffChange) -> Line:
    asked = change.approval
    # A suspension was decided by nobody when it began.
    decision = asked.decision if asked and change.kind != StaffAction.SUSPEND else None
    names = [name for name in ("active", "roles", "factors") if change.before.get(name) != change.after.get(name)]
    return Line(
        at=change.at,
        what=change.get_kind_display(),
        asked_by=asked.by if asked else "",
        asked_because=asked.reason if asked else "",
        decided_by=decision.by if decision else "",
        decided_because=decision.reason if decision else "",
        before=_written(change.before, names),
        after=_written(change.after, names),
    )


def _written(state: dict[str, Any], names: list[str]) -> str:
    labels = {
        "active": lambda value: gettext("active") if value else gettext("disabled"),
        "roles": lambda value: gettext("roles: ") + ", ".join(map(staff.role_name, value)),
        "factors": lambda value: gettext("second factors: %(value)s") % {"value": value},
    }
    return "; ".join(labels[name](state[name]) for name in names if name in state)
