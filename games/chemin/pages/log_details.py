"""Details of a Chemin de Fer coup in the game history: bank, cards, stakes and decisions.

They include decisions that the croupier took for a player. Other players are shown by seat number
only: who they were is known only to themselves and the house.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.chemin import event_codec
from games.chemin.coups.redeal import BANK, PUNTER
from games.chemin.pages import messages
from games.chemin.pages.presentation import hand_views
from games.engine.cards import Card
from games.engine.chemin import Outcome
from games.engine.chemin.events import AdviceAsked, CallMade, CardsDealt, Declared, Event, Passed, StakeLaid
from games.engine.chemin.record import RecordError, redeal_coup
from games.engine.chemin.rules import Call
from games.help.figures import CALLS
from games.models import OPEN_PHASES, CheminCoup, CheminMove, CheminStake, CheminTable, Decider, LiveRound
from games.tables.board import Dealt
from games.tables.presentation import RoundView
from wallet.models import Account, Entry
from wallet.money import format_money

OUTCOMES: Final[Mapping[Outcome, Literal["player", "banker", "tie"]]] = {
    Outcome.PUNTER: "player",
    Outcome.BANKER: "banker",
    Outcome.DRAW: "tie",
}
"""The winning hand, under the codes that pages of all games use."""


@dataclass(frozen=True)
class FinishedCoup:
    """A stored coup with its stakes and its moves, in order."""

    coup: CheminCoup
    stakes: tuple[CheminStake, ...]
    moves: tuple[CheminMove, ...]


@dataclass(frozen=True)
class StakeLine:
    """One player's stake and what was returned, minor units."""

    seat: str
    stake: int
    returned: int


@dataclass(frozen=True)
class DecisionLine:
    """A decision as a sentence."""

    message: str
    by_house: bool  # the croupier decided by the rule because the player did not


@dataclass(frozen=True)
class CoupLine:
    """A coup as its reader sees it. Amounts in minor units."""

    bank: int  # at the opening of the coup
    at_risk: int
    tax: int
    call: str  # in French; "" without a call
    banker: str
    punter: str  # holder of the punters' cards; "" where none were dealt
    stakes: tuple[StakeLine, ...]
    decisions: tuple[DecisionLine, ...]
    departures: tuple[str, ...]


def read_finished(rounds: Iterable[UUID]) -> Mapping[UUID, FinishedCoup]:
    """Return the coups among finished rounds. Three queries, however many there are; none without any."""
    asked = list(rounds)
    if not asked:
        return {}
    coups = {coup.pk: coup for coup in CheminCoup.objects.filter(pk__in=asked).select_related("banker", "punter")}
    if not coups:
        return {}
    stakes: dict[UUID, list[CheminStake]] = {}
    for stake in CheminStake.objects.filter(coup__in=coups).select_related("seat").order_by("pk"):
        stakes.setdefault(stake.coup_id, []).append(stake)
    moves: dict[UUID | None, list[CheminMove]] = {}
    for move in CheminMove.objects.filter(round_id__in=coups).select_related("seat").order_by("number"):
        moves.setdefault(move.round_id, []).append(move)
    return {pk: FinishedCoup(coup, tuple(stakes.get(pk, ())), tuple(moves.get(pk, ()))) for pk, coup in coups.items()}


def bet_name(bet: str) -> str:
    """Return the name of a bet in a coup, in the reader's language."""
    return {PUNTER: pgettext("part in a coup", "Stake"), BANK: pgettext("part in a coup", "Bank")}[bet]


def outcome_name(outcome: Literal["player", "banker", "tie"]) -> str:
    """Return the winner of a coup, in the reader's language."""
    return {
        "player": pgettext("who won a coup", "Punters"),
        "banker": pgettext("who won a coup", "Bank"),
        "tie": pgettext("who won a coup", "Draw"),
    }[outcome]


