"""Compose what a Chemin de Fer table shows, in the active language: a public view and a view for each player.

Everything is taken from `games.engine.chemin.view` for a spectator or for one seat. So a face-down
card never reaches a view whose reader may not see it.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from games.betting.error_messages import table_pauses
from games.chemin.pages import messages, turns
from games.chemin.pages.messages import Spoken
from games.chemin.pages.options import coup_chances, option_views
from games.chemin.pages.presentation import BankView, OwnView, PastView, PublicView, ShownSeat, TableHand
from games.chemin.state.queries import Own, Past, Played, PublicTable
from games.engine.cards import Card
from games.engine.chemin import Outcome, Phase, Presence, SeatView, Side, view
from games.engine.chemin.actions import Pass
from games.engine.chemin.events import Announced, CardsDealt, CoupVoided, Declared, Settled
from games.engine.chemin.views import CoupView, HandView
from games.help.figures import CALLS
from games.shared.pages import announcements
from games.shared.pages.board import Countdown, countdown_of_cut, seal_view
from games.tables.board import card_view, stack
from games.tables.presentation import CardView, Notice
from wallet.money import MINOR_UNITS, format_money

CHIPS: Final = tuple(units * MINOR_UNITS for units in (1, 5, 25, 100, 500, 2_500, 10_000, 50_000))
"""Values in which stakes are drawn as chips, in minor units."""

BEFORE_THE_CARDS: Final = frozenset({Phase.CALLS, Phase.STAKES})
"""The phases of a coup in which players put down money."""

PAIR: Final = 2
WHERE_DEALT: Final = {Side.PUNTER: (1, 3, 5), Side.BANKER: (2, 4, 6)}
"""The numbers of a side's cards in dealing order."""


def public_view(seen: PublicTable, language: str) -> PublicView:
    """Return what everybody sees in *seen*."""
    table = view(seen.table_state, None)
    reading = turns.reading_of(seen, table, language)
    said, latest = _said(seen, reading)
    settled = _settled(seen) if table.coup and table.coup.outcome else None
    shown = PublicView(
        key="",
        move=seen.move,
        mode=seen.mode,
        slug=seen.slug,
        phase=_phase(seen),
        round_id=seen.round,
        code=seen.code,
        currency=seen.rules.currency,
        seats=tuple(_seat(seen, table, number) for number in range(1, seen.rules.seat_count + 1)),
        is_practice=seen.rules.is_practice,
        spoken=said,
        latest=latest,
        turn=None if _is_still(seen) else table.turn,
        turn_message="" if _is_still(seen) else turns.turn(reading),
        countdown=_countdown(seen),
        bank=_bank(seen, table, reading),
        for_sale=table.sale.full_amount if table.sale else None,
        punter=_hand(table, Side.PUNTER, reading),
        banker=_hand(table, Side.BANKER, reading),
        outcome=settled.outcome.value if settled else "",
        result=messages.outcome(settled) if settled else "",
        tax=settled.tax if settled else 0,
        notes=_notes(seen),
        past=tuple(map(_past, seen.past)),
        seal=seal_view(seen.shoe, seen.cut if seen.is_cutting else None, seen.spent_shoe, seen.spent_number),
    )
    deadline = shown.countdown and shown.countdown.deadline
    return replace(shown, key=_key((replace(shown, move=0, countdown=None), seen.question, deadline)))


