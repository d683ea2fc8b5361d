"""Access log: which staff member viewed which player's data.

Every page, fragment and file of the back office that shows data of a player is recorded before it
is sent. If recording fails, nothing is shown.

A page about one or two players is one event for each (`note`). A list of many players is one event
with the search and the players shown: its view declares them (`shown`), and `listed` records them.
A view that returns a file calls `note_list`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from audit import id_ranges, log
from audit.models import Event
from players.login.current_user import actor_of
from players.models import Player

ACCESSED: Final = "data.accessed"  # kind of all access events
MOST_NAMED: Final = 50  # players of a list; for more, only the number is stored
NAMED: Final = re.compile(r"\bplayer:([1-9][0-9]{0,18})\b")  # a player's actor name in events
TYPING: Final = timedelta(minutes=1)  # in which a reader who types sees the same player once for the log
SHOWN: Final = "shown_players"  # attribute of a request: the player ids that its view declared
# Search values that identify nobody by themselves: ids, plain or as in events, and times. Other text may be an
# address or a name, and would survive the erasure of the player.
ANYTHING: Final = {"who", "q"}  # fields where a number may be a telephone or passport number
PLAIN: Final = re.compile(r"(?:[a-z_]{1,20}:)?(?:[0-9][0-9T:.-]{0,30}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")

Request = TypeVar("Request", bound=HttpRequest)
Args = ParamSpec("Args")
View = Callable[Concatenate[Request, Args], HttpResponse]


def note(request: HttpRequest, *players: Player | int, what: str) -> None:
    """Record that the requesting staff member is about to see *what* of each of *players*."""
    data = _page(request) | {"what": what}
    for number in sorted({_number(player) for player in players}):
        log.record(
            ACCESSED, by=actor_of(request.user), on=f"player:{number}", data=data, personal=_circumstances(request)
        )


def note_list(request: HttpRequest, players: Iterable[Player | int], *, what: str) -> None:
    """Record that the requesting staff member is about to see *what* of many players.

    An empty list is not recorded.
    """
    shown = sorted({_number(player) for player in players})
    if not shown:
        return
    data = _page(request) | {"what": what, "count": len(shown)}
    if len(shown) <= MOST_NAMED:
        data["players"] = [f"player:{number}" for number in shown]
    log.record(
        ACCESSED, by=actor_of(request.user), on=f"page:{data['page']}", data=data, personal=_circumstances(request)
    )


def shown(request: HttpRequest, *subjects: object) -> None:
    """Declare players that the answer shows: see `players_in`."""
    vars(request).setdefault(SHOWN, set()).update(players_in(*subjects))


def declared(request: HttpRequest) -> set[int]:
    """Return the ids of the players declared for a request."""
    found: set[int] = vars(request).get(SHOWN, set())
    return found


def players_in(*subjects: object) -> set[int]:
    """Return the ids of all players found in the arguments.

    Accepts players, ids, texts that contain actor names, rows that refer to players, and
    dataclasses, mappings and sequences of these.
    """
    numbers = {each for each in subjects if type(each) is int}
    for each in subjects:
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


def listed(what: str, *, is_typed: bool = False) -> Callable[[View[Request, Args]], View[Request, Args]]:
    """Return a decorator that records the players declared with `shown` as a list, before the answer is sent.

    *is_typed*: the page asks for fragments while a reader types. They record only players that the
    log does not already name for this reader and page, within `TYPING`.
    """

    def watched(view: View[Request, Args]) -> View[Request, Args]:
        @wraps(view)
        def recorded(request: Request, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponse:
            answer, players = view(request, *args, **kwargs), declared(request)
            if is_typed and players and "HX-Request" in request.headers:
                players = players - _seen_lately(request)
            note_list(request, players, what=what)
            return answer

        return recorded

    return watched


def _seen_lately(request: HttpRequest) -> set[int]:
    """Return the players of lists on this page that the log names for this reader within `TYPING`."""
    since = datetime.now(UTC) - TYPING
    same = Event.objects.filter(
        by=actor_of(request.user), on=f"page:{_page(request)['page']}", kind=ACCESSED, at__gt=since
    )
    bodies = same.filter(pk__gte=id_ranges.first_id("audit_event", since)).values_list("body", flat=True)
    return players_in([json.loads(bytes(body))["data"].get("players", []) for body in bodies])


def is_plain(name: str, value: str) -> bool:
    """Return whether the *value* of a search field identifies nobody by itself: an id, a name in events, or a time."""
    return name not in ANYTHING and bool(PLAIN.fullmatch(value))


def _page(request: HttpRequest) -> dict[str, log.Json]:
    """Return the URL name of the page and its arguments."""
    match = request.resolver_match
    assert match  # noqa: S101  (the request has reached a view)
    page: dict[str, log.Json] = {"page": match.view_name}
    return page | ({"of": {name: str(value) for name, value in match.kwargs.items()}} if match.kwargs else {})


def _number(player: Player | int) -> int:
    return player if isinstance(player, int) else player.pk


def _circumstances(request: HttpRequest) -> dict[str, str]:
    """Return the IP address and the query of the request.

    Values that may identify a person are replaced by "…".
    """
    values = ((name, value if is_plain(name, str(value)) else "…") for name, value in request.GET.dict().items())
    asked = urlencode({name: value for name, value in values if name.isidentifier()}, safe=":…")
    return {"from": str(get_adapter().get_client_ip(request))} | ({"asked": asked} if asked else {})
