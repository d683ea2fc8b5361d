"""Menu of the back office: its functions, the permissions they need, and the page of roles."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import Group
from django.db.models import Value
from django.db.models.functions import Concat
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy
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
from backoffice.players.cases import READERS as CASE_READERS
from backoffice.rounds import READERS as ROUND_READERS
from backoffice.staff.api_access import TOKEN_READERS
from backoffice.staff.handbook import READ as READ_HANDBOOK
from backoffice.support.letters import READ as READ_REPLIES
from backoffice.tables.versions import READERS as GAME_READERS
from games.shared.floor.rows import READERS as TABLE_READERS
from players import staff
from players.access import StaffRequest, staff_required
from players.models import User
from players.protection.national_rules import READ as READ_RULES
from players.staff import Section
from wallet.exchange_rates import READERS as RATE_READERS
from wallet.seamless_wallet.partners import READERS as PARTNER_READERS
from wallet.webhooks import READERS as WEBHOOK_READERS


@dataclass(frozen=True, eq=False)
class Function:
    """Menu entry: its section, the permissions (any one suffices), its page, name and purpose.

    Name and purpose are in the active language.
    """

    group: Section
    permissions: tuple[str, ...]
    page: str  # URL name
    name: Promise
    purpose: Promise


SECTION_NAMES: Final[Mapping[Section, Promise]] = {
    Section.PEOPLE: pgettext_lazy("staff menu", "Players"),
    Section.MONEY: pgettext_lazy("staff menu", "Payments"),
    Section.GAMES: pgettext_lazy("staff menu", "Games"),
    Section.COMPLIANCE: pgettext_lazy("staff menu", "Compliance"),
    Section.HOUSE: pgettext_lazy("staff menu", "Administration"),
}
FUNCTIONS = (
    Function(
        Section.GAMES,
        TABLE_READERS,
        "staff_floor",
        pgettext_lazy("staff menu", "Floor"),
        gettext_lazy("Live state of every table; open, pause, close, stop and resume tables."),
    ),
    Function(
        Section.GAMES,
        TABLE_READERS,
        "staff_tables",
        pgettext_lazy("staff menu", "Tables"),
        gettext_lazy("All tables with their state, version and chat language."),
    ),
    Function(
        Section.GAMES,
        GAME_READERS,
        "staff_games",
        pgettext_lazy("staff menu", "Games"),
        gettext_lazy("Game rules and RTP, table versions and scheduled changes."),
    ),
    Function(
        Section.GAMES,
        STOP_READERS,
        "staff_stop",
        pgettext_lazy("staff menu", "House stop"),
        gettext_lazy("Emergency stop of all play and deposits, and the end of the stop."),
    ),
    Function(
        Section.GAMES,
        READ_NOTICES,
        "staff_notices",
        pgettext_lazy("staff menu", "Notices"),
        gettext_lazy("Maintenance notices for players and visitors, in five languages."),
    ),
    Function(
        Section.GAMES,
        ROUND_READERS,
        "staff_rounds",
        pgettext_lazy("staff menu", "Rounds"),
        gettext_lazy("Search rounds and verify them from their seed."),
    ),
    Function(
        Section.GAMES,
        ("games.view_incident",),
        "staff_incidents",
        pgettext_lazy("staff menu", "Incidents"),
        gettext_lazy("Rounds with errors, their rulings and the letters to their players."),
    ),
    Function(
        Section.GAMES,
        ("games.view_returns",),
        "staff_returns",
        pgettext_lazy("staff menu", "RTP"),
        gettext_lazy("Actual RTP of every bet compared with the theoretical RTP."),
    ),
    Function(
        Section.GAMES,
        ("games.view_returns",),
        "staff_randomness",
        pgettext_lazy("staff menu", "Randomness"),
        gettext_lazy("Statistical tests of cards and shuffles."),
    ),
    Function(
        Section.MONEY,
        WITHDRAWAL_READERS,
        "staff_withdrawals",
        pgettext_lazy("staff menu", "Withdrawals"),
        gettext_lazy("Approve or refuse withdrawal requests."),
    ),
    Function(
        Section.MONEY,
        DEPOSIT_READERS,
        "staff_deposits",
        pgettext_lazy("staff menu", "Deposits"),
        gettext_lazy("Deposits with a missing or contradictory provider status; query the provider and add notes."),
    ),
    Function(
        Section.MONEY,
        OPERATOR_READERS,
        "staff_operators",
        pgettext_lazy("staff menu", "Operator messages"),
        gettext_lazy("Round results that an operator has not accepted; resend them or settle them manually."),
    ),
    Function(
        Section.MONEY,
        STATEMENT_READERS,
        "staff_statements",
        pgettext_lazy("staff menu", "Provider statements"),
        gettext_lazy("Reconciliation of provider statements with our payments."),
    ),
    Function(
        Section.MONEY,
        RATE_READERS,
        "staff_exchange_rates",
        pgettext_lazy("staff menu", "Exchange rates"),
        gettext_lazy("Daily rates that reports use to add up several currencies."),
    ),
    Function(
        Section.MONEY,
        PARTNER_READERS,
        "staff_partners",
        pgettext_lazy("staff menu", "Partners"),
        gettext_lazy("Game studios and operators on the seamless wallet, and their keys."),
    ),
    Function(
        Section.HOUSE,
        DASHBOARD_READERS,
        "staff_dashboard",
        pgettext_lazy("staff menu", "Dashboard"),
        gettext_lazy("Open tasks and alarms, key figures, RTP and system health."),
    ),
    Function(
        Section.HOUSE,
        (READ_HANDBOOK,),
        "staff_handbook",
        pgettext_lazy("staff menu", "Handbook"),
        gettext_lazy("Step-by-step instructions for every role."),
    ),
    Function(
        Section.HOUSE,
        LIST_READERS,
        "staff_lists",
        pgettext_lazy("staff menu", "Data lists"),
        gettext_lazy("Search, filter and export records of every kind."),
    ),
    Function(
        Section.HOUSE,
        APPROVAL_READERS,
        "staff_approvals",
        pgettext_lazy("staff menu", "Approvals"),
        gettext_lazy("Requests that need a second person."),
    ),
    Function(
        Section.MONEY,
        ("wallet.view_ledger",),
        "staff_ledger",
        pgettext_lazy("staff menu", "Ledger"),
        gettext_lazy("Player liability, accounts and journals."),
    ),
    Function(
        Section.PEOPLE,
        ("players.view_player",),
        "staff_players",
        pgettext_lazy("staff menu", "Players"),
        gettext_lazy("Search players and open their profile."),
    ),
    Function(
        Section.COMPLIANCE,
        CASE_READERS,
        "staff_cases",
        gettext_lazy("Cases"),
        gettext_lazy("Complaints, alerts and checks of players, with owner, deadline and closing reason."),
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.handle_significant",),
        "staff_tags",
        gettext_lazy("Tags"),
        gettext_lazy("Tags that staff can give to players."),
    ),
    Function(
        Section.PEOPLE,
        ("players.review_identity",),
        "staff_identity",
        pgettext_lazy("staff menu", "KYC"),
        gettext_lazy("Review of identity documents."),
    ),
    Function(
        Section.PEOPLE,
        ("players.review_identity",),
        "staff_duplicates",
        pgettext_lazy("staff menu", "Duplicates"),
        gettext_lazy("Possible duplicate accounts."),
    ),
    Function(
        Section.PEOPLE,
        ("players.answer_service",),
        "staff_service",
        pgettext_lazy("staff menu", "Support"),
        gettext_lazy("Messages from players."),
    ),
    Function(
        Section.PEOPLE,
        READ_REPLIES,
        "staff_replies",
        pgettext_lazy("staff menu", "Reply templates"),
        gettext_lazy("Templates for replies to players, in five languages."),
    ),
    Function(
        Section.PEOPLE,
        (MODERATE_CHAT, READ_CHAT),
        "staff_chat",
        pgettext_lazy("staff menu", "Chat"),
        gettext_lazy("Reported messages and the chat log."),
    ),
    Function(
        Section.GAMES,
        (EXAMINE_PLAY,),
        "staff_play",
        pgettext_lazy("staff menu", "Collusion"),
        gettext_lazy("Signs of collusion at Chemin de Fer, and reports from players."),
    ),
    Function(
        Section.PEOPLE,
        ("players.exclude_player",),
        "staff_exclusions",
        pgettext_lazy("staff menu", "Exclusions"),
        gettext_lazy("Exclude players and see exclusions in force."),
    ),
    Function(
        Section.PEOPLE,
        ("players.set_limits",),
        "staff_limits",
        pgettext_lazy("staff menu", "Limits"),
        gettext_lazy("House limits on deposits, stakes, losses and time."),
    ),
    Function(
        Section.COMPLIANCE,
        (READ_RULES,),
        "staff_rules",
        pgettext_lazy("staff menu", "National rules"),
        gettext_lazy("Rules of each jurisdiction with their source, and the history of their changes."),
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.view_report",),
        "staff_reports",
        pgettext_lazy("staff menu", "Reports"),
        gettext_lazy("Reports for any period, on screen and as files."),
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.handle_significant",),
        "staff_significant",
        pgettext_lazy("staff menu", "Significant events"),
        gettext_lazy("Alerts and notices: errors, large amounts, AML, failed log-ins and changes."),
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.view_event",),
        "staff_events",
        pgettext_lazy("staff menu", "Audit log"),
        gettext_lazy("All recorded events, newest first."),
    ),
    Function(
        Section.HOUSE,
        (staff.ASK, staff.DECIDE),
        "staff_people",
        pgettext_lazy("staff menu", "Staff"),
        gettext_lazy("Staff accounts and roles."),
    ),
    Function(
        Section.HOUSE,
        TOKEN_READERS,
        "staff_api_tokens",
        pgettext_lazy("staff menu", "API tokens"),
        gettext_lazy("Tokens for API clients that read events, rounds and reports."),
    ),
    Function(
        Section.HOUSE,
        WEBHOOK_READERS,
        "staff_webhooks",
        pgettext_lazy("staff menu", "Webhooks"),
        gettext_lazy("Signed calls that announce events to your own systems, and their deliveries."),
    ),
    Function(
        Section.HOUSE,
        ("audit.view_event",),
        "staff_log",
        pgettext_lazy("staff menu", "Log signing"),
        gettext_lazy("Signatures, checkpoints and export of the audit log."),
    ),
    Function(
        Section.COMPLIANCE,
        ("audit.view_event",),
        "staff_access_log",
        pgettext_lazy("staff menu", "Access log"),
        gettext_lazy("Which staff member viewed which player’s data."),
    ),
    Function(
        Section.HOUSE,
        ("audit.view_event",),
        "staff_retention",
        pgettext_lazy("staff menu", "Retention"),
        gettext_lazy("Retention periods and deletions."),
    ),
)


def functions_of(user: User) -> list[tuple[Section, list[Function]]]:
    """Return the functions that *user* may use, by section, without empty sections."""
    mine = user.get_all_permissions()
    allowed = [function for function in FUNCTIONS if not mine.isdisjoint(function.permissions)]
    groups = [(section, [function for function in allowed if function.group is section]) for section in Section]
    return [(section, functions) for section, functions in groups if functions]


def function_at(path: str, among: Iterable[Function]) -> Function | None:
    """Return the function of a URL path: the one with the longest URL that the path begins with."""
    found = [function for function in among if path.startswith(reverse(function.page))]
    return max(found, key=lambda function: len(reverse(function.page)), default=None)


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


@staff_required("players.work")
@require_safe
def staff_roles(request: StaffRequest) -> HttpResponse:
    """Show every function with the roles that have it, and the reader's own roles."""
    mine = {function for _section, functions in functions_of(request.user) for function in functions}
    of_all = duties()
    sections = [
        (name, [(each, holders, each in mine) for each, holders in of_all if each.group is section])
        for section, name in SECTION_NAMES.items()
    ]
    roles = request.user.groups.order_by("name").values_list("name", flat=True)
    context = {"member": request.staff, "roles": roles, "sections": sections}
    return render(request, "staff/roles.html", context)
