"""Place and change bets at a shared table. Each change is confirmed and held on the account at once.

One click is two statements: one reads the seat, one places the bets. The second checks everything
again under locks (``games/sql/functions/live_bets.sql``), and PostgreSQL's clock decides whether it
came in time. If another click of the player was faster, the click starts again. A click names the
round it is for, so it cannot change another round. Closing bets checks nothing again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from structlog.contextvars import bind_contextvars

from audit import log
from games.betting import idempotency
from games.betting.limits import Limits
from games.betting.rules import CONTROL_OF, Change, Slip, changed, demand
from games.engine.bets import Control, Variant
from games.engine.settle import BadStake, SettlementError
from games.errors import (
    BetTooLate,
    HouseStopped,
    NotEligible,
    NotEligibleHere,
    OtherMoney,
    PlayError,
    StalePage,
    TableChanged,
    TableClosed,
    TablePaused,
    TableStopped,
    TableWaits,
    UnknownChip,
)
from games.models import LiveRound, LiveSeat, LiveTable
from games.shared import favourites, seats
from games.solo import seats as solo_seats
from games.variants import VARIANTS
from players.models import Player
from players.protection import eligibility, registers
from wallet import house_stop
from wallet.models import Account, Mode


@dataclass(frozen=True)
class Click:
    """One change of bets: the player, and what their page showed.

    `table_version` is the version of the limits that the page showed, None for callers that show
    none. *idempotency_key*: see `games.betting.idempotency`. *shows*: whether the returned seat has to
    have what the page shows (`seats.Shown`), read in the same round trip.
    """

    player: Player
    live_table_id: int
    round_id: UUID
    table_version: int | None
    session: UUID | None
    idempotency_key: UUID | None
    shows: bool = False


@dataclass(frozen=True)
class Betting:
    """A round that takes bets and the seat of the player who bets, as they were read."""

    live_round: LiveRound
    seat: LiveSeat
    variant: Variant
    limits: Limits
    refusal_here: PlayError | None  # why the version in force refuses new bets from this player in this round

    @property
    def slip(self) -> Slip:
        """Return the player's bets on the round."""
        return seats.slip_for(self.seat, self.live_round.pk)

    def funds(self) -> int:
        """Return the player's funds here in minor units, including the stakes on the table."""
        account = Account.objects.get(pk=self.seat.account_id)
        return (account.balance or 0) - account.held + self.slip.total


def add_chip(
    *,
    player: Player,
    live_table_id: int,
    round_id: UUID,
    bet: str,
    chip: int,
    table_version: int | None = None,
    session: UUID | None = None,
    idempotency_key: UUID | None = None,
    shows: bool = False,
) -> LiveSeat:
    """Put one chip on a bet and hold it.

    Raises HouseStopped, NotEligible, TableWaits, BetTooLate, StalePage, TableChanged, TablePaused,
    TableClosed, TableStopped, NotEligibleHere, OtherMoney, UnknownChip, UnknownCurrency, UnderMinimum,
    OverMaximum, StakeOffStep, NotEnoughBalance, OverLimit, OverLiability, GameTooSoon, or an engine's
    SettlementError where the rules do not allow the bets together. A refusal changes nothing and is
    recorded in the log. *shows*: see `Click`.
    """

    def place(betting: Betting) -> Slip:
        if chip not in betting.limits.chips:
            raise UnknownChip
        betting.seat.last_chip = chip
        return betting.slip.add(bet, chip)

    return _carry_out(Click(player, live_table_id, round_id, table_version, session, idempotency_key, shows), place)


def take_chip(
    *,
    player: Player,
    live_table_id: int,
    round_id: UUID,
    bet: str,
    chip: int,
    table_version: int | None = None,
    session: UUID | None = None,
    idempotency_key: UUID | None = None,
    shows: bool = False,
) -> LiveSeat:
    """Take one chip off a bet and release its hold; the whole bet if less than its minimum would be left.

    Raises what `add_chip` raises.
    """

    def take(betting: Betting) -> Slip:
        if chip not in betting.limits.chips:
            raise UnknownChip
        stake = betting.slip.stakes.get(bet, 0)
        is_enough = bet in betting.limits.bets and stake - chip >= betting.limits.bets[bet].minimum
        return betting.slip.take(bet, chip if is_enough else stake)

    return _carry_out(Click(player, live_table_id, round_id, table_version, session, idempotency_key, shows), take)


def change_slip(
    *,
    player: Player,
    live_table_id: int,
    round_id: UUID,
    change: Change,
    table_version: int | None = None,
    session: UUID | None = None,
    idempotency_key: UUID | None = None,
    shows: bool = False,
) -> LiveSeat:
    """Undo, clear, double or rebet the slip, all or nothing, and hold the new total.

    Raises what `add_chip` raises, NothingToRepeat, and NotOffered where the game has no such
    control.
    """

    def alter(betting: Betting) -> Slip:
        demand(betting.variant, CONTROL_OF[change])
        last = seats.last_stakes(betting.seat, round_id)
        return changed(betting.slip, change, last_stakes=last, limits=betting.limits, funds=betting.funds)

    return _carry_out(Click(player, live_table_id, round_id, table_version, session, idempotency_key, shows), alter)


