"""Sentences about turns at a Chemin de Fer table: whose turn it is, and what one player may do now.

The sentences contain only what `games.engine.chemin.view` shows their reader. They do not reveal
whether another player can pay.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games.chemin.pages.messages import Money, Who, filled, player_name
from games.chemin.state.queries import PublicTable
from games.engine.chemin import Call, Phase, Presence, SeatView
from games.engine.chemin.actions import DrawCard, Stand
from games.engine.chemin.rules import Advice
from games.help.figures import CALLS
from wallet.money import format_amount

ASKED_IN_TURN = frozenset({Phase.OFFER, Phase.SUITE, Phase.AUCTION, Phase.CALLS, Phase.STAKES})
WITHOUT_THE_BANKER = frozenset({Phase.SUITE, Phase.AUCTION, Phase.CALLS, Phase.STAKES})


@dataclass(frozen=True)
class Reading:
    """The data of the sentences: the table as its reader sees it, and formats of names and money."""

    view: SeatView
    last_banker: int  # the seat from which the order is counted
    who: Who
    money: Money

    @property
    def presence(self) -> Presence | None:
        """The reader's presence at the table; None for a spectator."""
        return next(
            (
                seated_player.presence
                for seated_player in self.view.seated_players
                if seated_player.seat == self.view.seat
            ),
            None,
        )

    @property
    def is_asked(self) -> bool:
        """True if the reader may decide something now."""
        return bool(self.view.options)

    def turns(self, seat_number: int) -> int:
        """Return the number of seats between the one from which the order is counted and this one."""
        return (seat_number - self.last_banker - 1) % self.view.rules.seat_count


def reading_of(seen: PublicTable, table: SeatView, language: str) -> Reading:
    """Return the data for sentences about *table*, the view of one reader."""

    def who(number: int) -> str:
        seated_player = seen.seated_player(number)
        return player_name(number, seated_player.name if seated_player else "")

    money = partial(format_amount, currency=seen.rules.currency, language=language)
    return Reading(table, seen.table_state.last_banker, who, money)


def turn(reading: Reading) -> str:
    """Return who is asked what; "" where nobody is asked."""
    view = reading.view
    if view.turn is None:
        return ""
    sale = reading.money(view.sale.full_amount) if view.sale else ""
    message = {
        Phase.OFFER: _("%(who)s is offered the bank."),
        Phase.SUITE: _("%(who)s is offered the bank at %(amount)s."),
        Phase.AUCTION: _("%(who)s may bid for the bank."),
        Phase.CALLS: _("%(who)s may call banco."),
        Phase.STAKES: _("%(who)s may stake."),
        Phase.CARDS: _("%(who)s holds the bank and draws the cards."),
        Phase.PUNTER: _("%(who)s holds the punters’ cards: draw or stand?"),
        Phase.BANKER: _("%(who)s decides for the bank: draw or stand?"),
        Phase.CHOICE: _("%(who)s may keep the bank or pass it on."),
    }[view.phase]
    return filled(message, {"who": reading.who(view.turn), "amount": sale})


def of_a_spectator(reading: Reading, *, free_seats: int, is_open: bool) -> str:
    """Return what a player without a seat may do."""
    if not is_open:
        return _("The table is closed. You cannot sit down now.")
    if free_seats == 0:
        return _("All seats are taken. You may watch until one is free.")
    if not reading.view.seated_players:
        return _("No one is seated here yet. Choose a seat, or let us choose one at random.")
    return _("You are watching. To play, choose a free seat, or let us choose one at random.")


def of_a_player(reading: Reading, kept_until: datetime | None, zone: str) -> str:
    """Return what a seated player may do now, or what the table waits for."""
    if reading.presence is Presence.LEAVING:
        return _("You will leave the table when the coup is over. Until then, the croupier decides for you.")
    if reading.presence is Presence.AWAY:
        return _away(kept_until, zone)
    if reading.is_asked:
        return _asked(reading)
    return _waiting(reading)


def _away(kept_until: datetime | None, zone: str) -> str:
    if kept_until is None:
        return _("You are away. We are keeping your seat, and you are not asked to decide.")
    time = f"{kept_until.astimezone(ZoneInfo(zone)):%H:%M}"
    return _("You are away and not asked to decide. We are keeping your seat until %(time)s.") % {"time": time}


def _asked(reading: Reading) -> str:
    view, money = reading.view, reading.money
    values: dict[str, str] = {
        "minimum": money(view.rules.minimum),
        "bank": money(view.bank.amount) if view.bank else "",
        "full": money(view.sale.full_amount) if view.sale else "",
        "risk": money(view.coup.at_risk) if view.coup else "",
    }
    match view.phase:
        case Phase.FREE:
            return filled(_("The bank is free. You may open it with at least %(minimum)s."), values)
        case Phase.OFFER:
            return filled(_("The bank is offered to you for at least %(minimum)s. Do you want to take it?"), values)
        case Phase.SUITE:
            return filled(_("The bank is offered to you at %(full)s. Do you want to take it?"), values)
        case Phase.AUCTION:
            return filled(_("The bank goes to the highest bid below %(full)s. Do you want to bid?"), values)
        case Phase.CALLS:
            return filled(_("The bank is %(bank)s. Do you want to call banco?"), values)
        case Phase.STAKES:
            return _stakes(reading)
        case Phase.CARDS:
            return filled(_("You hold the bank, and %(risk)s is at risk. Draw the cards."), values)
        case Phase.CHOICE:
            return filled(_("You hold the bank: %(bank)s. Do you want to keep it or pass it on?"), values)
    return f"{_holding(reading)} {_drawing(reading)}"


