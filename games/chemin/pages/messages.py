"""Messages of a Chemin de Fer table in the reader's language: calls, events, refusals.

The French calls and the German *Bitte die Karten* are not translated; a sentence in the reader's
language explains each. Events never contain a face-down card, so no message can reveal one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from games.engine.chemin import Outcome, Refusal, Side
from games.engine.chemin.events import (
    AdviceAsked,
    Announced,
    Announcement,
    BankEnded,
    BankKept,
    BankTaken,
    BidMade,
    BidReturned,
    CallMade,
    CardsDealt,
    CoupVoided,
    Declared,
    Event,
    ExcessTakenHome,
    HandShown,
    Passed,
    PlayerAway,
    PlayerBack,
    PlayerJoined,
    PlayerLeft,
    PlayerWillLeave,
    Settled,
    ShoeBrought,
    StakeLaid,
    StakeRelieved,
    SuiteGiven,
    ThirdCard,
)
from games.help.figures import CALLS
from games.tables.chemin_rules import CheminRules

Money = Callable[[int], str]
"""Formats minor units of the table's currency in the reader's language."""

Who = Callable[[int], str]
"""Returns the name of the player at a seat, for the beginning of a sentence."""


@dataclass(frozen=True)
class Spoken:
    """Announcement of the croupier: a sentence, and a call that is the same in every language, if there is one."""

    text: str
    call: str = ""
    language: str = ""  # of the call: "fr" or "de"


def seat_name(number: int) -> str:
    """Return the name of a seat."""
    return _("Seat %(number)d") % {"number": number}


def player_name(number: int, name: str) -> str:
    """Return the name of a player: the seat, and the chat name if there is one."""
    return _("%(name)s (seat %(number)d)") % {"name": name, "number": number} if name else seat_name(number)


def filled(message: str, values: Mapping[str, str]) -> str:
    """Insert words into a sentence without doubling its full stop, as after the Danish "100 kr."."""
    for name, word in values.items():
        if word.endswith("."):
            message = message.replace(f"%({name})s.", f"%({name})s")
    return message % values


def announcement(said: Announced, money: Money) -> Spoken:
    """Return the croupier's announcement."""
    values = {"amount": money(said.amount) if said.amount is not None else ""}
    match said.what:
        case Announcement.WHO_TAKES_THE_BANK:
            return Spoken(filled(_("Who takes the bank, from %(amount)s?"), values))
        case Announcement.BANK_AT_ITS_FULL_AMOUNT:
            return Spoken(filled(_("The bank is passed on. Who takes it at %(amount)s?"), values), "Suite", "fr")
        case Announcement.BANK_TO_THE_HIGHEST_BID:
            return Spoken(filled(_("The bank goes to the highest bid, from %(amount)s."), values))
        case Announcement.BANK_IS_FREE:
            return Spoken(filled(_("No one has taken the bank. Any player may open it, from %(amount)s."), values))
        case Announcement.WAITING_FOR_PLAYERS:
            return Spoken(_("Waiting for a second player."))
        case Announcement.SHOE_IS_SPENT:
            return Spoken(_("A new shoe will be brought before the next coup."))
        case Announcement.WHO_CALLS_BANCO:
            return Spoken(filled(_("The bank is %(amount)s. Who calls banco?"), values), "Banco?", "fr")
        case Announcement.FAITES_VOS_JEUX:
            return Spoken(_("Place your stakes."), "Faites vos jeux", "fr")
        case Announcement.NO_STAKES_NO_COUP:
            return Spoken(_("No stakes were placed, so there is no coup."))
        case Announcement.RIEN_NE_VA_PLUS:
            return Spoken(filled(_("No more stakes: %(amount)s is at risk."), values), "Rien ne va plus", "fr")
        case Announcement.BITTE_DIE_KARTEN:
            return Spoken(_("The banker draws the cards."), "Bitte die Karten", "de")
        case Announcement.NO_THIRD_CARD:
            return Spoken(_("The bank has a natural: there is no third card."))


