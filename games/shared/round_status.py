"""Describe rounds of live tables for staff: their phase, bets and face-up cards, and a later round
in progress.

Staff see exactly the cards that players see. At Chemin de Fer they are read from the table's events,
which never contain a face-down card. So no seed is unsealed to show a table to staff.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils.translation import get_language, gettext, gettext_lazy, ngettext

from games.chemin import event_codec
from games.chemin.pages.floor import phase_text, read_chemin_states
from games.engine.cards import Card, CardError
from games.engine.chemin.events import CardsDealt, Event, HandShown, ThirdCard
from games.engine.chemin.rules import Side
from games.engine.coup import player_draws, total
from games.models import OPEN_PHASES, UNDEALT, CheminMove, LiveRound, LiveSeat, LiveTotal, Phase, Shape
from games.tables.clock import Clock
from wallet.money import format_money

HELD: Final = {
    Phase.BETTING: gettext_lazy("on hold since the table was stopped; betting closed"),
    Phase.CLOSED: gettext_lazy("on hold since the table was stopped; no more bets and no cards drawn"),
    Phase.DEALT: gettext_lazy("cards are drawn; not settled before the ruling"),
}
EMPTY: Final = gettext_lazy("ended without a bet")
VOIDED: Final = gettext_lazy("void, all stakes returned")


def how_far(live_round: LiveRound, *, is_void: bool, is_held: bool, then: str = "") -> str:
    """Return the status of a round as text.

    *is_void*: the round is stored as void and its stakes went back. *is_held*: the table is
    stopped, or the cards await a ruling. *then*: text on what follows, added once the round is
    over.
    """
    if live_round.phase == Phase.VOID:
        return _joined(str(VOIDED if is_void else EMPTY), then)
    if live_round.phase == Phase.SETTLED:
        return _joined(gettext("paid, then voided; all stakes returned") if is_void else gettext("paid"), then)
    is_chemin = live_round.live_table.table.shape == Shape.CHEMIN
    if not is_held or (is_chemin and live_round.phase == Phase.DEALT):
        return phase_text(live_round)
    return str(HELD[Phase(live_round.phase)])


def in_hands(cards: str) -> str:
    """Return cards in dealing order as two hands with their totals; unchanged where they make no hands."""
    try:
        dealt = [Card.parse(code) for code in cards.split()]
    except CardError:
        return cards
    player, banker = dealt[0:4:2], dealt[1:4:2]
    for third in dealt[4:]:
        takes = len(player) == 2 and len(banker) == 2 and player_draws(total(player))
        (player if takes else banker).append(third)
    hands = ((gettext("Player"), player), (gettext("Banker"), banker))
    return ", ".join(f"{name} {' '.join(card.code for card in hand)} ({total(hand)})" for name, hand in hands if hand)


def bets_text(bettors: int, staked: Iterable[tuple[str, int]]) -> str:
    """Return how many players have bet, and how much. *staked*: currency and total in minor units."""
    if not bettors:
        return gettext("no bets")
    amounts = (format_money(amount, currency, get_language() or "en") for currency, amount in staked)
    return ", ".join([ngettext("%(count)s player", "%(count)s players", bettors) % {"count": bettors}, *amounts])


def what_becomes(live_round: LiveRound, bettors: int, staked: Iterable[tuple[str, int]]) -> str:
    """Return what a stop of the table does to another round in progress there."""
    fate = gettext("is on hold") if live_round.phase in UNDEALT else gettext("is dealt and will be completed")
    return gettext("Round %(code)s %(fate)s: %(bettors)s") % {
        "code": live_round.code,
        "fate": fate,
        "bettors": bets_text(bettors, staked),
    }


def other_round(live_round: LiveRound) -> str:
    """Return what happens to another round in progress at the same table; "" if there is none."""
    others = LiveRound.objects.filter(live_table=live_round.live_table_id, phase__in=OPEN_PHASES)
    other = others.exclude(pk=live_round.pk).first()
    if other is None:
        return ""
    chemin_state = read_chemin_states([other.live_table_id]).get(other.live_table_id)
    if chemin_state is not None:
        amount = sum(stake.amount for stake in chemin_state.stakes)
        return what_becomes(other, len(chemin_state.stakes), [(chemin_state.currency, amount)])
    bettors = LiveSeat.objects.filter(round_id=other.pk).exclude(stakes={}).count()
    totals = LiveTotal.objects.filter(round=other.pk).order_by("currency")
    staked = [(total.currency, sum(total.stakes.values())) for total in totals if any(total.stakes.values())]
    return what_becomes(other, bettors, staked)


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


FACE_DOWN: Final = "–"


def lying_open(live_round: LiveRound, moment: datetime) -> str:
    """Return the face-up cards of a round, in dealing order.

    The back office shows no card before the players see it. At Chemin de Fer a mark replaces each
    face-down card.
    """
    if live_round.live_table.table.shape == Shape.CHEMIN:
        return face_up([live_round.pk]).get(live_round.pk, "")
    cards = live_round.cards.split()
    if live_round.phase == Phase.DEALT and live_round.dealt_at:
        cards = cards[: Clock.of(live_round.version.clock or {}).turned(moment - live_round.dealt_at)]
    return " ".join(cards)


def face_up(rounds: Iterable[UUID]) -> Mapping[UUID, str]:
    """Return the cards of coups in dealing order, with a mark for each face-down card. One query.

    Coups without cards are left out.
    """
    heard: dict[UUID | None, list[Event]] = {}
    moves = CheminMove.objects.filter(round_id__in=list(rounds)).order_by("number")
    for round_id, events in moves.values_list("round_id", "events"):
        heard.setdefault(round_id, []).extend(event_codec.read(event) for event in events)
    return {round_id: lying for round_id, events in heard.items() if round_id and (lying := _as_they_lie(events))}


def _as_they_lie(events: Iterable[Event]) -> str:
    pairs: dict[Side, tuple[str, ...]] = {}
    thirds: dict[Side, str] = {}
    for event in events:
        match event:
            case CardsDealt():
                pairs = dict.fromkeys(Side, (FACE_DOWN, FACE_DOWN))
            case HandShown():
                pairs[event.side] = tuple(card.code for card in event.cards)
            case ThirdCard():
                thirds[event.side] = event.card.code
    if not pairs:
        return ""
    first_four = [card for dealt in zip(pairs[Side.PUNTER], pairs[Side.BANKER], strict=True) for card in dealt]
    return " ".join([*first_four, *(thirds[side] for side in (Side.PUNTER, Side.BANKER) if side in thirds)])