def _stakes(reading: Reading) -> str:
    coup = reading.view.coup
    if coup is None:
        return ""
    values = {"open": reading.money(coup.open)}
    if coup.call is None:
        return filled(_("%(open)s of the bank is open. Do you want to stake?"), values)
    caller = {"who": reading.who(coup.stakes[0].seat), "call": CALLS[coup.call]}
    return filled(_("%(who)s has called %(call)s, and %(open)s is open to you. Do you want to stake?"), values | caller)


def _holding(reading: Reading) -> str:
    """Return what the deciding side holds."""
    view = reading.view
    if view.coup is None or view.coup.punter is None or view.coup.banker is None:
        return ""
    if view.phase is Phase.PUNTER:
        return _("You hold the punters’ cards: %(total)s.") % {"total": view.coup.punter.total}
    third = view.coup.punter.cards[2:]
    if third and third[0] is not None:
        values = {"total": view.coup.banker.total, "third": third[0].points}
        return _("You hold the bank’s cards: %(total)s. The punters drew a card worth %(third)d.") % values
    return _("You hold the bank’s cards: %(total)s. The punters stood.") % {"total": view.coup.banker.total}


def _drawing(reading: Reading) -> str:
    """Return what the deciding side may do."""
    actions = {type(option.action) for option in reading.view.options}
    if reading.view.advice is Advice.AS_YOU_PLEASE:
        return _("The croupier says: your choice.")
    if {DrawCard, Stand} <= actions:
        return _("Draw or stand?")
    if reading.view.advice is not None:
        return _("The croupier says: draw.") if DrawCard in actions else _("The croupier says: stand.")
    return _("The rule says: draw.") if DrawCard in actions else _("The rule says: stand.")


def _waiting(reading: Reading) -> str:
    view = reading.view
    if view.phase is Phase.ALONE:
        return _("Play begins as soon as a second player sits down.")
    if view.phase is Phase.SHOE:
        return _("A new shoe is being brought. The coup will begin after that.")
    if view.phase is Phase.FREE:
        values = {"minimum": reading.money(view.rules.minimum)}
        return filled(_("The bank is free, but your balance does not cover the smallest bank: %(minimum)s."), values)
    part = _when(reading) if view.phase in ASKED_IN_TURN else _part(reading)
    return " ".join(filter(None, [turn(reading), part]))


def _when(reading: Reading) -> str:
    """Return when it is the reader's turn, among seats that are asked in order."""
    view, own, asked = reading.view, reading.view.seat, reading.view.turn
    if own is None or asked is None:
        return ""
    if view.phase in WITHOUT_THE_BANKER and own == reading.last_banker:
        return _("You hold the bank.") if view.bank else _("You have passed the bank on.")
    if view.phase is Phase.STAKES and view.coup and view.coup.call and own == view.coup.stakes[0].seat:
        return _("You have called %(call)s.") % {"call": CALLS[view.coup.call]}
    if reading.turns(own) < reading.turns(asked):
        return _("You have had your turn.")
    if not _covers(view):
        return _("Your balance does not cover this, so you are not asked.")
    playing = [
        reading.turns(seated_player.seat)
        for seated_player in view.seated_players
        if seated_player.presence is Presence.PLAYING
    ]
    before = sum(1 for turns in playing if reading.turns(asked) < turns < reading.turns(own))
    return {0: _("You are next."), 1: _("There is one player before you.")}.get(before) or _later(before)


def _later(before: int) -> str:
    message = ngettext("%(count)d player before you.", "%(count)d players before you.", before)
    return message % {"count": before}


def _covers(view: SeatView) -> bool:
    """Return whether the reader's balance is enough to be asked in this phase."""
    least: Mapping[Phase, int] = {
        Phase.OFFER: view.rules.minimum,
        Phase.SUITE: view.sale.full_amount if view.sale else 0,
        Phase.AUCTION: view.rules.minimum,
        Phase.CALLS: min(call.smallest_stake(view.bank.amount) for call in Call) if view.bank else 0,
        Phase.STAKES: 1,
    }
    return (view.balance or 0) >= least[view.phase]


def _part(reading: Reading) -> str:
    """Return the reader's part in the coup in progress."""
    view = reading.view
    if view.bank and view.bank.seat == view.seat:
        return _("You hold the bank.")
    if view.coup is None or view.coup.outcome is not None:
        return ""
    if any(stake.seat == view.seat for stake in view.coup.stakes):
        return _("Your stake goes with the punters.")
    return _("You have no stake in this coup.")
