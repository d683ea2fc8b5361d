"""Queries for the lobby: tables, their cards with sample hands, favourites, and rounds by code."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models.query import QuerySet
from django.utils.safestring import SafeString, mark_safe

from audit import replica
from audit.raw_rows import columns, fetch_all, instance, named
from games.betting.eligibility import is_played_for, is_possible, uses_operator_wallet
from games.betting.limits import Limits
from games.chemin.pages.lobby_card import CheminCardState
from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.coup import Outcome, Side, deal
from games.labels import bet_name, variant_label
from games.models import FavouriteTable, Round, Shape, Table, TableVersion
from games.models.rounds import Result, read_code
from games.shared.pages.lobby_card import (
    READ_CARDS,
    READ_LOBBY,
    LobbyCard,
    card_state,
    good_road_of,
    is_for,
    render_card,
)
from games.solo.seats import as_shown
from games.tables.board import hand_view
from games.tables.chemin_rules import CheminRules
from games.tables.presentation import HandView
from games.variants import GAMES, VARIANTS
from players.account.registration import currency_of
from players.models import Player
from wallet import house_stop
from wallet.models import Mode

PUBLISHED: Final = f"""
SELECT {columns(Table, "game_table")} FROM games_table AS game_table WHERE version_id IS NOT NULL ORDER BY id
"""  # noqa: S608  (nothing but names of our own columns)
FAVOURITES: Final = "SELECT table_id FROM games_favouritetable WHERE player_id = %s"

# Parameters: player, player, mode. When the player last played at each table: three short looks into an
# index for each table, one for each result, however many rounds the player has.
HABITS: Final = f"""
SELECT game_table.id, EXISTS (
        SELECT FROM games_favouritetable AS kept WHERE kept.table_id = game_table.id AND kept.player_id = %s
    ), (SELECT max(latest.at) FROM unnest('{{{",".join(str(each.value) for each in Result)}}}'::smallint[])
        AS known(result) CROSS JOIN LATERAL (
            SELECT part.at FROM games_participation AS part WHERE part.player_id = %s AND part.mode = %s
            AND part.table_id = game_table.id AND part.result = known.result ORDER BY part.at DESC LIMIT 1
        ) AS latest)
FROM games_table AS game_table WHERE version_id IS NOT NULL
"""  # noqa: S608  (nothing but names and numbers of our own)


@transaction.atomic
def keep_table(*, player: Player, table_id: int, is_kept: bool) -> None:
    """Add a table to the player's favourites or remove it. Repeating a call changes nothing."""
    if is_kept:
        favourite = FavouriteTable(player=player, table_id=table_id)
        FavouriteTable.objects.bulk_create([favourite], ignore_conflicts=True)
    else:
        FavouriteTable.objects.filter(player=player, table=table_id).delete()


def favourite_tables(player: Player | None) -> frozenset[int]:
    """Return the ids of the player's favourite tables; a visitor has none."""
    if player is None:
        return frozenset()
    return frozenset(number for (number,) in fetch_all(FAVOURITES, [player.pk]))


NEVER: Final = datetime.min.replace(tzinfo=UTC)

COUPS = ("QH 4D 6S AC 3H", "9H KS QC 7D", "2C JD 3S 3H TH 4C", "KD 8S 6H JC", "4S TD AH 2S 2D 9C")
"""Cards in dealing order, as many as the rules take."""


@dataclass(frozen=True)
class Printed:
    """A bet area of the felt and its payout."""

    code: str
    name: str
    pays: str


@dataclass(frozen=True)
class Still:
    """The hands and bet areas of a picture, left to right."""

    player: HandView
    banker: HandView
    bets: tuple[Printed, ...]
    outcome: str


