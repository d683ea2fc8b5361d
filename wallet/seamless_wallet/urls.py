"""URLs of the seamless wallet: the host's endpoints for studios, and the player API for studios."""

from django.urls import path, register_converter

from wallet.seamless_wallet.views import DO, GameSessions, Studios, wallet_call


class OperationConverter:
    """URL converter for the operations that a studio can request."""

    regex = "|".join(DO)

    def to_python(self, value: str) -> str:
        """Return the value unchanged."""
        return value

    def to_url(self, value: str) -> str:
        """Return the value unchanged."""
        return value


register_converter(OperationConverter, "operation")

urlpatterns = [
    path("wallet/<operation:operation>/", wallet_call, name="wallet_call"),
    path("studios/", Studios.as_view(), name="studios"),
    path("studios/<slug:studio>/sessions/", GameSessions.as_view(), name="studio_sessions"),
]
