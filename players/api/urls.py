"""What every program may ask: who it is, and what it has played."""

from django.urls import path

from players.api.play_sessions import Check
from players.api.self_views import Self

urlpatterns = [
    path("self/", Self.as_view(), name="self"),
    path("protection/check/", Check.as_view(), name="reality_check"),
]
