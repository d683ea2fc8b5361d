"""The house with one more page, `/<language>/broken/`, which fails, to show the error page."""

from typing import NoReturn

import django
from django.conf import settings
from django.conf.urls.i18n import i18n_patterns
from django.http import HttpRequest
from django.urls import path

settings.ROOT_URLCONF = __name__
django.setup()

from casino.urls import *  # noqa: E402, F403  (its handlers too)
from casino.urls import urlpatterns as the_house  # noqa: E402


def fail(request: HttpRequest) -> NoReturn:
    """Show what happens where the house is at fault."""
    raise RuntimeError("a page that fails on purpose")


urlpatterns = [*i18n_patterns(path("broken/", fail)), *the_house]

from casino.asgi import application  # noqa: E402  (reads the setting, and these addresses)

__all__ = ["application", "urlpatterns"]
