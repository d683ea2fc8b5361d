"""ASGI application on one port: pages and API run as WSGI in threads, measured at 3 to 6 times the
throughput of Django's own ASGI. Streams of live tables need neither a thread nor a database
connection each.
"""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

from casino.wsgi import application as pages

# isort: split
# The following imports load models, which need the setup done by the imports above.
from django.db import DatabaseError, close_old_connections
from django.http import parse_cookie
from django.urls import reverse
from django.utils.translation import override

from casino import refusals
from ops.http.bodies import Allowance, Bodies, Message
from ops.http.pages import Pages
from players.api import tokens
from players.api.views import key_of
from players.identity.uploads import TOO_MUCH
from players.login import sessions
from realtime.asgi import Port
from realtime.hub import Hub
from wallet import exchange_rates
from wallet.provider_statements import parser

LIVE_STREAMS = int(os.environ.get("LIVE_STREAMS", "1000"))

SECONDS_FOR_DOCUMENTS = 300.0  # 25 MB over a poor mobile connection
FORM_AROUND = 100_000  # bytes: the other fields of a form with a file

_threads = ThreadPoolExecutor(settings.WEB_THREADS, thread_name_prefix="pages")


def _where_files_are_sent() -> Iterator[tuple[str, Allowance]]:
    """Yield the URLs that accept uploads: documents, in each language, provider statements, and exchange rates.

    No language but the default is activated: its texts are loaded for who asks for them.
    """
    with override(settings.LANGUAGE_CODE):
        pages = [reverse("identity"), reverse("documents")]
    for language, _name in settings.LANGUAGES:
        for each in pages:
            page = each.replace(f"/{settings.LANGUAGE_CODE}/", f"/{language}/", 1)
            yield page, Allowance(settings.LARGEST_UPLOAD, SECONDS_FOR_DOCUMENTS, instead=f"{page}?{TOO_MUCH}=1")
    statements, rates = reverse("staff_statements"), reverse("staff_exchange_rates")
    yield (
        reverse("staff_statement_upload"),
        Allowance(parser.MOST_BYTES + FORM_AROUND, instead=f"{statements}?{TOO_MUCH}=1"),
    )
    yield rates, Allowance(exchange_rates.MOST_BYTES + FORM_AROUND, instead=f"{rates}?{TOO_MUCH}=1")


def _find_sender(cookie: str, authorization: str) -> str:
    """Return the running session or the API token that a request brings, or "" without one."""
    close_old_connections()
    try:
        if key := key_of(authorization):
            token = tokens.find(key)
            return f"token {token.pk}" if token else ""
        session = sessions.find_running(parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME, ""))
        return f"session {session}" if session else ""
    except DatabaseError:
        return ""
    finally:
        close_old_connections()


async def _sender_of(scope: Message) -> str:
    """Return who sends a large body. Called once for each, so the query costs little."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    brought = headers.get(b"cookie", ""), headers.get(b"authorization", "")
    return await asyncio.get_running_loop().run_in_executor(_threads, _find_sender, *brought)


_pages = Pages(
    pages,
    threads=_threads,
    bodies=Bodies(
        _sender_of, ordinary=Allowance(settings.DATA_UPLOAD_MAX_MEMORY_SIZE), at=dict(_where_files_are_sent())
    ),
    refusal=refusals.answer,
)
if settings.METRICS:
    from ops.metrics.collect import STREAMS

    _hub = Hub(LIVE_STREAMS, STREAMS.inc)
else:
    _hub = Hub(LIVE_STREAMS)
application = Port(_hub, _pages)
