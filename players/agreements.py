"""Whether a player has agreed to the terms in force (GLI-19 v3.0, 2.8.5)."""

from players import terms
from players.models import Agreement, Player


def outstanding(player: Player) -> bool:
    """Say whether the terms in force are ones that the player has not agreed to."""
    return not Agreement.objects.filter(player=player, terms_version=terms.VERSION).exists()
