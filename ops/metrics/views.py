"""`/metrics` for Prometheus, restricted to configured clients."""

from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from secrets import compare_digest

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from players.access import made_by_the_page


@made_by_the_page
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus's text format; 404 for clients without access."""
    if not (settings.METRICS and may_read(request)):
        raise Http404
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    from ops.metrics.house import House

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
