"""Logging out: the one act that ends a session and empties purses, so it stands on the floor above both."""

from django.db import transaction
from django.http import HttpRequest

from players.adapter import AccountAdapter
from players.identity import player_of
from wallet import purse
from wallet.models import Mode


class HouseAdapter(AccountAdapter):
    """The players' adapter, which also gives back what lies in games: all of it happens, log-out too, or nothing."""

    def logout(self, request: HttpRequest) -> None:
        """Give back, then end the session."""
        player = player_of(request.user)
        with transaction.atomic():
            if player:
                for mode in Mode:
                    purse.give_back(player=player, mode=mode, why=purse.Leaving.SESSION, by=str(player))
            super().logout(request)
