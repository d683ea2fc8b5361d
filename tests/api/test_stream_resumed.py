"""An API client whose connection was lost sends the number of the last event that it has received.

It then gets every round that has ended since, in order and once, and then the current state of the
table.
"""

from collections.abc import Iterator
from functools import partial

import pytest
from pytest_django import DjangoDbBlocker

from games.models import LiveTable, Phase, Shape
from games.shared.pages.stream_tokens import ApiClientTicket, RoundCursor
from realtime import table
from realtime.listener import open_line
from realtime.stream import MISSED, Stream
from realtime.table import WIRES, Rounds
from tests.api.at_live import client_of
from tests.api.listening import listening, problem_of, rounds, states, values, wait_for_state
from tests.builders import a_player
from tests.harness import databases
from tests.harness.apart import run_apart
from tests.harness.databases import Database
from tests.harness.sweeps import sample
from tests.live.at_table import advance_to, bet, step
from tests.live.streaming import a_table_with_bets, a_web_server
from tests.live.watcher import Watcher
from tests.voiding import cancel

ROUNDS = 4


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests here, with real commits: each has its own table and players."""
    with django_db_blocker.unblock(), databases.clone("resumed") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The address of the house."""
    with a_web_server(database) as server:
        yield server.url


class Evening:
    """A table at which somebody bets in every round, and an API client that listens."""

    def __init__(self) -> None:
        self.table = LiveTable.objects.select_related("table").get(pk=a_table_with_bets().pk)
        self.player = a_player(real=10_000_00)
        self.api_client = client_of(self.player)
        self.over: list[str] = []

    def play(self, count: int = 1) -> None:
        """Play rounds to their end, up to the bets of the next one."""
        for _ in range(count):
            bet(self.player, self.table, banker=50_00)
            self.over.append(str(advance_to(self.table, Phase.SETTLED).pk))
            step(self.table)


@pytest.fixture
def evening(database: Database) -> Evening:
    return Evening()


def has_sent(watcher: Watcher, last: str) -> bool:
    """Return whether the end of this round was reported."""
    return rounds(watcher)[-1:] == [last]


def test_a_line_that_is_cut_at_every_event_loses_no_round_and_tells_none_twice(url: str, evening: Evening) -> None:
    shown: list[str] = []
    after: str | None = None
    for _ in range(ROUNDS):
        with listening(url, evening.api_client, to=evening.table, after=after) as (watcher,):
            wait_for_state(watcher, phase="betting")
            evening.play()
            watcher.wait(partial(has_sent, watcher, evening.over[-1]))
            # The connection is cut after one of the received events: later events count as not received.
            numbered = [notification for notification in watcher.received if notification.number]
            last = numbered[len(shown) % len(numbered)]
            seen = watcher.received[: watcher.received.index(last) + 1]
        shown += [values(notification)["id"] for notification in seen if notification.kind == "round"]
        after = last.number
        evening.play()  # in the meantime
    with listening(url, evening.api_client, to=evening.table, after=after) as (watcher,):
        wait_for_state(watcher, phase="betting")
        shown += rounds(watcher)
    assert shown == evening.over


@pytest.mark.sweep
def test_after_each_event_there_comes_exactly_what_followed_it(url: str, evening: Evening) -> None:
    with listening(url, evening.api_client, to=evening.table) as (watcher,):
        wait_for_state(watcher, phase="betting")
        evening.play(ROUNDS)
        watcher.wait(lambda: len(rounds(watcher)) == ROUNDS)
        wait_for_state(watcher, phase="betting", round=states(watcher)[-1]["round"])
    events = list(watcher.received)
    for place, notification in enumerate(events):
        if not notification.number:
            continue
        before = [values(each)["id"] for each in events[: place + 1] if each.kind == "round"]
        with listening(url, evening.api_client, to=evening.table, after=notification.number) as (back,):
            wait_for_state(back, phase="betting")
            assert before + rounds(back) == evening.over
            kinds = [each.kind for each in back.received if each.kind in ("round", "state")]
            assert kinds == sorted(kinds)  # the rounds, and then the state


@pytest.mark.sweep
def test_a_new_client_is_sent_no_finished_round(url: str, evening: Evening) -> None:
    evening.play(2)
    with listening(url, evening.api_client, to=evening.table) as (watcher,):
        wait_for_state(watcher, phase="betting")
        evening.play()
        watcher.wait(lambda: rounds(watcher) == evening.over[-1:])


