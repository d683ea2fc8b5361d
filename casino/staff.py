"""The back office's first page. It names functions of every floor, so it stands on the top one."""

from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db.models import Value
from django.db.models.functions import Concat
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from casino.staff_approvals import READERS as APPROVAL_READERS
from games.staff_chat import MODERATE as MODERATE_CHAT
from games.staff_chat import READ as READ_CHAT
from games.staff_floor import READERS as TABLE_READERS
from games.staff_play import EXAMINE as EXAMINE_PLAY
from games.staff_rounds import READERS as ROUND_READERS
from players.access import StaffRequest, staff_required
from players.models import User
from wallet.withdrawal_staff_views import READERS as WITHDRAWAL_READERS


@dataclass(frozen=True)
class Function:
    """Something staff may do: the permissions any one of which it takes, the page it is done on."""

    permissions: tuple[str, ...]
    page: str  # a URL name
    name: str
    purpose: str


FUNCTIONS = (
    Function(
        TABLE_READERS, "staff_tables", "Tables", "Open, close and stop tables, and let them go on, with a reason."
    ),
    Function(ROUND_READERS, "staff_rounds", "Rounds", "Find any round, and deal it again from its seed."),
    Function(("games.view_incident",), "staff_incidents", "Incidents", "Rounds that were not what they should be."),
    Function(("games.view_returns",), "staff_returns", "Returns", "What bets bring back beside what they should."),
    Function(
        ("games.view_returns",),
        "staff_randomness",
        "Randomness",
        "Whether cards and shuffles are what chance gives: tests with p-values.",
    ),
    Function(WITHDRAWAL_READERS, "staff_withdrawals", "Withdrawals", "Approve or refuse what players ask for."),
    Function(APPROVAL_READERS, "staff_approvals", "Approvals", "Decide what another person asked for."),
    Function(("wallet.view_ledger",), "staff_ledger", "Ledger", "What the house owes its players, and every journal."),
    Function(("players.view_player",), "staff_players", "Players", "One player: what the house knows, and ways on."),
    Function(
        ("players.see_flags",), "staff_markers", "Markers", "Signs of harm in play, and the contact made about them."
    ),
    Function(("players.review_identity",), "staff_identity", "Identity", "Who players are: look at what they sent in."),
    Function(("players.review_identity",), "staff_duplicates", "Duplicates", "Players who may be one person."),
    Function(("players.answer_service",), "staff_service", "Service", "What players wrote, and answering it."),
    Function(
        (MODERATE_CHAT, READ_CHAT), "staff_chat", "Chat", "What players reported, and all that was said at tables."
    ),
    Function((EXAMINE_PLAY,), "staff_play", "Play", "Guests who may play together, and what guests report of others."),
    Function(
        ("players.exclude_player",),
        "staff_exclusions",
        "Exclusions",
        "Keep a player from playing, at once and with a reason.",
    ),
    Function(("players.set_limits",), "staff_limits", "Limits", "What a player may spend: limits that the house sets."),
    Function(("audit.view_report",), "staff_reports", "Reports", "Figures for any interval, on screen and as files."),
    Function(
        ("audit.handle_significant",),
        "staff_significant",
        "Significant events",
        "What somebody has to look at: errors, large amounts, failed log-ins, changes. And thresholds.",
    ),
    Function(("audit.view_event",), "staff_events", "Events", "Everything that happened, newest first."),
    Function(("audit.view_event",), "staff_log", "Log", "How the record of all that happens is signed and kept."),
    Function(("audit.view_event",), "staff_looks", "Looks", "Who of the staff was shown whose data."),
    Function(("audit.view_event",), "staff_retention", "Retention", "For how long what is kept, and what went."),
)


@staff_required("players.work")
@require_safe
def staff_home(request: StaffRequest) -> HttpResponse:
    """Who is logged in, in which role, and where that leads."""
    context = {
        "member": request.staff,
        "roles": request.user.groups.order_by("name").values_list("name", flat=True),
        "duties": duties(),
    }
    return render(request, "staff/home.html", context)


def functions_of(user: User) -> list[Function]:
    """Return what *user* may do."""
    mine = user.get_all_permissions()
    return [function for function in FUNCTIONS if not mine.isdisjoint(function.permissions)]


def duties() -> list[tuple[Function, list[str]]]:
    """Return every function with the roles that have it."""
    held = Group.objects.order_by("name").values_list(
        "name", Concat("permissions__content_type__app_label", Value("."), "permissions__codename")
    )
    holders: dict[str, set[str]] = {}
    for role, permission in held:
        holders.setdefault(permission, set()).add(role)
    return [
        (function, sorted(set().union(*(holders.get(each, set()) for each in function.permissions))))
        for function in FUNCTIONS
    ]
