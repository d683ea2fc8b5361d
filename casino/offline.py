"""The page that is shown where the house cannot be reached, and the service worker that keeps it ready.

The worker keeps this one page in each language, with its style sheets, script, icons and fonts: never a page of the
house itself, which has its reader's balance in it. It belongs to nobody, so it is written without a request.
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
AN_HOUR = 3600  # seconds after which a browser asks whether the worker has changed


@made_by_the_page
@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """The page itself, in the language of its address."""
    return HttpResponse(stand_alone("offline.html", request))


@made_by_the_page
@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """The worker's script, from the root, since a worker governs what lies below its own address."""
    response = HttpResponse(_script(), content_type="text/javascript; charset=utf-8")
    patch_cache_control(response, public=True, max_age=AN_HOUR)
    return response


def stand_alone(template: str, request: HttpRequest) -> str:
    """Write a page that needs neither database nor session; of the request it has only the nonce of its scripts."""
    return get_template(template).render({"csp_nonce": getattr(request, "csp_nonce", "")})


@cache
def _script() -> str:
    """Return the script with what it keeps. It names a digest of the pages, so that a browser sees when they change."""
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
