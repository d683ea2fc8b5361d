"""Menu of the back office: its functions, the permissions they need, and the home page."""

from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db.models import Value
from django.db.models.functions import Concat
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backoffice.audit.approvals import READERS as APPROVAL_READERS
from backoffice.chat import MODERATE as MODERATE_CHAT
from backoffice.chat import READ as READ_CHAT
from backoffice.collusion import EXAMINE as EXAMINE_PLAY
from backoffice.dashboard.views import READERS as DASHBOARD_READERS
from backoffice.house_stop import READERS as STOP_READERS
from backoffice.lists.index import READERS as LIST_READERS
from backoffice.money.deposits import READERS as DEPOSIT_READERS
from backoffice.money.partners import QUEUE_READERS as OPERATOR_READERS
from backoffice.money.provider_statements import READERS as STATEMENT_READERS
from backoffice.money.withdrawals import READERS as WITHDRAWAL_READERS
from backoffice.notices import READ as READ_NOTICES
from backoffice.rounds import READERS as ROUND_READERS
from backoffice.staff.api_tokens import READERS as API_TOKEN_READERS
from backoffice.staff.handbook import READ as READ_HANDBOOK
from backoffice.support.reply_templates import READ as READ_REPLIES
from backoffice.tables.versions import READERS as GAME_READERS
from games.shared.floor.rows import READERS as TABLE_READERS
from players import staff
from players.access import StaffRequest, staff_required
from players.models import User
from players.protection.national_rules import READ as READ_RULES
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
        "Live state of every table; open, pause, close, stop and resume tables.",
    ),
    Function(
        Section.GAMES,
        TABLE_READERS,
        "staff_tables",
        "Tables",
        "All tables with their state, version and chat language.",
    ),
    Function(
        Section.GAMES,
        GAME_READERS,
        "staff_games",
        "Games",
        "Game rules and RTP, table versions and scheduled changes.",
    ),
    Function(
        Section.GAMES,
        STOP_READERS,
        "staff_stop",
        "House stop",
        "Emergency stop of all play and deposits, and the end of the stop.",
    ),
    Function(
        Section.GAMES,
        READ_NOTICES,
        "staff_notices",
        "Notices",
        "Maintenance notices for players and visitors, in five languages.",
    ),
    Function(Section.GAMES, ROUND_READERS, "staff_rounds", "Rounds", "Search rounds and verify them from their seed."),
    Function(
        Section.GAMES,
        ("games.view_incident",),
        "staff_incidents",
        "Incidents",
        "Rounds with errors, their rulings and the letters to their players.",
    ),
    Function(
        Section.GAMES,
        ("games.view_returns",),
        "staff_returns",
        "RTP",
        "Actual RTP of every bet compared with the theoretical RTP.",
    ),
    Function(
        Section.GAMES,
        ("games.view_returns",),
        "staff_randomness",
        "Randomness",
        "Statistical tests of cards and shuffles.",
    ),
    Function(
        Section.MONEY, WITHDRAWAL_READERS, "staff_withdrawals", "Withdrawals", "Approve or refuse withdrawal requests."
    ),
    Function(
        Section.MONEY,
        DEPOSIT_READERS,
        "staff_deposits",
        "Deposits",
        "Deposits with a missing or contradictory provider status; query the provider and add notes.",
    ),
    Function(
        Section.MONEY,
        OPERATOR_READERS,
        "staff_operators",
        "Operator messages",
        "Round results that an operator has not accepted; resend them or settle them manually.",
    ),
    Function(
        Section.MONEY,
        STATEMENT_READERS,
        "staff_statements",
        "Provider statements",
        "Reconciliation of provider statements with our payments.",
    ),
    Function(
        Section.MONEY,
        PARTNER_READERS,
        "staff_partners",
        "Partners",
        "Game studios and operators on the seamless wallet, and their keys.",
    ),
    Function(
        Section.HOUSE,
        DASHBOARD_READERS,
        "staff_dashboard",
        "Dashboard",
        "Open tasks and alarms, key figures, RTP and system health.",
    ),
    Function(
        Section.HOUSE,
        (READ_HANDBOOK,),
        "staff_handbook",
        "Handbook",
        "Step-by-step instructions for every role.",
    ),
    Function(
        Section.HOUSE,
        LIST_READERS,
        "staff_lists",
        "Data lists",
        "Search, filter and export records of every kind.",
    ),
    Function(Section.HOUSE, APPROVAL_READERS, "staff_approvals", "Approvals", "Requests that need a second person."),
    Function(
        Section.MONEY,
        ("wallet.view_ledger",),
        "staff_ledger",
        "Ledger",
        "Player liability, accounts and journals.",
    ),
    Function(
        Section.PEOPLE,
        ("players.view_player",),
        "staff_players",
        "Players",
        "Search players and open their profile.",
    ),
    Function(
        Section.COMPLIANCE,
        ("players.see_flags",),
        "staff_markers",
        "Markers of harm",
        "Players who show signs of harmful gambling, and contacts with them.",
    ),
    Function(
        Section.PEOPLE,
        ("players.review_identity",),
        "staff_identity",
        "KYC",
        "Review of identity documents.",
    ),
    Function(
        Section.PEOPLE, ("players.review_identity",), "staff_duplicates", "Duplicates", "Possible duplicate accounts."
    ),
    Function(Section.PEOPLE, ("players.answer_service",), "staff_service", "Support", "Messages from players."),
    Function(
        Section.PEOPLE,
        ("players.answer_service",),
        "staff_complaints",
        "Complaints",
        "Open and closed complaints with due dates.",
    ),
    Function(
        Section.PEOPLE,
        READ_REPLIES,
        "staff_replies",
        "Reply templates",
        "Templates for replies to players, in five languages.",
    ),
    Function(
        Section.PEOPLE,
        (MODERATE_CHAT, READ_CHAT),
        "staff_chat",
        "Chat",
        "Reported messages and the chat log.",
    ),
    Function(
        Section.GAMES,
        (EXAMINE_PLAY,),
        "staff_play",
        "Collusion",
        "Signs of collusion at Chemin de Fer, and reports from players.",
    ),
    Function(
        Section.PEOPLE,
        ("players.exclude_player",),
        "staff_exclusions",
        "Exclusions",
        "Exclude players and see exclusions in force.",
    ),
    Function(
        Section.PEOPLE,
        ("players.set_limits",),
        "staff_limits",
        "Limits",
        "House limits on deposits, stakes, losses and time.",
    ),
    Function(
        Section.COMPLIANCE,
        (READ_RULES,),
        "staff_rules",
        "National rules",
        "Rules of each jurisdiction with their source, and the history of their changes.",
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.view_report",),
        "staff_reports",
        "Reports",
        "Reports for any period, on screen and as files.",
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.handle_significant",),
        "staff_significant",
        "Significant events",
        "Alerts and notices: errors, large amounts, AML, failed log-ins and changes.",
    ),
    Function(
        Section.COMPLIANCE, ("audit.view_event",), "staff_events", "Audit log", "All recorded events, newest first."
    ),
    Function(
        Section.HOUSE,
        (staff.ASK, staff.DECIDE),
        "staff_people",
        "Staff",
        "Staff accounts and roles.",
    ),
    Function(
        Section.HOUSE,
        API_TOKEN_READERS,
        "staff_api_tokens",
        "API tokens",
        "Tokens for API clients that read events, rounds and reports.",
    ),
    Function(
        Section.HOUSE,
        ("audit.view_event",),
        "staff_log",
        "Log signing",
        "Signatures, checkpoints and export of the audit log.",
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.view_event",),
        "staff_access_log",
        "Access log",
        "Which staff member viewed which player's data.",
    ),
    Function(
        Section.HOUSE,
        ("audit.view_event",),
        "staff_retention",
        "Retention",
        "Retention periods and deletions.",
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
