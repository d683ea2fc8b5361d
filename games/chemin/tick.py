"""Move Chemin de Fer tables without a player's action: deadlines, house players, removal, closing.

A tick only asks which tables are due, as at shared tables (`games.shared.phases`). The database's
clock decides, and any worker may ask at any time. If two ask at once, one moves the table and the
other returns.

House players play at practice tables, so that a player can learn the game. They decide from the
view of their seat and random numbers, stake multiples of the table's minimum and never depart from
the rule.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import connection
from structlog.contextvars import bind_contextvars

from games.chemin import maintenance
from games.chemin.apply import carry_out, restart_question
from games.chemin.coups import void
from games.chemin.maintenance import is_paused, may_begin, may_go_on
from games.chemin.money import Unpaid
from games.chemin.state.table_state import TableState, locked, locked_if_free
from games.chemin.stop import one_transaction, players_without_session, remove, send_all_away, send_away, stop
from games.engine.chemin import Option, Phase, Presence, SeatView, options, view
from games.engine.chemin.actions import (
    DrawCard,
    GiveSuite,
    KeepBank,
    Pass,
    Stand,
    StepAway,
    TableAction,
    TimeUp,
)
from games.engine.chemin.rules import Advice, banker_rule, punter_rule
from games.engine.chemin.state import there
from games.engine.chemin.steps.seats import in_order
from games.engine.chemin.views import CoupView, HandView
from games.engine.coup import total
from games.errors import TableStopped
from games.models import UNDEALT, CheminSeat, CheminTable, Decider, ShoeCut, VoidReason
from games.rounds.integrity import Overdue
from games.rounds.redeal import Finding
from games.shared import shoes
from games.shared.phases import UNABLE
from games.shared.shoes import SYSTEM
from games.tables import clock
from games.variants import GAMES
from wallet import house_stop

Chance = Callable[[int], int]
"""Returns a uniform random number from 0 to below its argument: `secrets.randbelow`."""

LARGEST_BANK: Final = 5
"""The largest bank or bid of its own choice, in minimums of the table."""
LARGEST_BANK_TAKEN_OVER: Final = 10
LARGEST_STAKE: Final = 3
ONE_BANCO_IN: Final = 24
SMALL_FOR_IT: Final = 20
"""Calls banco only if its balance is at least this many times the bank."""


class NotAsked(RuntimeError):
    """A house player was to decide although its seat is not asked: a programming error."""


@dataclass(frozen=True, slots=True)
class _Thought:
    """The seat's view and the source of random numbers."""

    view: SeatView
    chance: Chance

    def one_in(self, count: int) -> bool:
        return self.chance(count) == 0

    @property
    def offers(self) -> tuple[Option, ...]:
        """Return the options other than Pass."""
        return tuple(option for option in self.view.options if not isinstance(option.action, Pass))

    @property
    def let_pass(self) -> TableAction:
        return Pass(there(self.view.seat))

    def round_amount(self, option: Option, most: int) -> TableAction:
        """Return the action with a random amount of one to *most* minimums, within the limits of the option.

        The amount is less than a minimum if only less can be staked.
        """
        lowest, highest = there(option.lowest), there(option.highest)
        minimum = self.view.rules.minimum
        amount = minimum * (1 + self.chance(max(1, min(most, highest // minimum))))
        return option.at(max(lowest, min(amount, highest)))


def choose(view: SeatView, chance: Chance) -> TableAction:
    """Return the action of the house player with this *view*, one of the view's options.

    Raises NotAsked where there are none.
    """
    if not view.options:
        raise NotAsked
    thought = _Thought(view, chance)
    match view.phase:
        case Phase.OFFER | Phase.FREE:
            return _open(thought)
        case Phase.SUITE | Phase.AUCTION:
            return _buy(thought)
        case Phase.CALLS:
            return _call(thought)
        case Phase.STAKES:
            return _stake(thought)
        case Phase.PUNTER | Phase.BANKER:
            return _draw_or_stand(thought)
        case Phase.CHOICE:
            return _keep_or_pass_on(thought)
        case _:
            return view.options[0].action


def _open(thought: _Thought) -> TableAction:
    """Take every second bank that is offered, and always a free one."""
    is_free = thought.view.phase is Phase.FREE
    if not is_free and (not thought.offers or thought.one_in(2)):
        return thought.let_pass
    return thought.round_amount(thought.offers[0], LARGEST_BANK)


def _buy(thought: _Thought) -> TableAction:
    """Take over, or bid for, every third bank that is affordable."""
    if not thought.offers or not thought.one_in(3):
        return thought.let_pass
    (offer,) = thought.offers
    if offer.highest is not None:
        return thought.round_amount(offer, LARGEST_BANK)
    full_amount = there(thought.view.sale).full_amount
    return offer.action if full_amount <= LARGEST_BANK_TAKEN_OVER * thought.view.rules.minimum else thought.let_pass


def _call(thought: _Thought) -> TableAction:
    """Pass, except for an occasional call against a bank that is small compared with the balance."""
    is_small = there(thought.view.balance) >= SMALL_FOR_IT * there(thought.view.bank).amount
    if thought.offers and is_small and thought.one_in(ONE_BANCO_IN):
        return thought.offers[thought.chance(len(thought.offers))].action
    return thought.let_pass


def _stake(thought: _Thought) -> TableAction:
    """Stake three times out of four, where a stake is possible."""
    if not thought.offers or thought.one_in(4):
        return thought.let_pass
    return thought.round_amount(thought.offers[0], LARGEST_STAKE)


def _keep_or_pass_on(thought: _Thought) -> TableAction:
    """Keep the bank three times out of four, but not after a coup without stakes."""
    seat = there(thought.view.seat)
    return GiveSuite(seat) if thought.view.coup is None or thought.one_in(4) else KeepBank(seat)


def _draw_or_stand(thought: _Thought) -> TableAction:
    """Follow the rule; choose at random where it leaves the choice."""
    coup = there(thought.view.coup)
    advice = _punter_advice(coup) if thought.view.phase is Phase.PUNTER else _banker_advice(coup)
    seat = there(thought.view.seat)
    draws = thought.one_in(2) if advice is Advice.AS_YOU_PLEASE else advice is Advice.DRAW
    return DrawCard(seat) if draws else Stand(seat)


def _punter_advice(coup: CoupView) -> Advice:
    return punter_rule(_pair_total(there(coup.punter)))


def _banker_advice(coup: CoupView) -> Advice:
    """Return the advice to the banker, whose cards are face up by now, as is the punter's third card."""
    thirds = there(coup.punter).cards[2:]
    return banker_rule(_pair_total(there(coup.banker)), there(thirds[0]).points if thirds else None)


def _pair_total(hand: HandView) -> int:
    return total([there(card) for card in hand.cards[:2]])


SEEN_IN_TIME: Final = timedelta(seconds=5)
"""A deadline noticed later than this passed during an outage; that time does not count against the player."""

# Tables at which something is due now. A stopped table plays out a dealt coup if none of its
# incidents awaits a ruling. A paused table, and every table during a house stop, plays out a coup
# in progress. Players' time away does not run then.
DUE = f"""
WITH house AS (SELECT {house_stop.IS_STOPPED} AS is_stopped)
SELECT live.id
FROM house CROSS JOIN games_chemintable AS chemin
JOIN games_livetable AS live ON live.id = chemin.live_table_id
JOIN games_table AS t ON t.id = live.table_id
JOIN games_tableversion AS version ON version.id = t.version_id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
WHERE CASE WHEN live.stopped_by_id IS NOT NULL THEN
        round.phase = 'dealt' AND chemin.deadline <= clock_timestamp() AND NOT EXISTS (
            SELECT FROM games_incident AS incident
            LEFT JOIN games_incidentruling AS ruling ON ruling.incident_id = incident.id
            WHERE incident.live_round_id = round.id AND ruling.incident_id IS NULL)
    ELSE (NOT (t.status = 'paused' OR house.is_stopped) OR round.phase IN ('betting', 'closed', 'dealt'))
        AND (chemin.deadline <= clock_timestamp() OR chemin.state ->> 'phase' = 'shoe' AND NOT EXISTS (
            SELECT FROM games_shoecut AS cut
            WHERE cut.live_table_id = live.id AND cut.open_until > clock_timestamp()))
        OR EXISTS (
        SELECT FROM games_cheminseat AS seat
        WHERE seat.live_table_id = live.id AND seat.left_at IS NULL AND (
            round.phase IN ('betting', 'closed', 'dealt') IS NOT TRUE
                AND NOT (t.status <> 'closed' AND live.mode = ANY (version.modes)
                    AND version.rules_digest = %(rules)s::jsonb ->> t.variant)
            OR seat.why_left = '' AND NOT (SELECT who.jurisdiction_id = ANY (version.jurisdictions)
                FROM players_player AS who WHERE who.id = seat.player_id)
            OR seat.why_left = '' AND NOT (t.status = 'paused' OR house.is_stopped)
                AND seat.away_since <= clock_timestamp()
                    - make_interval(secs => (version.clock ->> 'removal')::double precision / 1000)))
    END
ORDER BY chemin.deadline, live.id
"""  # noqa: S608  (nothing but our own column)


def due() -> list[int]:
    """Return the tables at which something is due now, the longest waiting first."""
    rules = json.dumps({slug: game.digest for slug, game in GAMES.items()})
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"rules": rules})
        ids = [each for (each,) in cursor.fetchall()]
    seated = list(CheminSeat.objects.filter(left_at=None, live_table__stopped_by=None, player__isnull=False))
    over = players_without_session(seated)
    left = [seat.live_table_id for seat in seated if seat.pk in over]
    return list(dict.fromkeys([*ids, *left]))


def advance(live_table_id: int) -> bool:
    """Carry out the one step that is due at a table, and its upkeep; return whether there was one.

    One transaction, which holds the table's lock; returns False if another worker holds it. An
    error rolls back and stops the table, as at a player's click. Raises `UNABLE` where the database
    failed and the table is not overdue yet.
    """
    shoes.collect_beacon(live_table_id)
    try:
        with one_transaction(live_table_id):
            table_state = locked_if_free(live_table_id)
            return table_state is not None and _advance(table_state)
    except TableStopped:
        return False
    except UNABLE as error:
        if not (_is_overdue(live_table_id) and stop(live_table_id, error)):
            raise
        return False
    except Unpaid as unpaid:  # a bidder who can no longer pay for the bank
        with one_transaction(live_table_id):
            maintenance.see_to(send_away(locked(live_table_id), seat_number=unpaid.seat_number))
        return True


def _advance(table_state: TableState) -> bool:
    bind_contextvars(round_id=str(table_state.live_round.pk) if table_state.live_round else "")
    before = _progress(table_state)
    if table_state.live_table.stopped_by_id is None:
        table_state = maintenance.see_to(remove(table_state))
        if table_state.seats and not (table_state.in_coup or may_begin(table_state) or is_paused(table_state)):
            table_state = send_all_away(table_state)
    if before == _progress(table_state) and _is_up(table_state) and may_go_on(table_state):
        table_state = maintenance.see_to(_answer(table_state))
    return before != _progress(table_state)


def _progress(table_state: TableState) -> tuple[object, ...]:
    """Return what changes with each step: the move, the deadline, or the shoe that players cut."""
    waits_for_shoe = table_state.state.phase is Phase.SHOE
    cut = ShoeCut.objects.filter(live_table=table_state.live_table).first() if waits_for_shoe else None
    return table_state.chemin.move, table_state.chemin.deadline, cut and cut.shoe_id


def _is_overdue(live_table_id: int) -> bool:
    """Return whether the pending question is past its deadline by the delay after which a round is void."""
    latest = clock.now() - timedelta(seconds=settings.LIVE_LATE_SECONDS)
    return CheminTable.objects.filter(pk=live_table_id, deadline__lt=latest).exists()


def _is_up(table_state: TableState) -> bool:
    deadline = table_state.chemin.deadline
    return deadline is not None and clock.now() >= deadline


def _answer(table_state: TableState) -> TableState:
    """Answer an expired question: a house player decides, or the croupier by the rule.

    Time during an outage does not count against the player, so the question is asked again. If the
    outage was too long, a coup with stakes is voided, unless its cards are drawn; then the croupier
    decides.
    """
    unseen = clock.now() - there(table_state.chemin.deadline)
    is_late, live_round = unseen.total_seconds() > settings.LIVE_LATE_SECONDS, table_state.live_round
    is_dealt = live_round is not None and live_round.phase not in UNDEALT
    if is_late and live_round and not is_dealt and table_state.state.running_coup.stakes:
        overdue = Overdue(
            f"The coup exceeded its deadline ({table_state.state.phase}).",
            Finding("moved on", clock.now().isoformat(), there(table_state.chemin.deadline).isoformat()),
        )
        void.void_coup(live_round=live_round, reason=VoidReason.OVERDUE, by=SYSTEM)
        stop(table_state.live_table.pk, overdue)
        return locked(table_state.live_table.pk)
    seat = _house_player_asked(table_state)
    if seat is not None:
        return carry_out(table_state, _choice_of(table_state, seat), decider=Decider.HOUSE_PLAYER)
    if unseen > SEEN_IN_TIME and not (is_late and is_dealt):
        restart_question(table_state)
        return table_state
    return _time_up(table_state)


def _house_player_asked(table_state: TableState) -> CheminSeat | None:
    """Return the house player who decides now; for a free bank, the first in order who can open it."""
    if table_state.state.phase is not Phase.FREE:
        seat = table_state.asked
        return seat if seat and seat.player_id is None else None
    order = (table_state.seats[seat.number] for seat in in_order(table_state.state))
    return next((seat for seat in order if seat.player_id is None and options(table_state.state, seat.number)), None)


def _choice_of(table_state: TableState, seat: CheminSeat) -> TableAction:
    """Return a house player's decision. During a house stop it no longer stakes, like all players."""
    if table_state.is_house_stopped and table_state.state.phase in (Phase.CALLS, Phase.STAKES):
        return Pass(seat.number)
    return choose(view(table_state.state, seat.number), secrets.randbelow)


def _time_up(table_state: TableState) -> TableState:
    """Have the croupier decide for the player; after too many missed turns the player is away."""
    if table_state.state.turn is None:
        return table_state
    seat_number = table_state.state.turn
    table_state = carry_out(table_state, TimeUp(), decider=Decider.CROUPIER)
    seat = table_state.state.find(seat_number)
    is_playing = seat is not None and seat.presence is Presence.PLAYING
    if is_playing and table_state.seats[seat_number].missed >= table_state.clock.missed:
        return carry_out(table_state, StepAway(seat_number), decider=Decider.HOUSE)
    return table_state
