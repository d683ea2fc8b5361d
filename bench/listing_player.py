"""Somebody who reads the long lists of the back office: `python -m bench.listing_player HOUSE`. At the end they say how
long each question took, in the median.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from statistics import median
from typing import Any

import django

django.setup()

from django.contrib.auth.models import AnonymousUser  # noqa: E402  (models need the set-up)
from django.test import RequestFactory  # noqa: E402

from audit.models import Event  # noqa: E402
from backoffice.lists.framework.listing import PAGE, Listing  # noqa: E402
from backoffice.lists.framework.search import Find  # noqa: E402
from backoffice.lists.navigation import SITE  # noqa: E402
from bench.contest import say  # noqa: E402
from bench.playing import play_when_told  # noqa: E402
from games.models import Participation  # noqa: E402
from players.models import Session  # noqa: E402
from wallet.models import Journal, Payment  # noqa: E402

LONG = (Participation, Journal, Event, Session, Payment)
DAY = timedelta(days=1)
NO_CODE = "7Q4M-0ZKD-88AB"
Question = Callable[[], object]


def questions(listing: Listing) -> Iterator[tuple[str, Question]]:
    """Yield what staff ask of a list, with values that stand in its middle."""
    rows = listing.model._default_manager.order_by(*listing.key)
    page = listing.get_changelist_instance(_request({}))
    oldest, newest = rows[PAGE], rows.reverse()[0]
    row = _in_the_middle(listing, oldest, newest)
    yield "first page", _page(listing, {})
    yield "page in the middle", _page(listing, {"before": page.key_of(row)})
    yield "last page", _page(listing, {"before": page.key_of(oldest)})
    yield "back from the last page", _page(listing, {"after": page.key_of(oldest)})
    for find in listing.finds:
        yield f"find {find.name}", _page(listing, {"q": _typed(find, rows.filter(pk=row.pk))})
    for each in listing.filters:
        for value, label in list(each.options())[:4]:
            yield f"{each.label.lower()}: {label}", _page(listing, {each.name: value})
    at = getattr(row, listing.period)
    since, until = (f"{moment:%Y-%m-%dT%H:%M}" for moment in (at - DAY, at))
    yield "a day", _page(listing, {"since": since, "until": until})
    yield "one row", lambda: (listing.row(row), listing.parts(row))


def _in_the_middle(listing: Listing, oldest: Any, newest: Any) -> Any:
    first = listing.key[0]
    begin, end = getattr(oldest, first), getattr(newest, first)
    middle = begin + (end - begin) // 2 if isinstance(begin, int) else begin + (end - begin) / 2
    return listing.model._default_manager.filter(**{f"{first}__gte": middle}).order_by(*listing.key)[0]


def _typed(find: Find, rows: Any) -> str:
    """Return what finds this row in this way, as staff type it; rounds that were never played have no code to type."""
    (value,) = rows.values_list(find.field, flat=True)
    return next(text for text in (str(value), f"player:{value}", NO_CODE) if find.read(text) is not None)


def _page(listing: Listing, query: dict[str, str]) -> Question:
    def read() -> None:
        page = listing.get_changelist_instance(_request(query))
        if page.sieve.errors:
            raise AssertionError(f"{listing.name}: {query} is refused: {page.sieve.errors}")
        for row in page.result_list:
            listing.row(row)

    return read


def _request(query: dict[str, str]) -> Any:
    request = RequestFactory().get("/", query)
    request.user = AnonymousUser()  # what a list shows does not depend on who reads it, but whether it is shown
    return request


def ask() -> None:
    """Ask every question once."""
    for name, question in asked:
        begun = time.perf_counter()
        question()
        took[name].append(time.perf_counter() - begun)


took: dict[str, list[float]] = defaultdict(list)
asked: list[tuple[str, Question]] = []

if __name__ == "__main__":
    for listing in SITE.listings():
        if listing.model in LONG:
            asked += [(f"{listing.name}, {name}", question) for name, question in questions(listing)]
    play_when_told(ask, units=len(asked))
    rows = Event.objects.latest("pk").pk
    say("\n".join(f"  of {rows:,}: {name}: {1000 * median(times):.1f} ms" for name, times in took.items()))
