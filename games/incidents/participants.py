"""The participants of an incident's round: what they staked, were paid, and got back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from games.chemin.floor import Parts
from games.incidents.refund_summary import refund_text
from games.models import LiveSeat, Participation, VoidPart
from players.models import Player


@dataclass(frozen=True)
class Concerned:
    """A player in a round. Amounts in minor units of *currency*; None where not known yet."""

    player: Player
    currency: str
    staked: int
    paid: int | None  # None: the round is not over
    returned: int | None = None  # by the void: stakes less payouts taken back
    shortfall: int = 0  # part of it that the house bore
    void_effect: str = ""  # effect of the void, as text for staff

    @property
    def language(self) -> str:
        """The player's language."""
        return self.player.user.language

    @property
    def is_erased(self) -> bool:
        """Whether the account was erased, so that the player cannot be reached."""
        return self.player.user.email.endswith("@erased.invalid")


def concerned(round_id: UUID, parts: Parts | None = None) -> tuple[Concerned, ...]:
    """Return all players of a round, by id.

    *parts* are the bank and stakes of a coup in progress, which no other row contains.
    """
    back = {part.player_id: part for part in VoidPart.objects.filter(void_id=round_id)}
    played = Participation.objects.filter(round_id=round_id).select_related("player__user", "player__jurisdiction")
    found = [
        Concerned(
            part.player,
            part.currency,
            part.staked,
            part.paid,
            back[part.player_id].returned if part.player_id in back else None,
            back[part.player_id].shortfall if part.player_id in back else 0,
            refund_text(back[part.player_id]) if part.player_id in back else "",
        )
        for part in played.order_by("player_id")
    ]
    if found:
        return tuple(found)
    laid = dict(_on_seats(round_id)) or dict(_of_chemin(parts))
    players = Player.objects.filter(pk__in=laid).select_related("user", "jurisdiction").order_by("pk")
    return tuple(Concerned(player, laid[player.pk][0], laid[player.pk][1], None) for player in players)


def _on_seats(round_id: UUID) -> Iterator[tuple[int, tuple[str, int]]]:
    for seat in LiveSeat.objects.filter(round_id=round_id).exclude(stakes={}):
        yield seat.player_id, (seat.currency, sum(seat.stakes.values()))


def _of_chemin(parts: Parts | None) -> Iterator[tuple[int, tuple[str, int]]]:
    if parts is None:
        return
    for laid in (*([parts.bank] if parts.bank else []), *parts.stakes):
        if laid.seated.player:
            yield laid.seated.player, (parts.currency, laid.amount)


def without_erased(people: Sequence[Concerned]) -> tuple[Concerned, ...]:
    """Return the players who can be reached."""
    return tuple(each for each in people if not each.is_erased)
