"""Logging in and out, as far as games have a part in it, so it stands on the floor above them."""

from django.db import transaction
from django.http import HttpRequest

from games.demo import session_state
from players.login.adapter import AccountAdapter
from players.login.current_user import player_of
from players.models import User
from wallet.ledger import purse
from wallet.models import Mode


class HouseAdapter(AccountAdapter):
    """The players' adapter, which also ends a guest's game, and gives back what lies in games: all of it happens,
    log-out too, or nothing.
    """

    def login(self, request: HttpRequest, user: User) -> None:
        """Begin a session that knows of no guest."""
        session_state.forget(request.session)
        super().login(request, user)

    def logout(self, request: HttpRequest) -> None:
        """Give back, then end the session."""
        player = player_of(request.user)
        with transaction.atomic():
            if player:
                for mode in Mode:
                    purse.give_back(player=player, mode=mode, why=purse.Leaving.SESSION, by=str(player))
            super().logout(request)
