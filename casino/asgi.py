"""The application on one port: pages and API run as WSGI in threads, which was measured at 3 to 6 times the throughput
of Django's own ASGI.
"""

import os
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

from casino.door import Door
from casino.wsgi import application as pages

THREADS = int(os.environ.get("WEB_THREADS", "16"))

_threads = WSGIMiddleware(cast("Any", pages), workers=THREADS)  # their types of WSGI differ in name only
application = Door(cast("Any", _threads), largest=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
