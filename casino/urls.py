"""Every address of the house: what a player meets under a language, the back office and machines' pages without one."""

from django.conf.urls.i18n import i18n_patterns
from django.urls import include, path

from audit.views import events
from casino import staff, views
from casino.registration import Register
from players.access import staff_required

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("staff/", staff.staff_home, name="staff_home"),
    # The event log knows nobody, so who may read it is said here.
    path("staff/events/", staff_required("audit.view_event")(events), name="staff_events"),
    path("staff/", include("games.staff_urls")),
    path("staff/", include("wallet.staff_urls")),
    *i18n_patterns(
        path("account/register/", Register.as_view(), name="account_signup"),
        path("", include("players.urls")),
        path("", include("wallet.urls")),
        path("", include("games.urls")),
    ),
]
