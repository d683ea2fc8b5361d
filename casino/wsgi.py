"""WSGI application: every page, form and API call. In production it refuses to start where that is unsafe."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

application = get_wsgi_application()

from ops.checks import refuse_unsafe_start  # noqa: E402  (needs loaded apps)

refuse_unsafe_start()
