"""Who looks at whose data. Every page, fragment and file of the back office that shows something of a player is put on
record here before it leaves the house: what cannot be recorded is not shown.

A page about one player, or about two, is a look at each of them (`note`). A list of many is one look, which says what
was asked for and whom it showed: its view declares the players that it shows (`shown`), and `listed` records them.
Where the answer is a file, the view calls `note_list`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from audit import log
from players.login.current_user import actor_of
from players.models import Player

SEEN: Final = "data.seen"  # the kind of every event about a look
MOST_NAMED: Final = 50  # players of a list, above which only their number is kept
NAMED: Final = re.compile(r"\bplayer:([1-9][0-9]{0,18})\b")  # as events call a player
SHOWN: Final = "shown_players"  # attribute of a request: the numbers that its view has declared
# What may have been asked for and says nothing of anybody by itself: numbers, as they are or as events name them, and
# times. Any other text may be an address or a name, and would stay when the player it belongs to is erased.
ANYTHING: Final = {"who"}  # fields where a number may be that of a telephone or of a passport
PLAIN: Final = re.compile(r"(?:[a-z_]{1,20}:)?(?:[0-9][0-9T:.-]{0,30}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")

Request = TypeVar("Request", bound=HttpRequest)
Args = ParamSpec("Args")
View = Callable[Concatenate[Request, Args], HttpResponse]


def note(request: HttpRequest, *players: Player | int, what: str) -> None:
    """Record that the member of staff who makes the request is about to see *what* of each of *players*, given as they
    are or by their numbers.
    """
    data = _page(request) | {"what": what}
    for number in sorted({_number(player) for player in players}):
        log.record(SEEN, by=actor_of(request.user), on=f"player:{number}", data=data, personal=_circumstances(request))


def note_list(request: HttpRequest, players: Iterable[Player | int], *, what: str) -> None:
    """Record that the member of staff who makes the request is about to see *what* of many players at once. Of a list
    of nobody there is nothing to record.
    """
    shown = sorted({_number(player) for player in players})
    if not shown:
        return
    data = _page(request) | {"what": what, "count": len(shown)}
    if len(shown) <= MOST_NAMED:
        data["players"] = [f"player:{number}" for number in shown]
    log.record(SEEN, by=actor_of(request.user), on=f"page:{data['page']}", data=data, personal=_circumstances(request))


def shown(request: HttpRequest, *whom: object) -> None:
    """Declare players that the answer shows: see `players_in`."""
    vars(request).setdefault(SHOWN, set()).update(players_in(*whom))


def declared(request: HttpRequest) -> set[int]:
    """Return the numbers of the players that the answer to a request was declared to show."""
    found: set[int] = vars(request).get(SHOWN, set())
    return found


def players_in(*whom: object) -> set[int]:
    """Return the numbers of players that are given as they are, by their numbers, by texts of the log that name them,
    by rows that refer to them, or by dataclasses, mappings and sequences of such texts and rows.
    """
    numbers = {each for each in whom if type(each) is int}
    for each in whom:
        numbers.update(_named_by(each))
    return numbers


def _named_by(given: object) -> Iterator[int]:
    match given:
        case str():
            yield from map(int, NAMED.findall(given))
        case Player():
            yield given.pk
        case Model():
            values = ((field, getattr(given, field.attname)) for field in given._meta.concrete_fields)
            for field, value in values:
                yield from [value] if field.related_model is Player and value else _named_by(value)
        case Mapping():
            yield from _named_by(list(given.values()))
        case bytes() | memoryview() | type():
            return
        case Iterable():
            for each in given:
                yield from _named_by(each)
        case _ if is_dataclass(given):
            yield from _named_by(list(vars(given).values()))


def listed(what: str) -> Callable[[View[Request, Args]], View[Request, Args]]:
    """Have a view of the back office record as a list the players that it declares (`shown`) before it answers."""

    def watched(view: View[Request, Args]) -> View[Request, Args]:
        @wraps(view)
        def recorded(request: Request, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponse:
            answer = view(request, *args, **kwargs)
            note_list(request, declared(request), what=what)
            return answer

        return recorded

    return watched


def _page(request: HttpRequest) -> dict[str, log.Json]:
    """Return which page it is: the name of its address, and what stands in it."""
    match = request.resolver_match
    assert match  # noqa: S101  (whoever makes it has been let in to a page)
    page: dict[str, log.Json] = {"page": match.view_name}
    return page | ({"of": {name: str(value) for name, value in match.kwargs.items()}} if match.kwargs else {})


def _number(player: Player | int) -> int:
    return player if isinstance(player, int) else player.pk


def _circumstances(request: HttpRequest) -> dict[str, str]:
    """Return from where the page was asked for, and what was asked for; of text that may name somebody, that it was
    asked for. Whom it found, the look itself says.
    """
    values = (
        (name, value if PLAIN.fullmatch(str(value)) and name not in ANYTHING else "…")
        for name, value in request.GET.dict().items()
    )
    asked = urlencode({name: value for name, value in values if name.isidentifier()}, safe=":…")
    return {"from": str(get_adapter().get_client_ip(request))} | ({"asked": asked} if asked else {})
