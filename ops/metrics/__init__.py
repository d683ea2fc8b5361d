"""`/metrics` for Prometheus, restricted to configured clients, and the metrics of the database."""

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from secrets import compare_digest
from typing import Any, Final

from django.conf import settings
from django.db import Error, connection
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from audit import replica
from audit.sealing.alarms import lag
from ops.beat import ADVISORY_LOCK, COUNT_BEATS
from players.access import made_by_the_page

LATE: Final = """
SELECT round.phase, count(*), coalesce(max(extract(epoch FROM clock_timestamp() - round.deadline)), 0)
FROM games_livetable AS live JOIN games_liveround AS round ON round.id = live.round_id
WHERE round.phase IN ('betting', 'closed', 'dealt') AND round.deadline <= clock_timestamp()
    AND (round.phase <> 'betting' OR EXISTS (
        SELECT FROM games_liveseat AS bettor WHERE bettor.round_id = round.id AND bettor.stakes <> '{}'))
GROUP BY round.phase
"""
PHASES: Final = ("betting", "closed", "dealt")

# Work waiting for workers: usually small numbers, each counted with a partial index.
WAITING: Final = """
SELECT 'mails', count(*) FROM players_mail WHERE next_try_at <= clock_timestamp()
UNION ALL SELECT 'payouts', count(*) FROM wallet_withdrawal WHERE status IN ('approved', 'sending')
UNION ALL SELECT 'operators', count(*) FROM wallet_operator_message WHERE state = 'waiting'
UNION ALL SELECT 'reports', count(*) FROM audit_report WHERE state IN ('waiting', 'making')
UNION ALL SELECT 'seal', count(*) FROM audit_pending
"""

VERIFIED: Final = """
SELECT extract(epoch FROM clock_timestamp() - event.at) FROM audit_event AS event
WHERE event.kind = 'ledger.verified' ORDER BY event.id DESC LIMIT 1
"""

CONNECTIONS: Final = """
SELECT coalesce(state, 'other'), count(*), current_setting('max_connections')::integer
FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' GROUP BY 1
"""


class House(Collector):
    """Collects all metrics from the database. While the database is unavailable, only that is reported."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        try:
            found = list(_asked())
        except Error:
            found = []
        yield GaugeMetricFamily("sabot_database_up", "Whether the database answers", value=int(bool(found)))
        yield from found


def _asked() -> Iterator[Metric]:
    yield GaugeMetricFamily("sabot_seal_lag_seconds", "Age of the oldest unsigned event", value=lag().seconds)
    yield _beats()
    yield from _tables()
    waiting = GaugeMetricFamily("sabot_waiting", "Items waiting for a worker", labels=["what"])
    for what, number in _rows(WAITING):
        waiting.add_metric([str(what)], float(number))
    yield waiting
    verified = _rows(VERIFIED)
    if verified:
        yield GaugeMetricFamily(
            "sabot_ledger_verified_seconds", "Seconds since the ledger was verified", value=float(verified[0][0])
        )
    yield from _connections()
    yield from _replica()


def _replica() -> Iterator[Metric]:
    """Yield the state of the replica, as this process knows it."""
    if not replica.is_there():
        return
    seconds = replica.MONITOR.lag()
    yield GaugeMetricFamily("sabot_replica_up", "Whether the replica answers", value=int(seconds is not None))
    if seconds is not None:
        yield GaugeMetricFamily("sabot_replica_lag_seconds", "Maximum replica lag in seconds", value=seconds)


def _beats() -> Metric:
    beats = _rows(COUNT_BEATS, [ADVISORY_LOCK])
    return GaugeMetricFamily("sabot_beats", "Active beats (expected: one)", value=beats[0][0])


def _tables() -> Iterator[Metric]:
    number = GaugeMetricFamily("sabot_tables_late", "Shared tables past a deadline", labels=["phase"])
    seconds = GaugeMetricFamily("sabot_tables_late_seconds", "Longest delay in seconds", labels=["phase"])
    found = {phase: (count, late) for phase, count, late in _rows(LATE)}
    for phase in PHASES:
        count, late = found.get(phase, (0, 0))
        number.add_metric([phase], count)
        seconds.add_metric([phase], float(late))
    yield number
    yield seconds


def _connections() -> Iterator[Metric]:
    used = GaugeMetricFamily("sabot_connections", "Connections to the database", labels=["state"])
    rows = _rows(CONNECTIONS)
    for state, number, _most in rows:
        used.add_metric([state], number)
    yield used
    yield GaugeMetricFamily("sabot_connections_most", "Maximum database connections", value=rows[0][2])


def _rows(question: str, parameters: list[int] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


@made_by_the_page
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus's text format; 404 for clients without access."""
    if not (settings.METRICS and may_read(request)):
        raise Http404
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    forget_the_dead(settings.METRICS_DIR)
    MultiProcessCollector(registry, str(settings.METRICS_DIR))
    registry.register(House())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def may_read(request: HttpRequest) -> bool:
    """Return whether a request has the token, or comes from a network that needs none. Proxied
    requests need the token, because their address is the proxy's.
    """
    brought = request.headers.get("Authorization", "")
    if settings.METRICS_TOKEN and compare_digest(brought.encode(), f"Bearer {settings.METRICS_TOKEN}".encode()):
        return True
    if {"X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"} & set(request.headers):
        return False
    with suppress(ValueError):
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
        return any(address in ip_network(each) for each in settings.METRICS_FROM)
    return False


def forget_the_dead(folder: Path) -> None:
    """Delete the gauge files of processes that have ended; their counters are kept."""
    for path in folder.glob("gauge_live*_*.db"):
        if not Path("/proc", path.stem.rpartition("_")[2]).exists():
            path.unlink(missing_ok=True)
