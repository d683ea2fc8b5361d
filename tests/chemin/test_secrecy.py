"""No face-down card reaches anyone who may not see it, including staff, logs and rows.

Coups are played on a running server, and every byte that anyone can read is examined.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from pytest_django import DjangoDbBlocker

from audit.models import Event
from games.engine.coup import NATURALS
from games.models import CheminCoup
from tests.chemin import hands
from tests.chemin.hands import First, shoe_where, shoes_where
from tests.chemin.onlookers import NAMES, House
from tests.chemin.overheard import HOUSE
from tests.harness import databases, web
from tests.harness.folders import fresh_folder

Clicks = tuple[tuple[str, str, str], ...]

SEVERAL_STAKE: Clicks = (
    ("punter", "pass", ""),
    ("third guest", "pass", ""),
    ("fourth guest", "pass", ""),
    ("punter", "lay_stake", "40"),
    ("third guest", "lay_stake", "30"),
    ("fourth guest", "lay_stake", "30"),
)
ALONE: Clicks = (("punter", "make_call:banco_solo", ""),)


@contextmanager
def a_house(*, application: str = "casino.asgi:application") -> Iterator[House]:
    """Start a server with its own database."""
    with databases.clone("secrecy") as database, ExitStack() as stack:
        log = fresh_folder("sabot-secrecy-") / "web.log"
        server = web.start(database, log, application=application, environment={})
        stack.callback(web.stop, server)
        yield House(server, database, stack)


@pytest.fixture
def house(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    with django_db_blocker.unblock(), a_house() as house:
        yield house


def deal(monkeypatch: pytest.MonkeyPatch, house: House, seed: bytes, clicks: Clicks, *, listen: bool = True) -> None:
    """Play a coup of this seed until the cards are dealt, and examine what can be read then.

    With *listen*, also examine what can be read before. Every stream is sent every step.
    """
    house.wait_for_streams()
    house.begin(monkeypatch, seed, listen=listen)
    for name, action, amount in clicks:
        house.wait_for_streams()
        house.click(name, action, amount, listen=False)
    house.wait_for_streams()
    if listen:
        house.listen()
    house.click("banker", "deal_cards")


@contextmanager
def a_coup(
    monkeypatch: pytest.MonkeyPatch, house: House, wanted: Callable[[First], bool], clicks: Clicks
) -> Iterator[First]:
    """Deal a coup and check that nobody read too much.

    At the end everyone must have read the face-up cards, which proves that the check finds cards.
    """
    seed, coup = shoe_where(wanted)
    house.open_up()
    deal(monkeypatch, house, seed, clicks)
    yield coup
    assert house.record.leaks == []
    dealt = {*coup.cards[:4]}
    for name in (*NAMES, "spectator", "supervisor", HOUSE):
        assert dealt <= house.record.heard[name], name


def test_no_card_is_known_before_its_time_where_both_sides_ask_and_draw(monkeypatch, house, is_sweep):
    with a_coup(monkeypatch, house, hands.third_cards_on_advice, SEVERAL_STAKE) as coup:
        house.listen(everywhere=True)
        heard = house.record.heard
        assert {name for name, cards in heard.items() if cards} == {"punter"}
        assert heard["punter"] == {*coup.punter}
        assert "The croupier says: your choice." in house.click("punter", "ask_croupier")
        house.click("punter", "draw_card")
        house.listen(everywhere=is_sweep)
        assert heard["spectator"] == heard["banker"] == heard["third guest"] == {*coup.banker, coup.thirds[0]}
        assert "The croupier says: draw." in house.click("banker", "ask_croupier")
        house.click("banker", "draw_card")
        assert heard["spectator"] == {*coup.cards}


@pytest.mark.sweep
def test_a_natural_is_shown_with_the_deal_and_not_before(monkeypatch, house):
    with a_coup(monkeypatch, house, hands.shown_at_once, SEVERAL_STAKE) as coup:
        assert house.record.heard["spectator"] == house.record.heard["punter"] == {*coup.cards[:4]}


def test_the_croupier_s_refusal_and_its_grounds_are_shown_to_nobody_else(monkeypatch, house):
    with a_coup(monkeypatch, house, hands.third_card_refused, SEVERAL_STAKE) as coup:
        assert "notice--error" in house.click("punter", "stand")
        assert not Event.objects.filter(kind="play.refused").exists()  # it would say that the punter must draw
        house.let_time_pass()  # the croupier draws for the punter, and the banker shows a natural
        assert house.record.heard["spectator"] == {*coup.cards[:4]}
        assert not CheminCoup.objects.get().punter_departs


@pytest.mark.sweep
def test_departures_tell_nothing_until_the_cards_are_turned_up(monkeypatch, house):
    with a_coup(monkeypatch, house, hands.both_may_depart, ALONE) as coup:
        house.click("punter", "stand")
        assert house.record.heard["fourth guest"] == {*coup.banker}
        house.click("banker", "stand")
        assert CheminCoup.objects.get().outcome == "draw"


@pytest.mark.sweep
def test_a_house_that_shows_too_much_is_found_out(monkeypatch, django_db_setup, django_db_blocker):
    seed, coup = shoe_where(hands.third_cards_on_advice)
    with django_db_blocker.unblock(), a_house(application="tests.servers.leaky:application") as house:
        house.open_up()
        deal(monkeypatch, house, seed, ALONE)
        leaks = house.record.leaks
    for card in coup.punter:
        for name in ("banker", "third guest", "fourth guest", "spectator"):
            assert f"{name} reads {card} in streams" in leaks
        assert f"spectator reads {card} in /sv/table/chemin/real/" in leaks
    assert not [leak for leak in leaks if leak.startswith("punter")]


def test_two_hands_leave_the_same_trace_with_everybody_but_the_punter(monkeypatch, django_db_setup, django_db_blocker):
    traces, shoes = [], shoes_where(lambda coup: coup.totals[0] not in NATURALS)
    for seed, _ in (next(shoes), next(shoes)):
        with django_db_blocker.unblock(), a_house() as house:
            house.have_all_listen()
            deal(monkeypatch, house, seed, SEVERAL_STAKE, listen=False)
            traces.append(house.trace(without="punter"))
    one, other = traces
    assert one.keys() == other.keys()
    assert {where: (text, other[where]) for where, text in one.items() if text != other[where]} == {}
    assert {who for who, _ in one} >= {"banker", "third guest", "spectator", "supervisor", HOUSE}
