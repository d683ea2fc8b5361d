"""Messages to operators as staff list them: those in doubt, and those that wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from wallet.models import MessageState, RemoteMessage

PAGE: Final = 20
MOST_COUNTED: Final = 1000
NAMES: Final[Mapping[MessageState, str]] = {
    MessageState.DOUBT: "In doubt",
    MessageState.WAITING: "Waiting",
    MessageState.SETTLED: "Settled by hand",
    MessageState.TAKEN: "Taken",
}


@dataclass(frozen=True)
class Page:
    """Some messages, newest first, and the mark to ask for older ones with (None: there are none)."""

    messages: tuple[RemoteMessage, ...]
    further: int | None


def find(state: MessageState, *, before: int | None = None) -> Page:
    """Return a page of messages in *state* that are older than the mark."""
    found = RemoteMessage.objects.filter(state=state)
    if before is not None:
        found = found.filter(pk__lt=before)
    ordered = found.select_related("bet__launch__remote__partner", "settled_by").order_by("-pk")
    rows = tuple(ordered[: PAGE + 1])
    return Page(rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None)


def counted() -> list[tuple[MessageState, str, int, bool]]:
    """Return how many messages are in each state that is not the end, and whether there are more than were counted."""
    counts = []
    for state in (MessageState.DOUBT, MessageState.WAITING):
        count = RemoteMessage.objects.filter(state=state)[: MOST_COUNTED + 1].count()
        counts.append((state, NAMES[state], min(count, MOST_COUNTED), count > MOST_COUNTED))
    return counts
