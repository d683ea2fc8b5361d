"""Questions about tables."""

from dataclasses import dataclass

from games.labels import variant_label
from games.limits import Limits
from games.models import Table
from games.variants import VARIANTS
from players.models import Player


@dataclass(frozen=True)
class LobbyTable:
    """A table as the lobby shows it. ``lowest`` and ``highest`` are minor units of ``currency``; both are 0 for a
    visitor.
    """

    slug: str
    variant: str
    name: str
    tagline: str
    is_open: bool
    decks: int
    currency: str
    lowest: int
    highest: int


def lobby(player: Player | None, language: str) -> tuple[LobbyTable, ...]:
    """Return every table that was put live, with the range a player may stake there."""
    found = Table.objects.filter(version__isnull=False).select_related("version").order_by("id")
    return tuple(_lobby_table(table, player, language) for table in found)


def _lobby_table(table: Table, player: Player | None, language: str) -> LobbyTable:
    assert table.version is not None  # noqa: S101  (the query asked for it)
    variant = VARIANTS[table.variant]
    limits = Limits.of(table.version.limits, player.currency) if player else None
    return LobbyTable(
        slug=table.slug,
        variant=table.variant,
        name=table.name,
        tagline=variant_label(variant, "tagline", language),
        is_open=table.is_open,
        decks=variant.decks,
        currency=player.currency if player else "",
        lowest=limits.lowest if limits else 0,
        highest=limits.highest if limits else 0,
    )
