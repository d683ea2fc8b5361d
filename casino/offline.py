"""Offline page, shown without a connection to the server, and the service worker that caches it.

The worker caches only this page in each language, with its style sheets, script, icons and fonts.
It never caches other pages, which contain the reader's balance. The page is the same for everybody,
so it is rendered without a request.
"""

import hashlib
import json
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import get_template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import override
from django.views.decorators.http import require_safe

from players.access import made_by_the_page

FILES = (
    "css/tokens.css",
    "css/base.css",
    "css/parts.css",
    "js/common/appearance.js",
    "icons/sprite.svg",
    "icons/icon.svg",
    "fonts/hanken-grotesk.woff2",
    "fonts/hanken-grotesk-ro.woff2",
    "fonts/newsreader-600.woff2",
    "fonts/newsreader-600-ro.woff2",
)
AN_HOUR = 3600  # seconds until a browser checks for a new version of the worker


@made_by_the_page
@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Show the offline page, in the language of its URL."""
    return HttpResponse(stand_alone("offline.html", request))


@made_by_the_page
@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Return the worker's script; at the root, because a worker controls only URLs below its own."""
    response = HttpResponse(_script(), content_type="text/javascript; charset=utf-8")
    patch_cache_control(response, public=True, max_age=AN_HOUR)
    return response


def stand_alone(template: str, request: HttpRequest) -> str:
    """Render a page without database and session; only the nonce of its scripts comes from the request."""
    return get_template(template).render({"csp_nonce": getattr(request, "csp_nonce", "")})


@cache
def _script() -> str:
    """Return the script with the list of files to cache. A digest of the pages lets browsers notice a change."""
    pages, digest = {}, hashlib.sha256()
    for language, _ in settings.LANGUAGES:
        with override(language):
            pages[language] = reverse("offline")
            digest.update(get_template("offline.html").render({}).encode())
    kept = {
        "version": digest.hexdigest()[:12],
        "pages": pages,
        "otherwise": settings.LANGUAGE_CODE,
        "files": [static(name) for name in FILES],
    }
    return get_template("service_worker.js").render({"kept": json.dumps(kept)})
