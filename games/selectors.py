"""Questions about tables."""

from dataclasses import dataclass

from django.db.models.query import QuerySet

from games.labels import variant_label
from games.limits import Limits
from games.models import Shape, Table
from games.still import Still, still
from games.variants import VARIANTS
from players.models import Player
from players.services import currency_of


@dataclass(frozen=True)
class LobbyTable:
    """A table as the lobby shows it. ``lowest`` and ``highest`` are those of Player and Banker, in minor units."""

    slug: str
    variant: str
    name: str
    tagline: str
    is_open: bool
    is_solo: bool
    decks: int
    currency: str
    lowest: int
    highest: int
    still: Still


def lobby(player: Player | None, language: str) -> tuple[LobbyTable, ...]:
    """Return every table that a player can play, with the range that may be staked there; to a visitor all that were
    put live, in the currency of their language.
    """
    currency = player.currency if player else currency_of(language)
    return tuple(
        _lobby_table(table, currency, number, language) for number, table in enumerate(_playable(player), start=1)
    )


def playable_table(variant: str, player: Player | None) -> Table | None:
    """Return the first table of a game that a player can play, None where there is none."""
    return _playable(player).filter(variant=variant).first()


def _playable(player: Player | None) -> QuerySet[Table]:
    """Return the tables that were put live and take the player's currency, open or not."""
    found = Table.objects.filter(version__isnull=False).select_related("version").order_by("id")
    return found.filter(version__limits__has_key=player.currency) if player else found


def _lobby_table(table: Table, wanted: str | None, number: int, language: str) -> LobbyTable:
    """Return the table with its limits in the *wanted* currency, or else in the first it takes."""
    assert table.version is not None  # noqa: S101  (the query asked for it)
    variant, stored = VARIANTS[table.variant], table.version.limits
    limits = Limits.of(stored, wanted if wanted and wanted in stored else next(iter(stored)))
    return LobbyTable(
        slug=table.slug,
        variant=table.variant,
        name=table.name,
        tagline=variant_label(variant, "tagline", language),
        is_open=table.is_open,
        is_solo=table.shape == Shape.SOLO,
        decks=variant.decks,
        currency=limits.currency,
        lowest=limits.main.minimum,
        highest=limits.main.maximum,
        still=still(variant, number, language),
    )
