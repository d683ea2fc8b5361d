"""Menu of the back office: its functions, the permissions they need, and the home page."""

from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db.models import Value
from django.db.models.functions import Concat
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backoffice.api_tokens import READERS as PROGRAM_READERS
from backoffice.approvals import READERS as APPROVAL_READERS
from backoffice.chat import MODERATE as MODERATE_CHAT
from backoffice.chat import READ as READ_CHAT
from backoffice.collusion import EXAMINE as EXAMINE_PLAY
from backoffice.dashboard.views import READERS as DASHBOARD_READERS
from backoffice.deposits import READERS as DEPOSIT_READERS
from backoffice.handbook import READ as READ_HANDBOOK
from backoffice.house_stop import READERS as STOP_READERS
from backoffice.lists.index import READERS as LIST_READERS
from backoffice.notices import READ as READ_NOTICES
from backoffice.operators import READERS as OPERATOR_READERS
from backoffice.provider_statements import READERS as STATEMENT_READERS
from backoffice.rounds import READERS as ROUND_READERS
from backoffice.support.reply_templates import READ as READ_REPLIES
from backoffice.tables.versions import READERS as GAME_READERS
from backoffice.withdrawals import READERS as WITHDRAWAL_READERS
from games.shared.floor.rows import READERS as TABLE_READERS
from players import staff
from players.access import StaffRequest, staff_required
from players.models import User
from players.staff import Section
from wallet.seamless_wallet.partners import READERS as PARTNER_READERS


@dataclass(frozen=True)
class Function:
    """Menu entry: its section, the permissions (any one suffices), its page, name and purpose."""

    group: Section
    permissions: tuple[str, ...]
    page: str  # URL name
    name: str
    purpose: str


