"""The application as WSGI: every page, form and API call. A production house that is not safe to open does not."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

application = get_wsgi_application()

from ops.checks import refuse_unsafe_start  # noqa: E402  (needs loaded apps)

refuse_unsafe_start()
