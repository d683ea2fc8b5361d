"""Policies of players who collude: give money away, take it, or spare each other."""

from collections.abc import Callable
from random import Random

from games.chemin.collusion.measures import PLAIN_COST
from games.engine.chemin import Call, Phase, SeatView
from games.engine.chemin.actions import DrawCard, MakeCall, Pass, Stand, TableAction, TakeBank
from games.engine.chemin.odds import Decision, departure_costs
from games.engine.chemin.rules import Side
from games.engine.coup import total
from tests.chemin.on_record import Policy, honest


def banker_is(friend: int, seen: SeatView) -> bool:
    return seen.bank is not None and seen.bank.seat == friend


def find(seen: SeatView, wanted: Callable[[TableAction], bool]) -> TableAction | None:
    return next((option.action for option in seen.options if wanted(option.action)), None)


def lose_on_purpose(seen: SeatView) -> TableAction | None:
    """Depart from the rule if that is allowed and clearly loses money."""
    coup = seen.coup
    hand = coup and (coup.punter if seen.phase is Phase.PUNTER else coup.banker)
    if not coup or not hand or seen.phase not in (Phase.PUNTER, Phase.BANKER):
        return None
    side = Side.PUNTER if seen.phase is Phase.PUNTER else Side.BANKER
    thirds = coup.punter.cards[2:] if coup.punter and side is Side.BANKER else ()
    points, third = total([card for card in hand.cards[:2] if card]), thirds[0].points if thirds and thirds[0] else None
    departures = {
        Stand if not draws else DrawCard
        for draws in (False, True)
        if departure_costs().get(Decision(side, points, third, draws), 0) >= PLAIN_COST
    }
    return find(seen, lambda action: type(action) in departures)


def gives_to(friend: int) -> Policy:
    """Call banco solo whenever the friend holds the bank, and lose on purpose."""

    def play(seen: SeatView, chance: Random) -> TableAction:
        if seen.phase is Phase.CALLS and banker_is(friend, seen):
            solo = find(seen, lambda each: isinstance(each, MakeCall) and each.call is Call.BANCO_SOLO)
            if solo:
                return solo
        return (banker_is(friend, seen) and lose_on_purpose(seen)) or honest(seen, chance)

    return play


def hands_over_to(friend: int) -> Policy:
    """Take large banks, and lose them on purpose if only the friend plays against them."""

    def play(seen: SeatView, chance: Random) -> TableAction:
        if seen.phase is Phase.OFFER:
            for option in seen.options:
                if isinstance(option.action, TakeBank):
                    return option.at(20 * seen.rules.minimum)
        if seen.coup and seen.coup.punter_seat == friend:
            return lose_on_purpose(seen) or honest(seen, chance)
        return honest(seen, chance)

    return play


def takes_from(friend: int) -> Policy:
    """Call banco solo whenever the friend holds the bank."""

    def play(seen: SeatView, chance: Random) -> TableAction:
        solo = find(seen, lambda each: isinstance(each, MakeCall) and each.call is Call.BANCO_SOLO)
        return solo if solo and banker_is(friend, seen) else honest(seen, chance)

    return play


def spares(friend: int) -> Policy:
    """Never play against the friend's bank."""

    def play(seen: SeatView, chance: Random) -> TableAction:
        asked = seen.phase in (Phase.CALLS, Phase.STAKES) and banker_is(friend, seen)
        passing = find(seen, lambda each: isinstance(each, Pass)) if asked else None
        return passing or honest(seen, chance)

    return play
