"""allauth adapter that also handles games at log-in and log-out."""

from django.db import transaction
from django.http import HttpRequest

from games.demo import session_state
from players.login.adapter import AccountAdapter
from players.login.current_user import player_of
from players.models import User
from wallet.ledger import purse
from wallet.models import Mode


class HouseAdapter(AccountAdapter):
    """The adapter of `players`, which also ends demo games and returns money from open games.

    Log-out and return of money are one transaction.
    """

    def login(self, request: HttpRequest, user: User) -> None:
        """Forget the visitor's demo game and start a session."""
        session_state.forget(request.session)
        super().login(request, user)

    def logout(self, request: HttpRequest) -> None:
        """Return the money from open games, then end the session."""
        player = player_of(request.user)
        with transaction.atomic():
            if player:
                for mode in Mode:
                    purse.give_back(player=player, mode=mode, why=purse.Leaving.SESSION, by=str(player))
            super().logout(request)