@pytest.mark.sweep
def test_a_client_that_knows_no_round_is_sent_all(url: str, evening: Evening) -> None:
    with listening(url, evening.api_client, to=evening.table) as (watcher,):
        assert watcher.wait_for("state").number == "0-0"
    evening.play(2)
    with listening(url, evening.api_client, to=evening.table, after="0-0") as (watcher,):
        wait_for_state(watcher, phase="betting")
        assert rounds(watcher) == evening.over


@pytest.mark.sweep
def test_a_voided_round_is_reported_as_void(url: str, evening: Evening) -> None:
    evening.play()
    bet(evening.player, evening.table, banker=50_00)
    live_round = advance_to(evening.table, Phase.CLOSED)
    cancel(round_id=live_round.pk, by="staff:1")
    with listening(url, evening.api_client, to=evening.table, after="0-0") as (watcher,):
        wait_for_state(watcher, phase="void")
        one, two = (values(notification) for notification in watcher.of("round"))
        assert (one["is_void"], two["is_void"], two["id"]) == (False, True, str(live_round.pk))
        assert (two["cards"], two["outcome"], two["player"]) == ([], None, {"cards": [], "total": None})
        cards = sorted(one["player"]["cards"] + one["banker"]["cards"])
        assert cards == sorted(one["cards"])
        assert one["outcome"] in ("player", "banker", "tie")


@pytest.mark.sweep
@pytest.mark.parametrize("number", sample(["9-9", "1", "1-1-1", "-1-1", "x", "1-0", "9" * 40, "1-1, 1-1"], 2))
def test_a_number_that_no_event_had_is_refused_by_its_name(url: str, evening: Evening, number: str) -> None:
    with listening(url, evening.api_client, to=evening.table, after=number) as (watcher,):
        assert watcher.status == 400
        shown = problem_of(watcher)
        assert (shown["code"], shown["errors"][0]["pointer"]) == ("invalid", "/Last-Event-ID")


@pytest.mark.sweep
def test_a_round_under_way_that_somebody_says_to_know_keeps_it_from_nobody(url: str, evening: Evening) -> None:
    evening.play()
    other = client_of(a_player())
    with listening(url, evening.api_client, to=evening.table) as (watcher,):
        wait_for_state(watcher, phase="betting")
        with listening(url, other, to=evening.table, after="1-2") as (too_early,):
            assert too_early.wait_for("state").number == "1-1"
            evening.play()
            watcher.wait(lambda: rounds(watcher) == evening.over[-1:])
            too_early.wait(lambda: rounds(too_early) == evening.over[-1:])
        assert watcher.of("state")[0].number == "1-1"


class Kept(Stream):
    """A stream that stores what it sends."""

    def __init__(self, ticket: ApiClientTicket) -> None:
        super().__init__(ticket)
        self.told: list[bytes] = []

    def send_event(self, kind: str, messages: bytes) -> None:
        """Keep it."""
        if messages:
            self.told.append(messages)


def test_a_client_that_missed_too_much_is_informed_and_continues_from_there(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MOST", 2)
    evening.play(4)
    known = [RoundCursor(1, number) for number in range(1, 5)]

    async def tell(*after: RoundCursor) -> list[Kept]:
        read = Rounds(evening.table.pk, WIRES[Shape.SHARED])
        player, table = evening.player.pk, evening.table.pk
        listeners = [Kept(ApiClientTicket(player, table, None, "en", after=key)) for key in after]
        async with open_line() as line:
            for listener in listeners:
                read.take_in(listener)
            await read.keep_up(line)
            read.hear()
            await read.keep_up(line)
        assert read.number == "1-4"
        return listeners

    far, near, there = run_apart(tell(known[0], known[1], known[3]))
    assert far.told == [MISSED]
    (both,) = near.told
    assert [both.count(f"id: 1-{number}\n".encode()) for number in (2, 3, 4)] == [0, 1, 1]
    assert there.told == []


def test_a_position_claimed_by_one_api_client_does_not_apply_to_another(evening: Evening) -> None:
    evening.play()
    read = Rounds(evening.table.pk, WIRES[Shape.SHARED])
    player, table = evening.player.pk, evening.table.pk
    known, ahead = [Kept(ApiClientTicket(player, table, None, "en", after=RoundCursor(1, number))) for number in (1, 2)]

    async def keep_up() -> str:
        read.hear()
        async with open_line() as line:
            await read.keep_up(line)
        return read.number

    for listener in (known, ahead):
        read.take_in(listener)
    assert run_apart(keep_up()) == "1-1"
    evening.play(2)
    assert run_apart(keep_up()) == "1-3"
    for listener, counts in ((known, [0, 1, 1]), (ahead, [0, 0, 1])):
        shown = b"".join(listener.told)
        assert [shown.count(f"id: 1-{number}\n".encode()) for number in (1, 2, 3)] == counts
