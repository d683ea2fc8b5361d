"""Compose what a shared table shows, in the active language: a public view and a view for each player."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from games.engine.bets import PUSH
from games.engine.coup import Coup, Side, total
from games.labels import bet_name
from games.models import Phase
from games.shared.pages import announcements, chips
from games.shared.pages.announcements import is_void
from games.shared.state import Cut, Own, Shoe, State
from games.tables.board import chip_view, hand_view, spots
from games.tables.presentation import ChipView, HandView, Notice, SpotView
from wallet.models import Mode
from wallet.money import format_money

FIRST_TWO = 2
FEWEST_COUNTED = 3  # number of winners is shown from this many players on, so that no single player can be inferred


@dataclass(frozen=True)
class Countdown:
    """A countdown on the page, run by the server's clock. Milliseconds since 1970."""

    deadline: int
    now: int
    length: int
    what: str

    @property
    def seconds(self) -> int:
        """Return the time left in seconds, rounded up."""
        return max(0, -((self.now - self.deadline) // 1000))

    @property
    def percent(self) -> int:
        """Return the time left in percent of the whole length."""
        return max(0, min(100, (self.deadline - self.now) * 100 // self.length))


@dataclass(frozen=True)
class SealView:
    """The seal of the shoe on the table, or of the one that players are cutting, and who has added to it."""

    shoe_id: UUID | None
    shoe_number: int | None
    commitment: str
    entropy: str  # what went into its shuffle in addition to the seed
    chances: tuple[str, ...]  # what players have added, each as "digest value"
    added: str  # the same as a sentence
    root: str  # over all cards of the shoe
    cut: Cut | None  # the next shoe, while players cut it
    bound_until: int  # milliseconds, as those of countdowns
    open_until: int
    spent_shoe: UUID | None
    spent_number: int | None


@dataclass(frozen=True)
class PublicView:
    """State of the table as everybody sees it."""

    key: str  # changes when anything but the time changes
    phase: str  # of Phase, or "stopped", "paused", "closed_table", "cutting", "waiting"
    is_halted: bool  # by a house stop
    round_id: UUID | None
    code: str
    call: str
    english: str  # the same call in English, where the active language is another
    message: str
    counts: str  # how many players won, came out even and lost, once the round is settled
    notes: tuple[str, ...]
    countdown: Countdown | None
    player: HandView
    banker: HandView
    outcome: str  # empty until every card is face up
    won: str  # codes of the bets that win, separated by spaces; empty until every card is face up
    round_number: int | None
    slug: str
    mode: Mode
    seal: SealView


@dataclass(frozen=True)
class OwnView:
    """One player's own bets and money. Amounts in minor units."""

    mode: Mode
    slug: str
    currency: str
    round_id: UUID | None
    table_version: int
    takes_bets: bool
    spots: tuple[SpotView, ...]
    tray: tuple[ChipView, ...]
    bet_total: int
    balance: int
    win: int
    is_ahead: bool  # the win is more than the stake
    can_undo: bool
    can_clear: bool
    can_double: bool
    can_rebet: bool
    controls: frozenset[str]
    notice: Notice | None
    hint: str  # how to place a bet, for a player without one
    outcome: str  # of the round on the table: "won", "even", "lost" or "voided"; empty before its end
    came_to: str  # result of the last round played, as text
    last: str  # settlement of the player's bets, shown until the next round closes
    last_said: str  # the same for screen readers
    last_round: UUID | None
    code: str
    clock: str  # time of day in the player's time zone
    zone: str
    net: int | None
    squeezes: str  # the hands whose cards are the player's to turn in this round, separated by spaces


def public_view(state: State, language: str) -> PublicView:
    """Return what everybody sees in *state*."""
    call, english, message = announcements.call(state)
    played, shoe = state.round, state.shoe
    turned = state.turned
    phase = _phase(state)
    coup = state.coup if turned else None
    countdown = _countdown(state)
    # The key must not depend on face-down cards, nor on the end of the deal, which would reveal how
    # many cards come.
    shown = (
        (phase, state.is_open, state.is_paused, state.is_house_stopped, turned, countdown and countdown.deadline),
        state.is_late,
        played and (played.id, played.is_void, played.is_confirmed, played.counts),
        shoe and (shoe.id, shoe.is_spent),
        state.cut and state.cut.shoe,
    )
    return PublicView(
        key=hashlib.sha256(repr(shown).encode()).hexdigest()[:16],
        phase=phase,
        is_halted=state.is_halted,
        round_id=played.id if played else None,
        code=played.code if played else "",
        call=call,
        english=english,
        message=message,
        counts=_counts(state),
        notes=announcements.notes(state),
        countdown=countdown,
        player=_hand(coup, Side.PLAYER, state, language),
        banker=_hand(coup, Side.BANKER, state, language),
        outcome=coup.outcome.value if coup and state.is_announced and not is_void(state) else "",
        won=_won(coup, state) if coup and state.is_announced and not is_void(state) else "",
        round_number=played.number if played else None,
        slug=state.slug,
        mode=state.mode,
        seal=seal_view(shoe, state.cut if state.is_cutting else None, state.spent_shoe, state.spent_number),
    )


def _won(coup: Coup, state: State) -> str:
    """Return the codes of the bets that win."""
    return " ".join(bet.code for bet in state.variant.bets if bet.pays(coup) not in (None, PUSH))


def seal_view(shoe: Shoe | None, cut: Cut | None, spent_shoe: UUID | None, spent_number: int | None) -> SealView:
    """Return what a table shows of its shoe. *cut*: the next one, while players cut it."""
    is_sealed = shoe is not None and not shoe.is_spent
    return SealView(
        shoe_id=shoe.id if shoe else None,
        shoe_number=shoe.number if shoe else None,
        commitment=shoe.commitment if shoe and is_sealed else "",
        entropy=shoe.entropy if shoe else "",
        chances=shoe.chances if shoe and is_sealed else (),
        added=_added(shoe),
        root=shoe.root if shoe and is_sealed else "",
        cut=cut,
        bound_until=_milliseconds(cut.bound_until) if cut else 0,
        open_until=_milliseconds(cut.open_until) if cut else 0,
        spent_shoe=spent_shoe,
        spent_number=spent_number,
    )


def own_view(state: State, own: Own, language: str, notice: Notice | None) -> OwnView:
    """Return what the player sees of their own bets and money in *state*."""
    played, limits, variant = state.round, state.limits(own.currency), state.variant
    outcome, came_to = _outcome(own, language)
    last = _last(own, language) if own.is_recent else ""
    is_now = _bets_now(state, own)
    is_here = is_now and bool(own.stakes)
    is_over = is_here and bool(own.bets)
    shown = {} if own.is_void else own.bets
    stakes = own.stakes if is_here and not own.is_void else {}
    repeatable = own.last_stakes if is_now else own.stakes or own.last_stakes
    shown_chips = chips.tray(limits, own.chips)
    chosen = chips.in_hand(limits, shown_chips, own.last_chip)
    return OwnView(
        mode=state.mode,
        slug=state.slug,
        currency=own.currency,
        round_id=played.id if played else None,
        table_version=state.table_version,
        takes_bets=state.takes_bets,
        spots=spots(variant, limits, stakes, shown if is_over else {}, language),
        tray=tuple(chip_view(chip, limits.chips, chosen=chip == chosen) for chip in shown_chips),
        bet_total=sum(stakes.values()),
        balance=own.funds,
        win=own.paid if own.bets and last and not own.is_void else 0,
        is_ahead=own.paid > sum(line.stake for line in own.bets.values()),
        can_undo=state.lets_bets_go and is_now and own.can_undo,
        can_clear=state.lets_bets_go and is_here,
        can_double=state.takes_bets and is_here,
        can_rebet=state.takes_bets and bool(repeatable),
        controls=variant.control_names,
        notice=notice or _waits(state, own),
        hint=_("Choose a chip, then put it on a bet.") if state.takes_bets and not is_here else "",
        outcome=outcome if is_now else "",
        came_to=came_to,
        last=last,
        last_said=f"{came_to} – {last}" if last else "",
        last_round=own.round if own.bets and last else None,
        code=played.code if played else "",
        clock=_clock(state.now, own.zone),
        zone=own.zone,
        net=own.net,
        squeezes=own.squeezes,
    )


def _phase(state: State) -> str:
    if state.is_stopped:
        return "stopped"
    if state.waits:
        return "paused"
    if state.is_cutting:
        return "cutting"
    if state.round is None:
        return "waiting" if state.is_open else "closed_table"
    if not state.is_playing and not state.is_open:
        return "closed_table"
    return str(Phase.VOID if state.round.is_void else state.round.phase)


def _added(shoe: Shoe | None) -> str:
    """Return who has added chance to the shuffle of a shoe in play: players, and a public beacon."""
    if shoe is None or shoe.is_spent:
        return ""
    said = [_added_by_players(shoe)]
    if shoe.has_beacon:
        said.append(_("Round %(round)d of the public beacon drand is included.") % {"round": shoe.beacon_round})
    elif shoe.beacon_round is not None:
        away = _("Round %(round)d of the public beacon drand did not arrive in time, so this shoe does not include it.")
        said.append(away % {"round": shoe.beacon_round})
    return " ".join(said)


def _added_by_players(shoe: Shoe) -> str:
    if not shoe.chances:
        return _("No player has added random numbers to this shoe: its order follows from the dealer’s seed alone.")
    if not shoe.players:
        return _("No player has added random numbers to this shoe.")
    message = ngettext(
        "%(count)d player has added random numbers to this shoe.",
        "%(count)d players have added random numbers to this shoe.",
        shoe.players,
    )
    return message % {"count": shoe.players}


def _counts(state: State) -> str:
    """Return how many players won, came out even and lost.

    Empty for one or two players: one of them, or a person who knows them, could infer the other's
    result.
    """
    counts = state.round.counts if state.round else None
    if counts is None or counts.players < FEWEST_COUNTED:
        return ""
    values = {"won": counts.won, "even": counts.even, "lost": counts.lost}
    # "People", because Player is also the name of a hand, in the sentence before this one.
    players = ngettext("%(count)d person", "%(count)d people", counts.players) % {"count": counts.players}
    return _("%(players)s: %(won)d won, %(even)d broke even, %(lost)d lost") % {"players": players, **values}


def _countdown(state: State) -> Countdown | None:
    """Return the countdown of the page: time left for bets, or time until the next round.

    The end of a deal is not counted down, because it would reveal how many cards come.
    """
    played, clock = state.round, state.clock
    if state.cut is not None and state.is_cutting and not state.is_halted:
        return countdown_of_cut(state.cut, state.now)
    if played is None or clock is None or state.is_stopped or state.is_halted:
        return None
    if played.phase == Phase.BETTING:
        return Countdown(_milliseconds(played.deadline), _milliseconds(state.now), clock.betting, _("Place your bets"))
    if played.phase in (Phase.SETTLED, Phase.VOID) and state.is_open:
        what = pgettext("before the seconds until it begins", "Next round")
        return Countdown(_milliseconds(played.deadline), _milliseconds(state.now), clock.pause, what)
    return None


def countdown_of_cut(cut: Cut, now: datetime) -> Countdown:
    """Return the countdown while players cut the next shoe."""
    lasts = _milliseconds(cut.open_until) - _milliseconds(cut.begun_at)
    return Countdown(_milliseconds(cut.open_until), _milliseconds(now), lasts, _("The new shoe is being cut"))


def _hand(coup: Coup | None, side: Side, state: State, language: str) -> HandView:
    """Return a hand with the cards that are face up, and their total so far."""
    if coup is None:
        return HandView(side.value, bet_name(state.variant, side.value, language), (), "", 0, wins=False)
    whole = hand_view(coup, side, state.variant, language)
    if state.is_announced:
        return replace(whole, wins=whole.wins and not is_void(state))
    seen = tuple(card for card in whole.cards if card.order <= state.turned)
    cards = coup.hand(side)[: len(seen)]
    first = total(cards[:FIRST_TWO])
    score = "" if not cards else f"{first}:{total(cards)}" if len(cards) > FIRST_TWO else str(first)
    return replace(whole, cards=seen, score=score, total=total(cards), wins=False)


def _bets_now(state: State, own: Own) -> bool:
    """Return whether the player's slip, empty or not, is for the round on the table."""
    return state.round is not None and own.round == state.round.id


def _waits(state: State, own: Own) -> Notice | None:
    """Return the notice for a player who arrives while bets are closed."""
    if state.is_stopped or not state.is_playing or state.lets_bets_go or (_bets_now(state, own) and own.stakes):
        return None
    return Notice("info", _("Betting for this round is closed. You can bet when the next round opens."))


def _outcome(own: Own, language: str) -> tuple[str, str]:
    """Return the player's result in the last round played, as one word and as text; empty before its end."""
    if own.is_void:
        return "voided", _("Your stakes were returned")
    if not own.bets:
        return "", ""
    net = own.paid - sum(line.stake for line in own.bets.values())
    values = {"amount": format_money(abs(net), own.currency, language)}
    if net > 0:
        return "won", _("You won %(amount)s") % values
    if net < 0:
        return "lost", _("You lost %(amount)s") % values
    return "even", _("You broke even")


def _last(own: Own, language: str) -> str:
    """Return how the player's bets in the last round they played were settled; empty before its end."""
    if own.is_void:
        return _("Round %(code)s was voided. Your stakes were returned.") % {"code": own.code}
    if not own.bets:
        return ""
    staked = sum(line.stake for line in own.bets.values())
    values = {
        "staked": format_money(staked, own.currency, language),
        "paid": format_money(own.paid, own.currency, language),
    }
    if own.paid:
        return _("Staked %(staked)s, paid out %(paid)s.") % values
    return _("Staked %(staked)s, lost.") % values


def _clock(now: datetime, zone: str) -> str:
    return f"{now.astimezone(ZoneInfo(zone)):%H:%M:%S}"


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
