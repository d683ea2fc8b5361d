"""The participants of an incident's round: what they staked, were paid, and got back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.functional import cached_property

from games.chemin.floor import Parts
from games.models import LiveSeat, Participation, VoidPart
from players.models import Player
from wallet.money import format_money


@dataclass(frozen=True)
class Line:
    """A player's part in a finished round, and the effect of a void (None: the round is not void)."""

    part: Participation
    back: VoidPart | None

    @cached_property
    def words(self) -> str:
        """The effect of the void as text; "" where there was none."""
        return refund_text(self.back) if self.back else ""


def lines(parts: Iterable[Participation]) -> list[Line]:
    """Return parts, read with their rounds' voids, each with the effect of the void.

    One query for all of them, and none where no round is void.
    """
    parts = list(parts)
    void = [part for part in parts if hasattr(part.round, "void")]
    if not void:
        return [Line(part, None) for part in parts]
    found = VoidPart.objects.filter(
        void_id__in={part.round_id for part in void}, player_id__in={part.player_id for part in void}
    )
    back = {(each.void_id, each.player_id): each for each in found}
    return [Line(part, back.get((part.round_id, part.player_id))) for part in parts]


def refund_text(back: VoidPart) -> str:
    """Return the effect of a void on one player, and what of it the house bears.

    Examples: "SEK 50.00 returned", "SEK 20.00 taken back", "no refund".
    """

    def money(minor: int) -> str:
        return format_money(minor, back.currency, "en")

    said = "no refund"
    if back.returned:
        said = f"{money(abs(back.returned))} {'returned' if back.returned > 0 else 'taken back'}"
    return f"{said}, {money(back.shortfall)} covered by the house" if back.shortfall else said


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
