"""Views of the lobby and of the public help pages.

The lobby shows all tables for one kind of money, with card updates and favourites.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import push_url

from audit import replica
from games.help import game_lines, rules_page
from games.lobby import selectors
from games.lobby.selectors import LobbyTable, favourite_tables, keep_table, playable_table, still
from games.rounds import unseen
from games.shared.pages import stream_tokens
from games.shared.pages.lobby_card import render_card
from games.shared.pages.scoreboard import pictured_good_roads
from games.tables.fragments import render_fragment
from games.variants import GAMES, VARIANTS
from players.access import HouseRequest, PlayerRequest, made_by_the_page, player_required
from players.login.current_user import player_of, session_id
from players.models import Player
from players.protection import eligibility, limits
from players.rates import at_a_human_pace
from wallet.models import Mode

FREE: Final = Mode.FREE.name.lower()
DEMO: Final = "demo"  # of a visitor's game
OTHERS, ALONE = "others", "alone"
CHECKED = "1"
BY_ROAD, BY_LIMIT = "road", "lowest"  # orders of tables; the usual one is the player's own


@dataclass(frozen=True)
class Wish:
    """The filters of the lobby. An empty value does not filter."""

    money: str = ""  # "free": free money
    game: str = ""
    company: str = ""
    lowest: str = ""  # minor units: the table's minimum is at most this
    chat: str = ""
    open: str = ""
    favourites: str = ""
    roads: str = ""  # only shoes with a good road
    sort: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> "Wish":
        """Read the filters from a URL query."""
        lowest = asked.get("lowest", "")
        return cls(
            money=_among(asked.get("money", ""), [FREE]),
            game=_among(asked.get("game", ""), GAMES),
            company=_among(asked.get("company", ""), (OTHERS, ALONE)),
            lowest=lowest if lowest.isascii() and lowest.isdecimal() and len(lowest) < 16 else "",
            chat=asked.get("chat", "")[:2],
            open=_among(asked.get("open", ""), [CHECKED]),
            favourites=_among(asked.get("favourites", ""), [CHECKED]),
            roads=_among(asked.get("roads", ""), [CHECKED]),
            sort=_among(asked.get("sort", ""), (BY_ROAD, BY_LIMIT)),
        )

    @property
    def mode(self) -> Mode:
        """The kind of money."""
        return Mode.FREE if self.money else Mode.REAL

    @property
    def is_choosy(self) -> bool:
        """True if any filter except the kind of money is set. An order filters nothing."""
        return replace(self, sort="") != Wish(money=self.money)

    @property
    def query(self) -> str:
        """The filters as a URL query string; empty without filters."""
        query = urlencode({name: word for name, word in asdict(self).items() if word})
        return f"?{query}" if query else ""

    @property
    def for_real(self) -> "Wish":
        """The same filters for real-money tables."""
        return replace(self, money="")

    @property
    def for_free(self) -> "Wish":
        """The same filters for free-money tables."""
        return replace(self, money=FREE)

    @property
    def without_choice(self) -> "Wish":
        """Only the kind of money, without other filters."""
        return Wish(money=self.money)

    def fits(self, table: LobbyTable) -> bool:
        """Return True if the table matches the filters."""
        return (
            self.game in ("", table.variant)
            and self.company in ("", ALONE if table.is_solo else OTHERS)
            and (not self.lowest or table.lowest <= int(self.lowest))
            and self.chat in ("", table.chat_language)
            and (not self.open or (table.is_open and not table.is_stopped))
            and (not self.favourites or table.is_favourite)
            and (not self.roads or bool(table.good_road))
        )

    def ordered(self, tables: Iterable[LobbyTable]) -> list[LobbyTable]:
        """Return the tables in the order that is asked for; the usual order decides between equal ones."""
        if self.sort == BY_ROAD:
            return sorted(tables, key=lambda table: not table.good_road)
        if self.sort == BY_LIMIT:
            return sorted(tables, key=lambda table: (table.lowest, table.highest))
        return list(tables)


@dataclass(frozen=True)
class Choices:
    """The values of each filter among some tables; empty if all tables have the same value."""

    games: tuple[tuple[str, str], ...]  # slug and name
    companies: bool
    roads: bool  # some are live tables with roads
    lowest: tuple[int, ...]  # minor units, ascending
    currency: str
    chats: tuple[str, ...]

    @classmethod
    def among(cls, tables: Iterable[LobbyTable]) -> "Choices":
        """Return the values by which these tables differ."""
        tables = tuple(tables)
        games = {table.variant: table.game for table in tables}
        lowest = sorted({table.lowest for table in tables})
        return cls(
            games=tuple(games.items()) if len(games) > 1 else (),
            companies=len({table.is_solo for table in tables}) > 1,
            roads=any(table.live and not table.chemin_limits for table in tables),
            lowest=tuple(lowest) if len(lowest) > 1 else (),
            currency=tables[0].currency if tables else "",
            chats=tuple(sorted({table.chat_language for table in tables} - {""})),
        )


def _among(word: str, known: Iterable[str]) -> str:
    return word if word in known else ""


KEEP = "keep"  # form field of the favourite button
YES, NO = "yes", "no"


@dataclass(frozen=True)
class TableList:
    """The tables that a reader sees."""

    tables: list[LobbyTable]
    to_try: list[LobbyTable]  # at which a visitor can play a demo game
    again: LobbyTable | None  # where the player played last, if they can play there now
    wish: Wish
    reader: Player | None
    is_logged_in: bool
    csrf_token: str  # of the players' forms


@require_safe
def lobby(request: HouseRequest) -> HttpResponse:
    """Show the lobby to anyone. An htmx request gets only the tables that match the filters."""
    wish = Wish.of(request.GET)
    if request.htmx and not request.htmx.history_restore_request:
        response = push_url(render(request, "games/lobby.html#found", _tables(request, wish)), _address(wish))
    else:
        response = _page(request, wish)
    patch_vary_headers(response, ["HX-Request"])
    return response


@made_by_the_page
@require_safe
@never_cache
def lobby_now(request: HttpRequest) -> HttpResponse:
    """Return the current cards and a stream ticket to a page that reconnects by itself."""
    wish, language = Wish.of(request.GET), _language()
    shown_to = _currency(request), _jurisdiction(request)
    cards = replica.read(replica.LOBBY, lambda: tuple(selectors.lobby_cards(wish.mode, *shown_to)))
    context = {
        "stream": _stream(request, wish),
        "cards": [render_card(card, language) for card in cards],
        "now": cards[0].now if cards else None,
    }
    return render(request, "games/lobby.html#now", context)


class Star(NamedTuple):
    """Star on the card of a table."""

    slug: str
    name: str
    is_favourite: bool


@player_required
@require_POST
@at_a_human_pace
def favourite_table(request: PlayerRequest, slug: str) -> HttpResponse:
    """Add or remove a favourite. An htmx request gets the star, others a redirect to the lobby."""
    table = get_object_or_404(selectors.playable(request.player), slug=slug)
    wish = Wish.of(request.GET)
    if request.POST.get(KEEP) in (YES, NO):
        keep_table(player=request.player, table_id=table.pk, is_kept=request.POST[KEEP] == YES)
    if not request.htmx:
        return redirect(f"{_address(wish)}#table-{table.slug}")
    star = Star(table.slug, table.title, is_favourite=table.pk in favourite_tables(request.player))
    return HttpResponse(render_fragment("lobby.html#star", table=star, wish=wish, csrf_token=get_token(request)))


def _page(request: HouseRequest, wish: Wish) -> HttpResponse:
    """Return the whole page, including results that the player has not seen yet."""
    player, language = player_of(request.user), _language()
    result_notices = unseen.result_notices(unseen.unseen_by(player), request, language) if player else {}
    context = {
        **_tables(request, wish),
        "result_notices": result_notices.values(),
        "ineligibility": eligibility.check_play(player, real=wish.mode is Mode.REAL) if player else None,
        "limits_to_review": player is not None and limits.should_review(player),
        "games": game_lines(language),
        "still": None if request.user.is_authenticated else still(next(iter(VARIANTS.values())), 0, language),
        "stream": _stream(request, wish),
    }
    response = render(request, "games/lobby.html", context)
    unseen.remember(response, request, result_notices)
    return response


def _tables(request: HouseRequest, wish: Wish) -> dict[str, Any]:
    """Return the tables that match and the values of the filters."""
    player, is_logged_in = player_of(request.user), request.user.is_authenticated
    tables = selectors.lobby(player, wish.mode, _language())
    found = TableList(
        tables=wish.ordered(table for table in tables if wish.fits(table)),
        to_try=[each for each in tables if settings.DEMO_PLAY and not is_logged_in and each.may_be_tried],
        again=_last_played(tables),
        wish=wish,
        reader=player,
        is_logged_in=is_logged_in,
        csrf_token=get_token(request) if player else "",
    )
    choices = Choices.among(tables)
    return {
        "lobby": found,
        "wish": wish,
        "choices": choices,
        "all_tables": tables,
        "tables": found.tables,
        "to_try": found.to_try,
    }


def _last_played(tables: Iterable[LobbyTable]) -> LobbyTable | None:
    played = [(table.played_at, table) for table in tables if table.played_at and table.may_enter]
    return max(played, key=lambda each: each[0])[1] if played else None


def _stream(request: HttpRequest, wish: Wish) -> str:
    """Return the URL of the page's stream; "" for visitors."""
    player, session = player_of(request.user), session_id(request)
    if player is None or session is None:
        return ""
    where = {"currency": player.currency, "jurisdiction": player.jurisdiction_id}
    ticket = stream_tokens.lobby_ticket(player.pk, wish.mode, session, _language(), **where)
    return stream_tokens.issue(ticket, request.session.session_key)


def _currency(request: HttpRequest) -> str | None:
    return selectors.lobby_currency(player_of(request.user), _language())


def _jurisdiction(request: HttpRequest) -> str | None:
    player = player_of(request.user)
    return player.jurisdiction_id if player else None


def _address(wish: Wish) -> str:
    return reverse("lobby") + wish.query


def _language() -> str:
    return get_language() or "en"


@require_safe
def help_index(request: HttpRequest) -> HttpResponse:
    """List all games with a one-line description and a link to the rules."""
    language = _language()
    context = {"games": game_lines(language), "good_roads": pictured_good_roads(language)}
    return render(request, "games/help/index.html", context)


@require_safe
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the rules of a game; all figures come from the engine.

    *money* says which kind of game the reader came from, and the page leads back to that kind.
    """
    if slug not in GAMES:
        raise Http404
    context = {
        "page": rules_page(GAMES[slug], get_language()),
        "table": playable_table(slug, player_of(request.user)),
        "money": _among(request.GET.get("money", ""), (FREE, DEMO)),
    }
    return render(request, "games/rules.html", context)
