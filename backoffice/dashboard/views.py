"""Dashboard page, and its panel on the health of background work.

Each panel is shown only to readers who may see the data it shows. A broker that cannot be reached
is reported as a line and does not prevent the page from being served.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from celery import current_app
from django.conf import settings
from django.db import connection
from django.db.models import Min
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_safe
from kombu import Connection, Queue
from kombu.exceptions import ChannelError, OperationalError

from audit import hours
from audit.models import Report, Watermark
from audit.reports.requests import clock
from audit.reports.runner import OPEN
from audit.sealing import checkpoint_delivery, checkpoints
from audit.sealing.alarms import lag
from backoffice import fairness
from backoffice.audit.event_log import duration_text
from backoffice.dashboard import money as money
from backoffice.dashboard import queues as waiting
from backoffice.dashboard.breakdowns import SEE_PLAYERS, between_players, breakdowns, winners_and_losers
from backoffice.dashboard.figures import Converted
from backoffice.dashboard.period import PeriodForm, Span
from backoffice.money.exchange_rates import shown
from games.chemin import tick
from games.fairness.returns.figures import Group, groups
from games.fairness.returns.figures import Line as ReturnLine
from games.models import LiveTable
from games.shared import phases
from ops.beat import ADVISORY_LOCK, COUNT_BEATS
from ops.readiness import SECONDS, quick_line
from players.access import StaffRequest, made_by_the_page, staff_required
from players.models import Mail
from players.staff import access_log

SEE_RETURNS: Final = fairness.SEE
MIDDLE: Final = 50.0  # position of the exact return, of 100
BAND: Final = 30.0  # distance from the exact return to the edge of the band
EDGE: Final = 1.0


@dataclass(frozen=True)
class Drawn:
    """A bet and the position of its actual return from 0 to 100. The band reaches from 20 to 80.

    The position is None if there is nothing to compare with.
    """

    line: ReturnLine
    at: float | None


@dataclass(frozen=True)
class OfGame:
    """Bets of a game in one currency under one version of its rules."""

    name: str
    currency: str
    rules_version: str
    bets: Sequence[Drawn]
    address: str

    @property
    def odd(self) -> int:
        """Number of bets that need a review."""
        return sum(each.line.is_odd for each in self.bets)

    @property
    def tested(self) -> int:
        """Number of bets with enough rounds for a band. Without any, nothing is known of the game."""
        return sum(bool(each.line.band) for each in self.bets)


def figures_by_game(span: Span) -> list[OfGame]:
    """Return every game played for real money on the days of *span*, by currency."""
    form = fairness.ReturnsForm(_asked(span))
    return [of_game for group in groups(form.scope()) for of_game in _of_group(group, span)]


def _of_group(group: Group, span: Span) -> list[OfGame]:
    by_currency = sorted(group.lines, key=lambda line: line.currency)  # the sort is stable: bets keep their order
    return [
        OfGame(
            fairness.RETURN_NAMES[group.variant],
            currency,
            group.rules_version,
            [Drawn(line, _place(line.deviation)) for line in lines],
            address(span, game=group.variant, currency=currency),
        )
        for currency, lines in groupby(by_currency, key=lambda line: line.currency)
    ]


def _place(deviation: float | None) -> float | None:
    return None if deviation is None else round(min(max(MIDDLE + BAND * deviation, EDGE), 100 - EDGE), 2)


def address(span: Span, **choices: str) -> str:
    """Return the address of the page of returns for the same days."""
    return f"{reverse('staff_returns')}?{urlencode(_asked(span) | choices)}"


def _asked(span: Span) -> dict[str, str]:
    return {"since": span.first.isoformat(), "until": span.last.isoformat()}


SEE: Final = ("games.operate_table", "games.supervise_table", "audit.view_event")
LONGEST_WATERMARK: Final = timedelta(minutes=2)  # beat requests a mark every thirty seconds
LONGEST_DUE: Final = timedelta(seconds=5)  # beat checks every second
LONGEST_SUMMING: Final = timedelta(hours=3)
MOST_WAITING: Final = 100  # messages for workers, or mails
A_DAY: Final = timedelta(hours=26)
AN_HOUR: Final = timedelta(hours=2)

# The query follows the order of the index on kinds. A query for the newest event of one kind would
# scan back over all events under a generic plan: PostgreSQL assumes that each of a few kinds is
# common, and most events are rounds.
LAST: Final = """
SELECT CASE WHEN kind = %(kind)s::text THEN at END FROM audit_event
WHERE (kind, id) <= (%(kind)s::text, 9223372036854775807) ORDER BY kind DESC, id DESC LIMIT 1
"""


@dataclass(frozen=True)
class Line:
    """One kind of background work: its status, and whether someone must look into it."""

    name: str
    text: str
    is_wrong: bool = False
    page: str = ""  # URL name of a page with details
    permission: str = ""  # required for that page


def lines() -> list[Line]:
    """Return the status of all background work."""
    now = clock()
    parts: Sequence[Callable[[datetime], Iterator[Line]]] = (_broker, _beat, _tables, _log, _sums, _nights, _post)
    return [line for part in parts for line in part(now)]


def _broker(_now: datetime) -> Iterator[Line]:
    try:
        with quick_line() as broker:
            waiting = _waiting(broker)
            workers = len(current_app.control.ping(timeout=SECONDS / 2, connection=broker) or ())
    except (OperationalError, OSError) as error:
        failed = _("not reachable: %(error)s") % {"error": type(error).__name__}
        yield Line(_("Broker"), failed, is_wrong=True)
        yield Line(_("Workers"), _("unknown, the broker is not reachable"), is_wrong=True)
        return
    messages = ngettext("%(count)s message waiting for a worker", "%(count)s messages waiting for a worker", waiting)
    yield Line(_("Broker"), messages % {"count": f"{waiting:,}"}, waiting > MOST_WAITING)
    running = _("running: %(count)s") % {"count": workers}
    yield Line(_("Workers"), running if workers else _("no worker answers"), not workers)


def _waiting(broker: Connection) -> int:
    """Return the number of messages in the queue. A queue that does not exist is empty."""
    try:
        queue = Queue(current_app.conf.task_default_queue, channel=broker.default_channel)
        declared: Any = queue.queue_declare(passive=True)
        return int(declared.message_count)
    except ChannelError:
        return 0


def _beat(now: datetime) -> Iterator[Line]:
    with connection.cursor() as cursor:
        cursor.execute(COUNT_BEATS, [ADVISORY_LOCK])
        (beats,) = cursor.fetchone()
    yield Line(_("Scheduler"), _("running") if beats else _("not running"), not beats)
    latest = Watermark.objects.order_by("-at").values_list("at", flat=True).first()
    yield _since(_("Last scheduled task"), latest, now, LONGEST_WATERMARK)


def _tables(now: datetime) -> Iterator[Line]:
    due = phases.late()
    oldest = LiveTable.objects.filter(pk__in=due).aggregate(oldest=Min("round__deadline"))["oldest"]
    yield _late(_("Shared tables"), len(due), oldest, now)
    asked = tick.due()
    oldest = LiveTable.objects.filter(pk__in=asked).aggregate(oldest=Min("chemin__deadline"))["oldest"]
    yield _late(_("Chemin de Fer tables"), len(asked), oldest, now)


def _late(name: str, count: int, oldest: datetime | None, now: datetime) -> Line:
    if not count:
        return Line(name, _("on time"))
    late = max(now - oldest, timedelta()) if oldest else timedelta()
    text = _("%(count)s overdue, the longest by %(time)s") % {"count": count, "time": duration_text(late)}
    return Line(name, text, late > LONGEST_DUE)


def _log(now: datetime) -> Iterator[Line]:
    found = lag()
    covered = _("the oldest unsigned event is waiting for %(time)s") % {"time": f"{found.seconds} s"}
    yield Line(
        _("Log signing"),
        covered if found.since else _("all events signed"),
        found.is_long,
        "staff_log",
        "audit.view_event",
    )
    last = checkpoints.last()
    text = _("none yet")
    if last:
        text = _("%(time)s ago, with %(count)s events")
        text %= {"time": duration_text(now - last.at), "count": f"{last.size:,}"}
    yield Line(
        _("Last checkpoint"),
        text,
        page="staff_log",
        permission="audit.view_event",
    )
    for destination in settings.AUDIT_CHECKPOINTS_TO:
        record = checkpoint_delivery.record(destination)
        sent = _("never sent")
        if record.at:
            sent = _("sent %(time)s ago") % {"time": duration_text(now - record.at)}
        failed = _("failed since: %(count)s") % {"count": record.failures} if record.failures else ""
        name = _("Checkpoints to %(place)s") % {"place": record.destination}
        yield Line(
            name, "; ".join(filter(None, (sent, failed))), bool(record.failures), "staff_log", "audit.view_event"
        )


def _sums(now: datetime) -> Iterator[Line]:
    settled = hours.settled()
    if settled is None:
        yield Line(_("Hourly totals"), _("none yet"))
        return
    ends = [end for end in map(hours.rolled_until, hours.registered()) if end]
    if not ends:
        yield Line(_("Hourly totals"), _("none yet: no play or payments in a completed hour"))
        return
    until = min(ends)
    text = _("up to %(time)s UTC") % {"time": f"{until:%Y-%m-%d %H:%M}"}
    yield Line(_("Hourly totals"), text, now - until > LONGEST_SUMMING)


def _nights(now: datetime) -> Iterator[Line]:
    verified, broken = (_last(kind) for kind in ("ledger.verified", "ledger.broken"))
    if broken and (verified is None or verified < broken):
        text = _("found inconsistent %(time)s ago") % {"time": duration_text(now - broken)}
        yield Line(_("Ledger"), text, is_wrong=True)
    else:
        yield _since(_("Ledger verified"), verified, now, AN_HOUR)
    yield _since(_("Retention run"), _last("retention.applied"), now, A_DAY)
    yield _since(_("Last backup"), _last("house.backed_up"), now, A_DAY)
    waiting = Report.objects.filter(state__in=OPEN).count()
    yield Line(
        _("Reports"),
        _("%(count)s in progress") % {"count": waiting},
        page="staff_reports",
        permission="audit.view_report",
    )


def _post(now: datetime) -> Iterator[Line]:
    due = Mail.objects.filter(next_try_at__isnull=False)
    waiting = due[: MOST_WAITING + 1].count()
    turn = due.order_by("next_try_at").values_list("next_try_at", flat=True).first()
    text = _("none queued")
    if turn:
        text = ngettext(
            "%(count)s message queued, the oldest waiting for %(time)s",
            "%(count)s messages queued, the oldest waiting for %(time)s",
            waiting,
        ) % {"count": _counted(waiting), "time": duration_text(now - turn)}
    yield Line(_("E-mail"), text, waiting > MOST_WAITING)
    given_up = Mail.objects.filter(sent_at=None, next_try_at=None)[: MOST_WAITING + 1].count()
    if given_up:
        yield Line(_("Undeliverable e-mails"), _counted(given_up))


def _counted(count: int) -> str:
    """Write a count that is known up to `MOST_WAITING`."""
    return _("more than %(count)s") % {"count": MOST_WAITING} if count > MOST_WAITING else str(count)


def _last(kind: str) -> datetime | None:
    with connection.cursor() as cursor:
        cursor.execute(LAST, {"kind": kind})
        found: tuple[datetime | None] | None = cursor.fetchone()
    return found[0] if found else None


def _since(name: str, last: datetime | None, now: datetime, longest: timedelta) -> Line:
    """Return a line that says how long ago something was done.

    It is wrong if longer ago than *longest*.
    """
    if last is None:
        return Line(name, pgettext("last time of something", "never"))
    return Line(name, _("%(time)s ago") % {"time": duration_text(now - last)}, now - last > longest)


READERS: Final = tuple(dict.fromkeys((money.SEE, SEE_RETURNS, *waiting.SEE, *SEE)))


@staff_required(*READERS)
@access_log.listed("winners and losers")
@require_safe
def staff_dashboard(request: StaffRequest) -> HttpResponse:
    """Show the dashboard. The players who won and lost most are shown only here, and not in each refresh."""
    context = _context(request)
    board = context.get("board")
    if board and request.user.has_perm(SEE_PLAYERS):
        won, lost = winners_and_losers(board)
        access_log.shown(request, *(each.player_id for each in (*won, *lost)))
        context |= {"sees_players": True, "won": won, "lost": lost}
    return render(request, "staff/dashboard.html", context)


@made_by_the_page
@staff_required(*READERS)
@require_safe
def staff_dashboard_now(request: StaffRequest) -> HttpResponse:
    """Show everything except the choice of a period and the players, for the page's own refresh."""
    return render(request, "staff/dashboard.html#fresh", _context(request))


