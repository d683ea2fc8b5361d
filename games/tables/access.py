"""Access to table pages: show players who cannot play at a table the reason, and create no seat."""

from collections.abc import Callable
from functools import lru_cache, wraps
from http import HTTPStatus
from typing import Concatenate, Final, NamedTuple, ParamSpec
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from audit.raw_rows import columns, fetch_one, instance
from games.betting.eligibility import demand_eligible_here, demand_possible, is_in_current_round
from games.betting.error_messages import Unplayable, unplayable
from games.betting.rules import plays_on
from games.errors import (
    DealerAway,
    NotEligible,
    NotEligibleHere,
    NotForOperatorPlayers,
    OtherMoney,
    TableClosed,
    UnknownCurrency,
)
from games.models import LiveTable, Shape, Table, TableVersion
from games.variants import VARIANTS
from players.access import PlayerRequest
from players.models import Player
from players.protection import eligibility, registers
from wallet.ledger import accounts, purse
from wallet.models import AccountKind, Mode

Code = eligibility.Code
STEPS: Final = frozenset({Code.TERMS, Code.IDENTITY, Code.LIMITS, Code.OFFER})
"""Steps that a new player still has to take. The page of each step leads back to the table."""
WITH_A_DEPOSIT: Final = frozenset({Code.LIMITS, Code.OFFER})
"""Steps that the form of the first deposit includes."""
More = ParamSpec("More")  # further arguments of the URL
TableView = Callable[Concatenate[PlayerRequest, Table, Mode, More], HttpResponse]
ClickView = Callable[[PlayerRequest, int, Mode], HttpResponse]
Click = Callable[[PlayerRequest, str, Mode], HttpResponse]
TABLE: Final = f"""
SELECT {columns(Table, "game_table")} FROM games_table AS game_table WHERE game_table.slug = %s
"""  # noqa: S608  (nothing but names of our own columns)
UNPLAYABLE: Final = (TableClosed, UnknownCurrency, NotEligibleHere, OtherMoney, NotForOperatorPlayers)
View = Callable[Concatenate[PlayerRequest, str, Mode, More], HttpResponse]


def at_a_playable_table(view: TableView[More]) -> View[More]:
    """Pass the view the table with this slug; 404 if there is none.

    If the player cannot play there, or nowhere (`NotEligible`), or the dealer is away, the answer is a page with the
    reason; a form redirects to it. A player in the current round of a table that no longer serves them is
    admitted until the round is over; the services take no stake.
    """

    @wraps(view)
    def entered(request: PlayerRequest, slug: str, mode: Mode, *args: More.args, **kwargs: More.kwargs) -> HttpResponse:
        table = table_at(slug)
        try:
            demand_playable(table, request.player, mode)
        except UNPLAYABLE as error:
            return _turned_away(request, table, mode, error)
        try:
            return view(request, table, mode, *args, **kwargs)
        except NotEligible as error:
            return _kept_away(request, table, mode, error)
        except DealerAway as error:
            return _turned_away(request, table, mode, error)

    return entered


def click_at_a(*shapes: Shape) -> Callable[[ClickView], Click]:
    """Pass the view of a click the id of the solo table with this slug, or of the live table for the mode; 404 if
    there is none of these shapes.

    Answers errors as `at_a_playable_table` does, but reads no table: the view's services check it.
    """

    def with_id(view: ClickView) -> Click:
        @wraps(view)
        def entered(request: PlayerRequest, slug: str, mode: Mode) -> HttpResponse:
            where = id_at(connection.settings_dict["NAME"], shapes, slug, mode)
            try:
                return view(request, where, mode)
            except (*UNPLAYABLE, DealerAway) as error:
                return _turned_away(request, table_at(slug), mode, error)
            except NotEligible as error:
                return _kept_away(request, table_at(slug), mode, error)

        return entered

    return with_id


@lru_cache(maxsize=1024)
def id_at(database: str, shapes: tuple[Shape, ...], slug: str, mode: Mode) -> int:
    """Return the id of a solo table, or of the live table of another one for a mode.

    From memory after the first time, because slug and shape of a table never change. Raises Http404.
    """
    if Shape.SOLO in shapes:
        found = Table.objects.filter(slug=slug, shape__in=shapes).values_list("pk", flat=True).first()
    else:
        found = (
            LiveTable.objects.filter(table__slug=slug, table__shape__in=shapes, mode=mode)
            .values_list("pk", flat=True)
            .first()
        )
    if found is None:
        raise Http404
    return found


class SoloTableId(NamedTuple):
    """Properties of a solo table that never change: its id and its game."""

    pk: int
    variant: str


def solo_table_id(slug: str) -> SoloTableId:
    """Return the id of a solo table, from memory after the first time. Raises Http404."""
    return solo_table_id_in(connection.settings_dict["NAME"], slug)