def own_view(seen: PublicTable, own: Own, language: str, notice: Notice | None) -> OwnView:
    """Return what one player sees in *seen*.

    For a seated player, *own* must hold the available balance.
    """
    table = view(seen.table_state, None if _is_silent(seen) else own.seat)
    seat = next((seated_player for seated_player in table.seated_players if seated_player.seat == own.seat), None)
    reading = turns.reading_of(seen, table, language)
    free = seen.rules.seat_count - len(table.seated_players)
    takes_players = seen.is_open and not seen.is_stopped
    is_asked = seat is not None and seat.presence is Presence.PLAYING and not seen.waits
    options = option_views(_offered(seen, table), reading.money) if is_asked else ()
    outcome, came_to = _came_to(own.last, seen.rules.currency, language)
    return OwnView(
        mode=seen.mode,
        slug=seen.slug,
        currency=seen.rules.currency,
        seat=own.seat,
        presence=seat.presence.value if seat else "",
        question=seen.question,
        message=_message(seen, own, reading, free),
        is_asked=bool(options),
        options=options,
        chances=coup_chances(table) if options else "",
        hand=_own_hand(seen, table, reading),
        advice=table.advice.value if table.advice else "",
        may_sit=own.seat is None and takes_players and free > 0,
        may_sit_at_random=own.seat is None and takes_players and free > 1,
        is_warned=own.seat is None and takes_players and free > 0 and not seen.rules.is_practice,
        leaving=_leaving(table),
        balance=own.funds,
        on_table=_on_table(table),
        notice=notice,
        outcome=outcome,
        came_to=came_to,
        last_round=own.last.round if own.last else None,
        missed=_missed(seen, own),
        code=seen.code,
        clock=f"{seen.now.astimezone(ZoneInfo(own.zone)):%H:%M:%S}",
        zone=own.zone,
        net=own.net,
    )


def _is_still(seen: PublicTable) -> bool:
    """Return whether no question is pending, although it may be a player's turn."""
    return seen.is_stopped or seen.waits


def _is_silent(seen: PublicTable) -> bool:
    """Return whether no player can be asked because the cards cannot be shown or the table is stopped."""
    coup = seen.table_state.coup
    is_dealt = seen.table_state.phase in (Phase.PUNTER, Phase.BANKER)
    return seen.is_stopped or (is_dealt and (coup is None or coup.hands is None))


def _phase(seen: PublicTable) -> str:
    if seen.is_stopped:
        return "stopped"
    if seen.waits:
        return "paused"
    if not seen.is_open and not seen.table_state.seats:
        return "closed_table"
    return seen.table_state.phase.value


