from allauth.account.views import login, logout
from django.urls import path
from django.views.decorators.http import require_POST

from players import account_views, identity_views, views

# Of allauth's pages only these; registration also opens accounts, so it stands in `casino.registration`.
urlpatterns = [
    path("account/", account_views.account, name="account"),
    path("account/login/", login, name="account_login"),
    path("account/logout/", require_POST(logout), name="account_logout"),
    path("account/identity/", identity_views.identity, name="identity"),
    path("language/", views.set_language, name="set_language"),
    path("terms/", views.terms_page, name="terms"),
]
