"""URLs of the API, version 1. Each app defines its own; views that depend on several apps are listed here."""

from django.urls import include, path, re_path

from accounts.protection_views import Pause
from players.api import problems

app_name = "api"
urlpatterns = [
    path("", include("players.api.urls")),
    path("", include("games.api.urls")),
    path("protection/pause/", Pause.as_view(), name="pause"),
    path("", include("wallet.api")),
    path("", include("wallet.seamless_wallet.urls")),
    path("", include("backoffice.api.compliance_urls")),
    re_path(r"^(?P<path>.*)$", problems.nowhere),
]