def place_favourite(
    *,
    player: Player,
    live_table_id: int,
    round_id: UUID,
    favourite_id: int,
    table_version: int | None = None,
    session: UUID | None = None,
    idempotency_key: UUID | None = None,
    shows: bool = False,
) -> LiveSeat:
    """Add the bets of a favourite to the slip, all or nothing, and hold the new total.

    Raises what `add_chip` raises, NotOffered where the game has no favourites, and StalePage where
    the player has no such favourite for this game.
    """

    def place(betting: Betting) -> Slip:
        demand(betting.variant, Control.FAVOURITES)
        return betting.slip.lay(favourites.stakes_of(player, betting.variant, favourite_id))

    return _carry_out(Click(player, live_table_id, round_id, table_version, session, idempotency_key, shows), place)


def lay_slip(
    *,
    player: Player,
    live_table_id: int,
    round_id: UUID,
    stakes: Mapping[str, int],
    table_version: int | None = None,
    session: UUID | None = None,
) -> LiveSeat:
    """Add several bets, in minor units, to the slip, all or nothing, and hold the new total.

    The stakes need not be made of chips. Raises what `add_chip` raises.
    """
    if bad := [bet for bet, stake in stakes.items() if stake <= 0]:  # a negative stake would take off bets
        raise BadStake(*bad)

    def lay(betting: Betting) -> Slip:
        return betting.slip.lay(stakes)

    return _carry_out(Click(player, live_table_id, round_id, table_version, session, None), lay)


def _carry_out(click: Click, change: Callable[[Betting], Slip]) -> LiveSeat:
    registers.ask_where_due(click.player)
    bind_contextvars(round_id=str(click.round_id))
    try:
        try:
            while (seat := _change(click, change)) is None:
                pass  # another click of the player was faster
        except NotEligible:
            raise
        except (PlayError, SettlementError):
            _demand_eligible(click)  # which is the first thing to tell
            raise
    except (PlayError, SettlementError) as refusal:
        if not isinstance(refusal, NotEligible) and (seat := _done_before(click)):
            return seat
        data = {"reason": type(refusal).__name__, "round": str(click.round_id)}
        if isinstance(refusal, NotEligible):
            data["ineligibility"] = refusal.ineligibility.code.value
        log.record("bet.refused", by=str(click.player), on=f"live_table:{click.live_table_id}", data=data)
        raise
    return seat


def _done_before(click: Click) -> LiveSeat | None:
    """Return the seat if this click was already carried out and was sent again.

    A repeated click is recognised however late it comes. If the first one is still in progress,
    this waits for it.
    """
    if click.idempotency_key is None or not seats.is_done(click.player, click.live_table_id, click.idempotency_key):
        return None
    return LiveSeat.objects.get(player=click.player, live_table=click.live_table_id)


def _change(click: Click, change: Callable[[Betting], Slip]) -> LiveSeat | None:
    """Carry out a click and return the seat; None if the seat has changed since it was read."""
    betting = _read(click)
    if idempotency.is_done(betting.seat, click.idempotency_key):
        _demand_eligible(click)
        return betting.seat
    before, after = betting.slip, change(betting)
    if after == before:
        _demand_eligible(click)
        return betting.seat
    if any(stake > before.stakes.get(bet, 0) for bet, stake in after.stakes.items()):
        _demand_open(betting)
    if after.stakes:
        betting.variant.check(after.stakes)
        betting.limits.check(after.stakes)
    try:
        return seats.place(
            betting.seat,
            click.round_id,
            after,
            session=click.session,
            idempotency_key=click.idempotency_key,
            shows=click.shows,
        )
    except BetTooLate as late:
        raise _too_late(betting.seat.live_table) from late


def _read(click: Click) -> Betting:
    """Read the round and the seat of a click.

    Raises HouseStopped, TableWaits, BetTooLate, TablePaused, TableClosed, TableChanged, UnknownCurrency, and
    StalePage where there is no such table or the player has no seat.
    """
    found = seats.read(click.player, click.live_table_id, click.round_id)
    if found is None:
        raise StalePage
    if not found.sits:
        raise TableWaits(found.live_table.table.slug)
    if found.live_round is None:
        raise _too_late(found.live_table)
    if found.seat is None:
        raise StalePage
    variant, version = VARIANTS[found.live_table.table.variant], found.live_round.version
    if version.rules_digest != variant.digest:
        raise TableClosed
    if click.table_version not in (None, version.number):
        raise TableChanged
    refusal_here = None if found.is_played else OtherMoney(Mode(found.live_table.mode))
    return Betting(
        found.live_round,
        found.seat,
        variant,
        Limits.of(version.limits, found.seat.currency),
        refusal_here if found.is_eligible else NotEligibleHere(),
    )


def _too_late(live_table: LiveTable) -> PlayError:
    """Return why a table takes no bets now."""
    if house_stop.current():
        return HouseStopped()
    return TablePaused() if solo_seats.pauses(live_table.table, live_table.mode) else BetTooLate()


def _demand_eligible(click: Click) -> None:
    """Check that the player may play; a reality check does not matter while bets do not grow. Raises NotEligible."""
    mode = LiveTable.objects.filter(pk=click.live_table_id).values_list("mode", flat=True).first()
    found = eligibility.check_play(click.player, real=mode == Mode.REAL, session=click.session)
    if found and found.code is not eligibility.Code.CHECK:
        raise NotEligible(found)


def _demand_open(betting: Betting) -> None:
    """Check that the player may add to their bets; taking bets off is always allowed.

    Raises NotEligibleHere, OtherMoney, TableStopped.
    """
    if betting.refusal_here:
        raise betting.refusal_here
    if betting.seat.live_table.stopped_by_id is not None:
        raise TableStopped