def still(variant: Variant, number: int, language: str) -> Still:
    """Return the picture for this *number*; the sample hands repeat."""
    coup = deal([Card.parse(code) for code in COUPS[number % len(COUPS)].split()])
    pays = {bet.code: bet.pays_text for bet in variant.bets}
    across = (Outcome.PLAYER, Outcome.TIE, Outcome.BANKER)
    return Still(
        player=hand_view(coup, Side.PLAYER, variant, language),
        banker=hand_view(coup, Side.BANKER, variant, language),
        bets=tuple(Printed(bet, bet_name(variant, bet, language), pays[bet]) for bet in across),
        outcome=coup.outcome.value,
    )


@dataclass(frozen=True)
class LobbyTable:
    """A table as shown in the lobby.

    ``lowest`` and ``highest`` are the limits of Player and Banker, or of a bank at Chemin de Fer,
    in minor units.
    """

    slug: str
    variant: str
    name: str
    game: str
    tagline: str
    is_open: bool
    is_paused: bool
    is_stopped: bool
    is_halted: bool  # by the house stop
    may_enter: bool
    is_solo: bool
    is_favourite: bool
    played_at: datetime | None  # when the player last played here for this kind of money
    good_road: str  # code of a `GoodRoad`; "" for none
    may_be_tried: bool  # visitors can play a demo game
    decks: int
    chat_language: str  # "": any
    currency: str
    lowest: int
    highest: int
    still: Still | None  # solo tables only
    live: SafeString | None  # live tables only: the part of the card that is updated
    chemin_limits: CheminRules | None  # Chemin de Fer only


def lobby(player: Player | None, mode: Mode, language: str) -> tuple[LobbyTable, ...]:
    """Return every table that a player can play for this kind of money, with its limits.

    A visitor gets all published tables, in the currency of their language. Favourites come first,
    then open tables, each in the order in which the player last played there. A read replica may
    answer, but favourites come from the primary, so that the player sees a choice just made.
    """
    habits = {number: Habit(*habit) for number, *habit in _habits(player, mode)}
    return replica.read(replica.LOBBY, lambda: _lobby(player, mode, language, habits))


class Habit(NamedTuple):
    """A player's habit at one table."""

    is_favourite: bool = False
    played_at: datetime | None = None


def _habits(player: Player | None, mode: Mode) -> Iterable[Iterable[Any]]:
    return fetch_all(HABITS, [player.pk, player.pk, mode.value]) if player else ()


def _lobby(player: Player | None, mode: Mode, language: str, habits: Mapping[int, Habit]) -> tuple[LobbyTable, ...]:
    currency, where = lobby_currency(player, language), player.jurisdiction_id if player else None
    cards = {card.slug: card for card in lobby_cards(mode, currency, where)}
    is_house_stopped = house_stop.current() is not None
    tables = [
        _lobby_table(
            table,
            currency,
            number,
            language,
            mode,
            cards.get(table.slug),
            habit=habits.get(table.pk, Habit()),
            is_house_stopped=is_house_stopped,
        )
        for number, table in enumerate(_served(player), start=1)
        if table.version and is_played_for(table.version, mode)
        if player is None or not uses_operator_wallet(player, mode) or is_possible(table)
        if table.shape != Shape.CHEMIN or table.slug in cards
    ]
    tables.sort(key=lambda table: table.played_at or NEVER, reverse=True)
    return tuple(sorted(tables, key=lambda table: (not table.is_favourite, not table.is_open, table.is_stopped)))


def lobby_currency(player: Player | None, language: str) -> str | None:
    """Return the currency for a player, or for a visitor who reads *language*."""
    return player.currency if player else currency_of(language)


def lobby_cards(mode: Mode, currency: str | None, jurisdiction: str | None) -> Iterable[LobbyCard]:
    """Return the cards of all live tables for one kind of money that serve a jurisdiction.

    *jurisdiction* is None for visitors. Chemin de Fer tables in another currency are left out.
    """
    with connection.cursor() as cursor:
        cursor.execute(READ_LOBBY, [mode.value])
        numbers = [number for (number,) in cursor.fetchall()]
    return [card for card in cards(numbers) if is_for(card, currency, jurisdiction)]