def coup_line(coup: FinishedCoup, player_id: int, currency: str, language: str) -> CoupLine:
    """Return the details of a coup for a player who took part in it."""
    own = {stake.seat.number for stake in coup.stakes if stake.player_id == player_id}
    if coup.coup.banker_player_id == player_id:
        own.add(coup.coup.banker.number)

    def who(seat_number: int) -> str:
        name = messages.seat_name(seat_number)
        return _("%(seat)s (you)") % {"seat": name} if seat_number in own else name

    def money(minor: int) -> str:
        return format_money(minor, currency, language)

    row = coup.coup
    departed = ((row.punter, row.punter_departs), (row.banker, row.banker_departs))
    return CoupLine(
        bank=row.bank,
        at_risk=row.at_risk,
        tax=row.tax,
        call=CALLS[Call(row.call)] if row.call else "",
        banker=who(row.banker.number),
        punter=who(row.punter.number) if row.punter else "",
        stakes=tuple(StakeLine(who(each.seat.number), each.stake, each.returned) for each in coup.stakes),
        decisions=tuple(_decisions(coup.moves, who, money)),
        departures=tuple(
            _("%(who)s did not follow the rule.") % {"who": who(seat.number)}
            for seat, departs in departed
            if seat and departs
        ),
    )


def _decisions(moves: Iterable[CheminMove], who: messages.Who, money: messages.Money) -> Iterable[DecisionLine]:
    for move in moves:
        for event in map(event_codec.read, move.events):
            if move.seat is not None and (message := _message(event, move.seat.number, who, money)):
                yield DecisionLine(message, move.decider == Decider.CROUPIER)


def _message(event: Event, seat_number: int, who: messages.Who, money: messages.Money) -> str:
    """Return the decision of the player at a seat; "" for other events."""
    match event:
        case CardsDealt(seat=seat) if seat == seat_number:
            return _("%(who)s draws the cards.") % {"who": who(seat_number)}
        case Passed(seat=seat) | Declared(seat=seat) if seat == seat_number:
            return messages.describe_event(event, who, money)
        case CallMade(seat=seat) | StakeLaid(seat=seat) | AdviceAsked(seat=seat) if seat == seat_number:
            return messages.describe_event(event, who, money)
    return ""


def round_view(dealt: Dealt, coup: FinishedCoup) -> RoundView | None:
    """Return a coup as its cards were dealt; None where cards and declarations make no coup."""
    row = coup.coup
    try:
        played = redeal_coup(
            map(Card.parse, dealt.cards.split()), punter_draws=row.punter_draws, banker_draws=row.banker_draws
        )
    except RecordError:
        return None
    punter, banker = hand_views(played, _("Punters"), _("The bank"))
    return RoundView(
        id=dealt.id,
        code=dealt.code,
        player=punter,
        banker=banker,
        outcome=OUTCOMES[played.outcome],
        announcement=messages.outcome_of(played.outcome, played.punter.total, played.banker.total),
        natural=played.punter.natural or played.banker.natural,
        steps=len(played.cards),
        staked=dealt.staked,
        paid=dealt.paid,
        balance_before=dealt.balance_before,
        balance_after=dealt.balance_after,
        fresh=False,
    )


def in_progress(player_id: int) -> QuerySet[LiveRound]:
    """Return the coups in progress in which a player holds the bank or has staked."""
    staked = Entry.objects.filter(
        journal__round_id=OuterRef("pk"), journal__kind="stake", account__owner=player_id, account__subject_id=None
    )
    theirs = Q(live_table__chemin__tenure__seat__player=player_id) | Exists(staked)
    return LiveRound.objects.filter(
        theirs,
        phase__in=OPEN_PHASES,
        live_table__chemin_seats__player=player_id,
        live_table__chemin_seats__left_at=None,
    )


def part_in_progress(coup: LiveRound, player_id: int) -> tuple[str, int]:
    """Return a player's bet in a coup in progress, `PUNTER` or `BANK`, and its amount in minor units.

    The amount is the stake, or the present bank.
    """
    table = CheminTable.objects.select_related("tenure__seat").get(pk=coup.live_table_id)
    if table.tenure is not None and table.tenure.seat.player_id == player_id:
        return BANK, Account.objects.values_list("balance", flat=True).get(pk=table.tenure.account_id) or 0
    staked = Entry.objects.filter(
        journal__round_id=coup.pk, journal__kind="stake", account__owner=player_id, account__subject_id=None
    )
    return PUNTER, -sum(staked.values_list("amount", flat=True))