@lru_cache(maxsize=1024)
def solo_table_id_in(_database: str, slug: str) -> SoloTableId:
    """Return the id of a solo table of a database. Raises Http404."""
    found = Table.objects.filter(slug=slug, shape=Shape.SOLO).values_list("pk", "variant").first()
    if found is None:
        raise Http404
    return SoloTableId(*found)


def table_at(slug: str) -> Table:
    """Return a table with its version. Raises Http404."""
    row = fetch_one(TABLE, [slug])
    if row is None:
        raise Http404
    table = instance(Table, row)
    if table.version_id is not None:
        table.version = TableVersion.stored(table.version_id)
    return table


def at_a_shared_table(view: TableView[More]) -> View[More]:
    """Do what `at_a_playable_table` does, for shared tables only: 404 at any other table."""

    @wraps(view)
    def entered(
        request: PlayerRequest, table: Table, mode: Mode, *args: More.args, **kwargs: More.kwargs
    ) -> HttpResponse:
        if table.shape != Shape.SHARED:
            raise Http404
        return view(request, table, mode, *args, **kwargs)

    return at_a_playable_table(entered)


def demand_playable(table: Table, player: Player, mode: Mode) -> None:
    """Require a table that the player can play at.

    Raises TableClosed if the table never went live; NotEligibleHere, OtherMoney if it does not serve the
    player or the mode and they are not in the current round; UnknownCurrency if it does not take
    their currency; NotForOperatorPlayers if operators' players cannot use it.
    """
    if table.version is None:
        raise TableClosed
    try:
        demand_eligible_here(table.version, player, mode)
    except (NotEligibleHere, OtherMoney):
        if not is_in_current_round(player, table, mode):
            raise
    if player.currency not in table.version.limits:
        raise UnknownCurrency(player.currency)
    demand_possible(table, player, mode)


def demand_welcome(player: Player, mode: Mode, session: UUID | None) -> None:
    """Require that the player may play at all. Raises NotEligible.

    A due reality check is not refused: the player answers it at the table.
    """
    registers.ask_where_stale(player)
    demand_eligible(player, mode, session)


def demand_eligible(player: Player, mode: Mode, session: UUID | None) -> None:
    """Do what `demand_welcome` does, without asking the registers."""
    ineligibility = eligibility.check_play(player, real=mode is Mode.REAL, session=session)
    if ineligibility and ineligibility.code is not eligibility.Code.CHECK:
        raise NotEligible(ineligibility)


def _kept_away(request: PlayerRequest, table: Table, mode: Mode, error: NotEligible) -> HttpResponse:
    """Show why the player may not play and what they can still do. What the player can do about it at
    once has a page of its own, which leads back.
    """
    if request.method not in ("GET", "HEAD"):
        return _to_the_table(request, table, mode)
    ineligibility = error.ineligibility
    if ineligibility.code in STEPS:
        is_first_deposit = ineligibility.code in WITH_A_DEPOSIT and _has_nothing_to_play_with(request.player)
        page = "cashier" if is_first_deposit else ineligibility.page
        return redirect(f"{reverse(page)}?{urlencode({'next': request.path})}")
    return render(
        request, "games/not_eligible.html", {"table": table, "now_mode": mode, "ineligibility": ineligibility}
    )


def _turned_away(request: PlayerRequest, table: Table, mode: Mode, error: Unplayable) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return _to_the_table(request, table, mode)
    context = {
        "table": table,
        "now_mode": mode,
        "notice": unplayable(error),
        "leave_key": uuid4() if _has_money_in_purse(request.player, table, mode) else None,
    }
    status = HTTPStatus.SERVICE_UNAVAILABLE if isinstance(error, DealerAway) else HTTPStatus.NOT_FOUND
    return render(request, "games/refused.html", context, status=status)


def _has_nothing_to_play_with(player: Player) -> bool:
    """Return whether the player's next step is a deposit here: they have no real money."""
    return bool(settings.PAYMENT_VARIANTS) and not any(
        accounts.totals(player.pk).balances(kind).get(Mode.REAL) for kind in (AccountKind.CASH, AccountKind.PURSE)
    )


def _has_money_in_purse(player: Player, table: Table, mode: Mode) -> bool:
    """Return whether the player has money in the game's own balance, which they can take out at any time."""
    game = VARIANTS.get(table.variant)
    is_on_purse = game is not None and plays_on(game) is AccountKind.PURSE
    return is_on_purse and purse.balance(player, mode) > 0


def _to_the_table(request: PlayerRequest, table: Table, mode: Mode) -> HttpResponse:
    address = reverse("table", args=[table.slug, mode])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
