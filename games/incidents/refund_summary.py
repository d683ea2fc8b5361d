"""Summary of what the void of a round did to its players' money, as text for staff."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import cached_property

from games.models import Participation, VoidPart
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