def _key(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


# --- Seats -----------------------------------------------------------------------------------------------------------


def _seat(seen: PublicTable, table: SeatView, number: int) -> ShownSeat:
    sits = next((seated_player for seated_player in table.seated_players if seated_player.seat == number), None)
    seated_player = seen.seated_player(number)
    name = seated_player.name if seated_player else ""
    coup = table.coup
    stakes = coup.stakes if coup and (coup.outcome is None or _is_fresh(seen)) else ()
    stake = next((chips.amount for chips in stakes if chips.seat == number), 0)
    bids = table.sale.bids if table.sale else ()
    return ShownSeat(
        number=number,
        name=messages.player_name(number, name),
        seated_player=name,
        seat_id=seated_player.seat_id if seated_player and seated_player.player is not None else None,
        state=sits.presence.value if sits else "free",
        is_house_player=sits is not None
        and seen.rules.is_practice
        and seated_player is not None
        and seated_player.player is None,
        is_turn=table.turn == number and not _is_still(seen),
        holds_cards=coup is not None and coup.punter is not None and not coup.outcome and coup.punter_seat == number,
        bank=table.bank.amount if table.bank and table.bank.seat == number else None,
        call=CALLS[coup.call] if coup and coup.call and stakes and stakes[0].seat == number else "",
        stake=stake,
        chips=stack(stake - stake % CHIPS[0], CHIPS),
        bid=next((bid.amount for bid in bids if bid.seat == number), 0),
        outcome=_stake_outcome(coup) if stake else "",
    )


def _is_fresh(seen: PublicTable) -> bool:
    """Return whether nothing has happened since the last coup ended, so that its stakes are still shown."""
    return bool(seen.moves) and any(isinstance(event, Settled) for event in seen.moves[-1].events)


def _stake_outcome(coup: CoupView | None) -> str:
    if coup is None or coup.outcome is None:
        return ""
    return {Outcome.PUNTER: "won", Outcome.DRAW: "even", Outcome.BANKER: "lost"}[coup.outcome]


# --- Bank, cards and countdown ---------------------------------------------------------------------------------------


def _bank(seen: PublicTable, table: SeatView, reading: turns.Reading) -> BankView | None:
    if table.bank is None:
        return None
    coup = table.coup
    is_played = coup is not None and coup.outcome is None
    return BankView(
        holder=reading.who(table.bank.seat),
        amount=table.bank.amount,
        at_risk=coup.at_risk if coup and is_played else 0,
        open=coup.open if coup and is_played else 0,
    )


def _hand(table: SeatView, side: Side, reading: turns.Reading) -> TableHand:
    coup = table.coup
    hand = None if coup is None else coup.punter if side is Side.PUNTER else coup.banker
    holder = coup.punter_seat if coup and hand and side is Side.PUNTER else None
    return TableHand(
        side=side,
        name=_("Punters") if side is Side.PUNTER else _("The bank"),
        holder=reading.who(holder) if holder else "",
        cards=_cards(hand, side) if hand else (),
        total=hand.total if hand else None,
        is_natural=bool(hand and hand.natural),
        wins=bool(coup and coup.outcome and coup.outcome.value == side.value),
    )


def _cards(hand: HandView, side: Side) -> tuple[CardView | None, ...]:
    numbered = zip(hand.cards, WHERE_DEALT[side], strict=False)
    return tuple(_card(card, order) for card, order in numbered)


def _card(card: Card | None, order: int) -> CardView | None:
    return None if card is None else card_view(card, order, third=order > PAIR * len(Side))


def _own_hand(seen: PublicTable, table: SeatView, reading: turns.Reading) -> TableHand | None:
    """Return the punters' two cards for the player who holds them, until they are turned up."""
    everybodys = view(seen.table_state, None).coup
    if table.coup is None or everybodys is None or table.coup.punter == everybodys.punter:
        return None
    return replace(_hand(table, Side.PUNTER, reading), name=_("Your cards"))


def _countdown(seen: PublicTable) -> Countdown | None:
    if seen.cut is not None and seen.is_cutting:
        return countdown_of_cut(seen.cut, seen.now)
    if seen.deadline is None or seen.asked_at is None or _is_still(seen):
        return None
    length = max(1, _milliseconds(seen.deadline) - _milliseconds(seen.asked_at))
    what = messages.phase_name(seen.table_state.phase)
    return Countdown(_milliseconds(seen.deadline), _milliseconds(seen.now), length, what)


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


# --- Announcements ---------------------------------------------------------------------------------------------------


def _said(seen: PublicTable, reading: turns.Reading) -> tuple[tuple[Spoken, ...], str]:
    """Return the croupier's last announcements, and the latest event after them."""
    if seen.is_stopped:
        text = _("Something went wrong. The shift supervisor has been called, and your money is safe.")
        return (Spoken(_("The table is stopped") if seen.voided else text),), ""
    if seen.is_halted:
        return (Spoken(_("Play is stopped")),), _nobody_is_asked()
    if _phase(seen) == "closed_table":
        return (Spoken(_("The table is closed.")),), ""
    if seen.is_cutting:
        adding = _("Players add random numbers to the shuffle. The coup begins in a moment.")
        return (Spoken(_("The new shoe is being cut")),), adding
    said: list[Spoken] = []
    latest = ""
    for event in (event for move in seen.moves for event in move.events):
        if isinstance(event, Announced | CardsDealt | Declared | Settled | CoupVoided):
            spoken = messages.spoken(event, reading.who, reading.money)
            said = [*said, spoken] if said and said[-1].call == "Rien ne va plus" and spoken.call else [spoken]
            latest = ""
        else:
            latest = messages.describe_event(event, reading.who, reading.money) or latest
    return tuple(said) or (Spoken(_("Waiting for a second player.")),), latest


def _nobody_is_asked() -> str:
    return _("No decisions are needed until play resumes. Your money is safe.")


def _settled(seen: PublicTable) -> Settled | None:
    """Return the settlement of the latest coup from the table's events."""
    events = (event for move in reversed(seen.moves) for event in reversed(move.events))
    return next((event for event in events if isinstance(event, Settled)), None)


def _notes(seen: PublicTable) -> tuple[str, ...]:
    notes = [announcements.is_late()] if seen.is_late else []
    if seen.voided is not None:
        notes.append(_("This coup was voided. All stakes were returned."))
    if seen.is_house_stopped and not seen.is_stopped and not seen.waits and seen.table_state.seats:
        notes.append(_("Play is stopped. This coup will be completed and paid."))
    elif seen.is_paused and not seen.is_stopped and not seen.is_halted:
        notes.append(table_pauses() if seen.waits else _("The table pauses after this coup."))
    elif not seen.is_open and seen.table_state.seats and not seen.is_stopped:
        notes.append(_("The table closes after this coup."))
    return tuple(notes)


def _past(past: Past) -> PastView:
    if past.outcome is None or past.punter_total is None or past.banker_total is None:
        return PastView("✕", "voided", _("This coup was voided. All stakes were returned."))
    # the same letters in every language
    letter = {Outcome.PUNTER: "P", Outcome.BANKER: "B", Outcome.DRAW: "="}[past.outcome]
    message = messages.outcome_of(past.outcome, past.punter_total, past.banker_total)
    return PastView(letter, past.outcome.value, message)


# --- The player's own view -------------------------------------------------------------------------------------------


def _message(seen: PublicTable, own: Own, reading: turns.Reading, free: int) -> str:
    if seen.is_stopped and seen.voided:
        return _("This coup was voided. All stakes were returned.")
    if seen.is_stopped:
        return _("The table is stopped while we investigate a malfunction. Your money is safe.")
    seat = seen.table_state.find(own.seat) if own.seat else None
    if seen.waits and (seat is None or seat.presence is Presence.PLAYING):
        return _nobody_is_asked() if seen.is_halted else table_pauses()
    if seen.is_house_stopped and seen.table_state.phase in BEFORE_THE_CARDS and reading.is_asked:
        return _("Play is stopped and no more stakes are accepted. You may pass.")
    if own.seat is None:
        return turns.of_a_spectator(reading, free_seats=free, is_open=seen.is_open)
    removal = timedelta(milliseconds=seen.clock.removal) if seen.clock else None
    kept_until = own.away_since + removal if own.away_since and removal and not seen.is_paused else None
    return turns.of_a_player(reading, kept_until, own.zone)


def _offered(seen: PublicTable, table: SeatView) -> SeatView:
    """Return the table with only Pass as an option where a house stop forbids new stakes."""
    if not seen.is_house_stopped or seen.table_state.phase not in BEFORE_THE_CARDS:
        return table
    return replace(table, options=tuple(each for each in table.options if isinstance(each.action, Pass)))


def _on_table(table: SeatView) -> int:
    """Return the reader's money on the table: bank, stake and bid."""
    held = [table.bank] if table.bank else []
    stakes = table.coup.stakes if table.coup and table.coup.outcome is None else ()
    bids = table.sale.bids if table.sale else ()
    return sum(chips.amount for chips in (*held, *stakes, *bids) if chips.seat == table.seat)


def _leaving(table: SeatView) -> str:
    """Return what happens to the reader's money on the table if they leave now."""
    coup = table.coup if table.coup and table.coup.outcome is None else None
    holds_bank = table.bank is not None and table.bank.seat == table.seat
    if coup and (holds_bank or any(stake.seat == table.seat for stake in coup.stakes)):
        return _(
            "You are part of this coup. The coup will be completed, the croupier will decide for "
            "you, and you will then leave the table."
        )
    if holds_bank:
        return _(
            "You hold the bank. The money in it will be returned to your balance, and the bank "
            "will be offered to the other players."
        )
    if table.sale and any(bid.seat == table.seat for bid in table.sale.bids):
        return _("You have placed a bid. It will be cancelled and returned to your balance.")
    return ""


def _missed(seen: PublicTable, own: Own) -> str:
    if own.seat is None or seen.clock is None or own.missed == 0 or own.away_since is not None:
        return ""
    message = _(
        "The croupier has decided for you %(missed)d times in a row. After %(most)d times you will be marked as away."
    )
    if own.missed == 1:
        message = _("The croupier has decided for you. After %(most)d times in a row you will be marked as away.")
    return message % {"missed": own.missed, "most": seen.clock.missed}


def _came_to(last: Played | None, currency: str, language: str) -> tuple[str, str]:
    """Return the player's result in the latest coup, as one word and as text."""
    if last is None:
        return "", ""
    if last.is_void:
        return "voided", _("Your stakes were returned")
    net = last.paid - last.staked
    money: Callable[[int], str] = partial(format_money, currency=currency, language=language)
    if net > 0:
        return "won", _("You won %(amount)s") % {"amount": money(net)}
    if net < 0:
        return "lost", _("You lost %(amount)s") % {"amount": money(-net)}
    return "even", _("You broke even")