def _context(request: StaffRequest) -> dict[str, Any]:
    now = clock()
    form = PeriodForm(request.GET, now=now)
    span = form.span(now)
    mine = request.user.get_all_permissions()
    context: dict[str, Any] = {"form": form, "span": span, "now": now, "counts": waiting.counts(request.staff)}
    if money.SEE in mine:
        context |= {"sees_money": True} | _figures(request, span)
    if SEE_RETURNS in mine:
        context |= {
            "sees_returns": True,
            "games": figures_by_game(span),
            "returns_address": address(span),
        }
    if not mine.isdisjoint(SEE):
        context |= {"sees_health": True, "health": [(line, line.permission in mine) for line in lines()]}
    return context


def _figures(request: StaffRequest, span: Span) -> dict[str, Any]:
    board = money.read_board(span, request.GET.get("currency", ""))
    if board is None:
        return {"definitions": money.DEFINITIONS}
    asked = {name: value for name, value in request.GET.items() if name != "currency"}
    base, codes = settings.REPORTING_CURRENCY, money.currencies(board)

    def address_of(currency: str) -> str:
        return f"?{urlencode(asked | {'currency': currency})}"

    context = {
        "board": board,
        "figures": board.figures(),
        "charts": board.charts(),
        "between": between_players(board),
        "breakdowns": breakdowns(board),
        "currencies": [(code, address_of(code), code == board.currency and not board.is_together) for code in codes],
        "base": base,
        "chosen": money.TOGETHER if board.is_together else board.currency,
        "definitions": money.DEFINITIONS,
    }
    if board.is_together or codes != [base]:
        context["together"] = address_of(money.TOGETHER)
    return context | _rates(board)


def _rates(board: money.Board) -> dict[str, Any]:
    """Return the exchange rates that were used, the newest of each currency, and what lacks a rate."""
    if not isinstance(board.now, Converted):
        return {}
    lacking = {*board.now.missing, *(board.then.missing if board.then else ())}
    return {
        "rates": [(used, shown(used.rate.value)) for used in board.now.used],
        "last_rates": {used.rate.currency: (shown(used.rate.value), used.rate.day) for used in board.now.used},
        "earlier": sum(used.is_earlier for used in board.now.used),
        "lacking": sorted({currency for currency, _day in lacking}),
    }