def cards(live_tables: list[int]) -> list[LobbyCard]:
    """Return the current cards of these live tables."""
    with connection.cursor() as cursor:
        cursor.execute(READ_CARDS, [live_tables])
        columns = [column.name for column in cursor.description]
        return [card_state(named(columns, row)) for row in cursor.fetchall()]


def _served(player: Player | None) -> Iterator[Table]:
    """Yield what `playable` finds, with versions from memory: reading their limits took a fifth of the lobby."""
    for table in (instance(Table, row) for row in fetch_all(PUBLISHED, [])):
        version = TableVersion.stored(table.version_id) if table.version_id else None
        Table._meta.get_field("version").set_cached_value(table, version)  # which may be of the primary
        if version and (
            player is None or (player.jurisdiction_id in version.jurisdictions and player.currency in version.limits)
        ):
            yield table


def playable_table(variant: str, player: Player | None) -> Table | None:
    """Return the first table of a game that a player can play; None if there is none."""
    return playable(player).filter(variant=variant).first()


def playable(player: Player | None) -> QuerySet[Table]:
    """Return the published tables that serve the player and their currency, open or not."""
    found = Table.objects.filter(version__isnull=False).select_related("version").order_by("id")
    if player is None:
        return found
    served = found.filter(version__jurisdictions__contains=[player.jurisdiction_id])
    return served.filter(version__limits__has_key=player.currency)


def _lobby_table(
    table: Table,
    wanted: str | None,
    number: int,
    language: str,
    mode: Mode,
    card: LobbyCard | None,
    *,
    habit: Habit,
    is_house_stopped: bool,
) -> LobbyTable:
    """Return the table with its limits in the *wanted* currency, or in its first one."""
    assert table.version is not None  # noqa: S101  (the query requires it)
    game, stored = GAMES[table.variant], table.version.limits
    chemin_limits = card.rules if isinstance(card, CheminCardState) else None
    limits = chemin_limits or Limits.of(stored, wanted if wanted and wanted in stored else next(iter(stored)))
    span = limits if isinstance(limits, CheminRules) else limits.main
    free, _ = as_shown(table, Mode.FREE, is_house_stopped=is_house_stopped)
    is_open, is_paused = as_shown(table, mode, is_house_stopped=is_house_stopped)
    if card:
        is_open, is_paused = card.is_open, card.is_paused
    return LobbyTable(
        slug=table.slug,
        variant=table.variant,
        name=table.title,
        game=variant_label(game, "name", language),
        tagline=variant_label(game, "tagline", language),
        is_open=is_open,
        is_paused=is_paused,
        is_stopped=card is not None and card.is_stopped,
        is_halted=is_paused and is_house_stopped,
        may_enter=card.may_enter if card else is_open or is_paused,
        is_solo=table.shape == Shape.SOLO,
        is_favourite=habit.is_favourite,
        played_at=habit.played_at,
        good_road=(card and good_road_of(card)) or "",
        may_be_tried=table.shape == Shape.SOLO and free,
        decks=game.decks,
        chat_language=table.chat_language,
        currency=limits.currency,
        lowest=span.minimum,
        highest=span.maximum,
        still=None if card else still(VARIANTS[table.variant], number, language),
        live=mark_safe(render_card(card, language)) if card else None,  # noqa: S308  (our own template)
        chemin_limits=chemin_limits,
    )


def find_round(text: str) -> UUID | None:
    """Return the id of the finished round with this code or id; None if there is none."""
    code = read_code(text)
    if code:
        return Round.objects.filter(code=code).values_list("pk", flat=True).first()
    typed = read_id(text)
    return Round.objects.filter(pk=typed).values_list("pk", flat=True).first() if typed else None


def read_id(text: str) -> UUID | None:
    """Return the id that the user typed; None if it is not a UUID."""
    try:
        return UUID(text.strip())
    except ValueError:
        return None