def outcome(settled: Settled) -> str:
    """Return the croupier's sentence on a finished coup."""
    return outcome_of(settled.outcome, settled.punter_total, settled.banker_total)


def outcome_of(won_by: Outcome, punter: int, banker: int) -> str:
    """Return the sentence on a coup from the totals of both hands."""
    totals = {"punter": punter, "banker": banker}
    match won_by:
        case Outcome.PUNTER:
            return _("The punters win, %(punter)d to %(banker)d.") % totals
        case Outcome.BANKER:
            return _("The bank wins, %(banker)d to %(punter)d.") % totals
        case Outcome.DRAW:
            return _("A draw at %(banker)d: all stakes are returned.") % totals


def describe_event(event: Event, who: Who, money: Money) -> str:
    """Return an event as one sentence; "" for events that are not shown. No sentence contains a balance."""
    return _of_players(event, who) or _of_the_bank(event, who, money) or _of_the_coup(event, who, money)


def spoken(event: Event, who: Who, money: Money) -> Spoken:
    """Return an event as the croupier says it, with its call."""
    return announcement(event, money) if isinstance(event, Announced) else Spoken(describe_event(event, who, money))


def _of_players(event: Event, who: Who) -> str:
    match event:
        case PlayerJoined():
            return _("%(who)s sits down.") % {"who": who(event.seat)}
        case PlayerWillLeave():
            return _("%(who)s leaves when the coup is over.") % {"who": who(event.seat)}
        case PlayerLeft():
            return _("%(who)s leaves the table.") % {"who": who(event.seat)}
        case PlayerAway():
            return _("%(who)s is away.") % {"who": who(event.seat)}
        case PlayerBack():
            return _("%(who)s is back.") % {"who": who(event.seat)}
        case ShoeBrought():
            message = ngettext(
                "A new shoe of %(cards)d card is on the table.",
                "A new shoe of %(cards)d cards is on the table.",
                event.cards,
            )
            return message % {"cards": event.cards}
    return ""


def _of_the_bank(event: Event, who: Who, money: Money) -> str:
    match event:
        case BankTaken():
            return filled(_("%(who)s takes the bank with %(amount)s."), _words(event, who, money))
        case BidMade():
            return filled(_("%(who)s bids %(amount)s."), _words(event, who, money))
        case BidReturned():
            return filled(_("%(who)s gets the bid of %(amount)s back."), _words(event, who, money))
        case BankKept():
            return _("%(who)s keeps the bank.") % {"who": who(event.seat)}
        case SuiteGiven():
            return _("%(who)s passes the bank on.") % {"who": who(event.seat)}
        case ExcessTakenHome():
            message = _("%(who)s gets %(amount)s back: it is above the largest bank of the table.")
            return filled(message, _words(event, who, money))
        case BankEnded() if event.amount:
            return filled(_("%(who)s gives up the bank and gets %(amount)s back."), _words(event, who, money))
        case BankEnded():
            return _("%(who)s gives up the bank. Nothing is left in it.") % {"who": who(event.seat)}
    return ""


def _of_the_coup(event: Event, who: Who, money: Money) -> str:
    match event:
        case Announced():
            return announcement(event, money).text
        case Passed():
            return _("%(who)s passes.") % {"who": who(event.seat)}
        case CallMade():
            message = _("%(who)s calls %(call)s and stakes %(amount)s.")
            return filled(message, _words(event, who, money) | {"call": CALLS[event.call]})
        case StakeLaid():
            return filled(_("%(who)s stakes %(amount)s."), _words(event, who, money))
        case StakeRelieved():
            return filled(_("%(who)s gets %(amount)s of the stake back."), _words(event, who, money))
        case CardsDealt():
            return _("%(who)s holds the punters’ cards.") % {"who": who(event.punter)}
        case AdviceAsked():
            return _("%(who)s asks the croupier.") % {"who": who(event.seat)}
        case Declared():
            message = _("%(who)s draws a card.") if event.draws else _("%(who)s stands.")
            return message % {"who": who(event.seat)}
        case HandShown():
            return _shown(event)
        case ThirdCard():
            return _("The punters’ third card.") if event.side is Side.PUNTER else _("The bank’s third card.")
        case Settled():
            return outcome(event)
        case CoupVoided():
            return _("This coup was voided. All stakes were returned.")
    return ""