FUNCTIONS = (
    Function(
        Section.GAMES,
        TABLE_READERS,
        "staff_floor",
        "Floor",
        "Every table as it stands now; open, pause, close and stop tables, and let them go on, with a reason.",
    ),
    Function(
        Section.GAMES,
        TABLE_READERS,
        "staff_tables",
        "Tables",
        "Which tables there are, under which version, and the language of their chats.",
    ),
    Function(
        Section.GAMES,
        GAME_READERS,
        "staff_games",
        "Games",
        "Rules and returns of every game, versions of every table, and what goes live when.",
    ),
    Function(
        Section.GAMES,
        STOP_READERS,
        "staff_stop",
        "Stop the house",
        "Hold all play and all deposits at once, and let everything go on; with a reason.",
    ),
    Function(
        Section.GAMES,
        READ_NOTICES,
        "staff_notices",
        "Notices",
        "Tell everybody of maintenance before it begins, in five languages.",
    ),
    Function(
        Section.GAMES, ROUND_READERS, "staff_rounds", "Rounds", "Find any round, and deal it again from its seed."
    ),
    Function(
        Section.GAMES,
        ("games.view_incident",),
        "staff_incidents",
        "Incidents",
        "Rounds that were not what they should be.",
    ),
    Function(
        Section.GAMES,
        ("games.view_returns",),
        "staff_returns",
        "Returns",
        "What bets bring back beside what they should.",
    ),
    Function(
        Section.GAMES,
        ("games.view_returns",),
        "staff_randomness",
        "Randomness",
        "Whether cards and shuffles are what chance gives: tests with p-values.",
    ),
    Function(
        Section.MONEY, WITHDRAWAL_READERS, "staff_withdrawals", "Withdrawals", "Approve or refuse what players ask for."
    ),
    Function(
        Section.MONEY,
        DEPOSIT_READERS,
        "staff_deposits",
        "Deposits in doubt",
        "What providers left open or said otherwise: ask them again, and note what was found.",
    ),
    Function(
        Section.MONEY,
        OPERATOR_READERS,
        "staff_operators",
        "Messages to operators",
        "What operators refuse to book of their players' rounds: have it sent again, or settle it by hand.",
    ),
    Function(
        Section.MONEY,
        STATEMENT_READERS,
        "staff_statements",
        "Statements",
        "What providers say they took and paid, beside what the house has.",
    ),
    Function(
        Section.MONEY,
        PARTNER_READERS,
        "staff_partners",
        "Partners",
        "Studios that play with our balances, operators whose balances we play with: their keys, made by two people.",
    ),
    Function(
        Section.HOUSE,
        DASHBOARD_READERS,
        "staff_dashboard",
        "Dashboard",
        "How the house stands: figures of any days, what waits, returns, and whether its own work gets done.",
    ),
    Function(
        Section.HOUSE,
        (READ_HANDBOOK,),
        "staff_handbook",
        "Handbook",
        "How each job of each role is done, step by step, and what to do when it goes otherwise.",
    ),
    Function(
        Section.HOUSE,
        LIST_READERS,
        "staff_lists",
        "Lists",
        "Rows of every kind that the house keeps: search, filter, and export them as files.",
    ),
    Function(Section.HOUSE, APPROVAL_READERS, "staff_approvals", "Approvals", "Decide what another person asked for."),
    Function(
        Section.MONEY,
        ("wallet.view_ledger",),
        "staff_ledger",
        "Ledger",
        "What the house owes its players, and every journal.",
    ),
    Function(
        Section.PEOPLE,
        ("players.view_player",),
        "staff_players",
        "Players",
        "Find a player by anything, and all about one.",
    ),
    Function(
        Section.COMPLIANCE,
        ("players.see_flags",),
        "staff_markers",
        "Markers",
        "Signs of harm in play, and the contact made about them.",
    ),
    Function(
        Section.PEOPLE,
        ("players.review_identity",),
        "staff_identity",
        "Identity",
        "Who players are: look at what they sent in.",
    ),
    Function(
        Section.PEOPLE, ("players.review_identity",), "staff_duplicates", "Duplicates", "Players who may be one person."
    ),
    Function(
        Section.PEOPLE, ("players.answer_service",), "staff_service", "Service", "What players wrote, and answering it."
    ),
    Function(
        Section.PEOPLE,
        ("players.answer_service",),
        "staff_complaints",
        "Complaints",
        "By when each is to be decided, whose it is, and how it ended.",
    ),
    Function(
        Section.PEOPLE,
        READ_REPLIES,
        "staff_replies",
        "Replies",
        "What answers to players begin from, in five languages.",
    ),
    Function(
        Section.PEOPLE,
        (MODERATE_CHAT, READ_CHAT),
        "staff_chat",
        "Chat",
        "What players reported, and all that was said at tables.",
    ),
    Function(
        Section.GAMES,
        (EXAMINE_PLAY,),
        "staff_play",
        "Play",
        "Guests who may play together, and what guests report of others.",
    ),
    Function(
        Section.PEOPLE,
        ("players.exclude_player",),
        "staff_exclusions",
        "Exclusions",
        "Keep a player from playing, at once and with a reason.",
    ),
    Function(
        Section.PEOPLE,
        ("players.set_limits",),
        "staff_limits",
        "Limits",
        "What a player may spend: limits that the house sets.",
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.view_report",),
        "staff_reports",
        "Reports",
        "Figures for any interval, on screen and as files.",
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.handle_significant",),
        "staff_significant",
        "Significant events",
        "What somebody has to look at: errors, large amounts, failed log-ins, changes. And thresholds.",
    ),
    Function(
        Section.COMPLIANCE, ("audit.view_event",), "staff_events", "Events", "Everything that happened, newest first."
    ),
    Function(
        Section.HOUSE,
        (staff.ASK, staff.DECIDE),
        "staff_people",
        "Staff",
        "Who works here, in which roles; accounts made, changed and disabled by two people.",
    ),
    Function(
        Section.HOUSE,
        PROGRAM_READERS,
        "staff_programs",
        "Programs",
        "Tokens with which programs of staff read events, rounds, reports and checkpoints.",
    ),
    Function(
        Section.HOUSE,
        ("audit.view_event",),
        "staff_log",
        "Log",
        "How the record of all that happens is signed and kept.",
    ),
    Function(
        Section.COMPLIANCE, ("audit.view_event",), "staff_looks", "Looks", "Who of the staff was shown whose data."
    ),
    Function(
        Section.HOUSE,
        ("audit.view_event",),
        "staff_retention",
        "Retention",
        "For how long what is kept, and what went.",
    ),
)


@staff_required("players.work")
@require_safe
def staff_home(request: StaffRequest) -> HttpResponse:
    """Show the home page: the staff member, their roles and the functions they have."""
    mine = [function for _section, pages in functions_of(request.user) for function in pages]
    context = {
        "member": request.staff,
        "roles": request.user.groups.order_by("name").values_list("name", flat=True),
        "duties": [(function, holders, function in mine) for function, holders in duties()],
    }
    return render(request, "staff/home.html", context)


def functions_of(user: User) -> list[tuple[Section, list[Function]]]:
    """Return the functions that *user* may use, by section, without empty sections."""
    mine = user.get_all_permissions()
    allowed = [function for function in FUNCTIONS if not mine.isdisjoint(function.permissions)]
    groups = [(section, [function for function in allowed if function.group is section]) for section in Section]
    return [(section, functions) for section, functions in groups if functions]


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
