"""URLs that every API client may call: the token itself and the reality check."""

from django.urls import path

from players.api.self_views import Check, Self

urlpatterns = [
    path("self/", Self.as_view(), name="self"),
    path("protection/check/", Check.as_view(), name="reality_check"),
]