def _shown(event: HandShown) -> str:
    values = {"total": event.total}
    if event.natural and event.side is Side.PUNTER:
        return _("The punters have a natural %(total)d.") % values
    if event.natural:
        return _("The bank has a natural %(total)d.") % values
    if event.side is Side.PUNTER:
        return _("The punters’ two cards: %(total)d.") % values
    return _("The bank’s two cards: %(total)d.") % values


def _words(event: object, who: Who, money: Money) -> dict[str, str]:
    return {"who": who(event.seat), "amount": money(event.amount)}  # type: ignore[attr-defined]


def phase_name(phase: str) -> str:
    """Return the name of a phase in which a player is asked."""
    return {
        "offer": pgettext("what is asked at the table", "Bank offer"),
        "suite": pgettext("what is asked at the table", "Bank offer"),
        "auction": pgettext("what is asked at the table", "Bank auction"),
        "calls": pgettext("what is asked at the table", "Calls"),
        "stakes": pgettext("what is asked at the table", "Stakes"),
        "cards": pgettext("what is asked at the table", "Cards"),
        "punter": pgettext("what is asked at the table", "Third card"),
        "banker": pgettext("what is asked at the table", "Third card"),
        "choice": pgettext("what is asked at the table", "Keep or pass on"),
    }.get(phase, "")


def refused(reason: Refusal, rules: CheminRules, money: Money) -> str:
    """Return the message of a refused action. A refusal changes nothing."""
    values = {"minimum": money(rules.minimum), "maximum": money(rules.maximum)}
    return filled(_messages()[reason], values)


def _messages() -> dict[Refusal, str]:
    return {
        Refusal.NO_SUCH_SEAT: _("This seat does not exist. Choose another seat."),
        Refusal.SEAT_TAKEN: _("This seat is taken. Choose another seat."),
        Refusal.NOT_SEATED: _("You are not seated at this table."),
        Refusal.ALREADY_AWAY: _("You are already away."),
        Refusal.NOT_AWAY: _("You are not away. You will be asked when it is your turn."),
        Refusal.ALREADY_LEAVING: _("You are already leaving: you will leave the table when the coup is over."),
        Refusal.AWAY_FROM_PLAY: _("You are away. Come back first."),
        Refusal.NOT_NOW: _("The time for this decision has passed. Nothing was staked."),
        Refusal.NOT_YOUR_TURN: _("It is not your turn. Nothing was staked."),
        Refusal.NOBODY_IS_ASKED: _("No decision is needed right now."),
        Refusal.BAD_AMOUNT: _("Choose an amount first."),
        Refusal.NOT_COVERED: _("Your balance does not cover this. We do not give credit."),
        Refusal.BELOW_MINIMUM: _("The smallest bank of this table is %(minimum)s."),
        Refusal.ABOVE_MAXIMUM: _("The largest bank of this table is %(maximum)s."),
        Refusal.NOT_THE_FULL_AMOUNT: _("A bank that is passed on must be taken at its full amount."),
        Refusal.NOT_UNDER_THE_FULL_AMOUNT: _("A bid must be less than the full amount of the bank."),
        Refusal.MORE_THAN_IS_OPEN: _("This amount is no longer open. Choose a smaller amount."),
        Refusal.LESS_THAN_HALF: _("Banco avec la table requires at least half the bank."),
        Refusal.RULE_BINDS: _("You must follow the rule here, because other players are part of this coup."),
        Refusal.ADVICE_BINDS: _("You have asked the croupier and must follow the answer."),
        Refusal.ALREADY_ADVISED: _("You have already asked the croupier."),
        Refusal.WRONG_SHOE: _("This shoe is not complete."),
    }
