"""ASGI application on one port: pages and API run as WSGI in threads, measured at 3 to 6 times the
throughput of Django's own ASGI. Streams of live tables need neither a thread nor a database
connection each.
"""

import os
from collections.abc import Iterator
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

from casino.wsgi import application as pages

# isort: split
# The following imports load models, which need the setup done by the imports above.
from django.urls import reverse
from django.utils.translation import override

from casino import views
from ops.http.request_buffer import Allowance, Door, Readers
from players.identity.uploads import TOO_MUCH
from realtime.asgi import Port
from realtime.hub import Hub
from wallet.provider_statements.parser import MOST_BYTES

LIVE_STREAMS = int(os.environ.get("LIVE_STREAMS", "1000"))

SECONDS_FOR_DOCUMENTS = 300.0  # 25 MB over a poor mobile connection
FORM_AROUND = 100_000  # bytes: the other fields of a form with a file


def _where_files_are_sent() -> Iterator[tuple[str, Allowance]]:
    """Yield the URLs that accept uploads: documents, in each language, and provider statements."""
    for language, _name in settings.LANGUAGES:
        with override(language):
            page = reverse("identity")
        yield page, Allowance(settings.LARGEST_UPLOAD, SECONDS_FOR_DOCUMENTS, instead=f"{page}?{TOO_MUCH}=1")
    statements = f"{reverse('staff_statements')}?{TOO_MUCH}=1"
    yield reverse("staff_statement_upload"), Allowance(MOST_BYTES + FORM_AROUND, instead=statements)


# the WSGI types of the two differ in name only
_threads = WSGIMiddleware(cast("Any", pages), workers=settings.WEB_THREADS)
_door = Door(
    cast("Any", _threads),
    ordinary=Allowance(settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
    at=dict(_where_files_are_sent()),
    below={views.API: Allowance(settings.DATA_UPLOAD_MAX_MEMORY_SIZE, words=views.at_the_door)},
)
if settings.METRICS:
    from ops.metrics.collect import STREAMS

    _hub = Hub(LIVE_STREAMS, STREAMS.inc)
else:
    _hub = Hub(LIVE_STREAMS)
application = Port(_hub, Readers(_door))
