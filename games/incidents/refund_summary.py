"""What the annulment of a round did to the money of those who were in it, in words for staff."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import cached_property

from games.models import Participation, VoidPart
from wallet.money import format_money


@dataclass(frozen=True)
class Line:
    """A player's part in a finished round, and what its annulment did to it (None: it was not annulled)."""

    part: Participation
    back: VoidPart | None

    @cached_property
    def words(self) -> str:
        """What the annulment did; "" where there was none."""
        return in_words(self.back) if self.back else ""


def lines(parts: Iterable[Participation]) -> list[Line]:
    """Return parts in rounds, read with their voids, each with what an annulment did to it. One query for all of them,
    and none where no round was annulled.
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


def in_words(back: VoidPart) -> str:
    """Say what an annulment did to one player: "SEK 50.00 returned", "SEK 20.00 taken back", "nothing moved", and what
    of it the house bears.
    """

    def money(minor: int) -> str:
        return format_money(minor, back.currency, "en")

    said = "nothing moved"
    if back.returned:
        said = f"{money(abs(back.returned))} {'returned' if back.returned > 0 else 'taken back'}"
    return f"{said}, {money(back.shortfall)} borne by the house" if back.shortfall else said
