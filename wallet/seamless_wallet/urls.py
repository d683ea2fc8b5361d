"""The addresses of the seamless wallet: of the host's side, and of players' way to studios."""

from django.urls import path, register_converter

from wallet.seamless_wallet.studio_views import GameSessions, Studios
from wallet.seamless_wallet.views import DO, wallet_call


class OperationConverter:
    """What a studio may ask for, as it stands in an address."""

    regex = "|".join(DO)

    def to_python(self, value: str) -> str:
        """Read it."""
        return value

    def to_url(self, value: str) -> str:
        """Write it."""
        return value


register_converter(OperationConverter, "operation")

urlpatterns = [
    path("wallet/<operation:operation>/", wallet_call, name="wallet_call"),
    path("studios/", Studios.as_view(), name="studios"),
    path("studios/<slug:studio>/sessions/", GameSessions.as_view(), name="studio_sessions"),
]
