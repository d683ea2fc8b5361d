"""Solo play: the player's seat at a table, the bet slip and the transaction that plays a round.

PostgreSQL decides everything. A round is either stored whole (cards, wagers, ledger, event) or did
not happen. The round id is drawn before the click, so a repeated click finds the existing round and
does not play another.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import transaction
from structlog.contextvars import bind_contextvars

from audit import log
from audit.prepared import transaction_or_savepoint
from games import rounds
from games.betting import idempotency
from games.betting.eligibility import demand_eligible_here, uses_operator_wallet
from games.betting.limits import Limits
from games.betting.rules import (
    CONTROL_OF,
    Change,
    Deal,
    Slip,
    bets_stand,
    changed,
    check_change,
    demand,
    demand_deal,
    plays_on,
    stakes_of,
)
from games.deals import Reason, deal
from games.engine.commitments import Purpose
from games.engine.settle import settle
from games.errors import (
    BalanceTooLow,
    CommitmentSpent,
    DealerAway,
    GameTooSoon,
    HouseStopped,
    NotEligible,
    OverLimit,
    PlayError,
    RoundElsewhere,
    SlipChanged,
    StalePage,
    TableChanged,
    TableClosed,
    TablePaused,
    TableWaits,
    UnknownChip,
)
from games.models import Participation, Shape, SoloSeat, Table, TableVersion
from games.rounds import FinishedRound
from games.rounds.database_refusals import RoundRefused
from games.rounds.receipts import Written
from games.solo import seats
from games.variants import VARIANTS
from players.models import Player
from players.protection import eligibility, registers
from wallet.ledger import LimitReached, accounts
from wallet.models import AccountKind, Mode
from wallet.operator_wallet.operators import funds


@dataclass(frozen=True)
class Played:
    """A finished round, and the seat, which is already committed to the next round.

    *repeated* is true if an earlier request played the round.
    """

    round_id: UUID
    repeated: bool
    seat: SoloSeat
    finished: FinishedRound | None = None  # None where it was played before
    receipt: Written | None = None  # None where another transaction goes on, too
    at: datetime | None = None  # of the round, by the database


@dataclass(frozen=True)
class Click:
    """A click on DEAL.

    *bets* (bet to minor units) replaces the slip; *slip_version* is then ignored.
    """

    player: Player
    table_id: int
    mode: Mode
    round_id: UUID
    slip_version: int | None
    table_version: int | None = None
    how: Deal = Deal.AS_PLACED
    bets: Mapping[str, int] | None = None
    player_value: str = ""
    session: UUID | None = None


def solo_seat_at(*, player: Player, table_id: int, mode: Mode) -> SoloSeat:
    """Return the player's seat at a table; create it on the first visit.

    The seat commits to a round before anything can be staked on it. If the rules of the table have
    changed, it commits to another one. If the game has a purse, the visit marks the purse as used.

    Raises NotEligible, NotEligibleHere, OtherMoney, TableClosed, DealerAway if there is no seat yet and the
    player may not play there.
    """
    while (found := seats.read(player, table_id, mode)) is None:
        _take_seat(player, table_id, mode)
    if seats.is_of_other_rules(found):
        found = _renewed(found, Reason.RULES if found.rules_digest else Reason.RESTORED)
    if plays_on(VARIANTS[found.table.variant]) is AccountKind.PURSE:
        seats.touch(found)
    return found


def open_table(*, player: Player, table_id: int, mode: Mode) -> SoloSeat:
    """Return the player's seat at the table whose page they open.

    If the jurisdiction allows play at only one table at a time, this table becomes that table.
    """
    seat = solo_seat_at(player=player, table_id=table_id, mode=mode)
    if not player.jurisdiction.may_play_in_parallel:
        seats.sit(player, table_id, mode)
    return seat


@transaction.atomic
def _take_seat(player: Player, table_id: int, mode: Mode) -> None:
    """Create the seat and the account that the game plays on.

    Shared tables have no such seats. Raises NotEligible, NotEligibleHere, OtherMoney, TableClosed, DealerAway.
    """
    ineligibility = eligibility.check_play(player, real=mode is Mode.REAL)
    if ineligibility and ineligibility.code is not eligibility.Code.CHECK:  # answered at the table
        raise NotEligible(ineligibility)
    table = Table.objects.select_related("version").get(pk=table_id, shape=Shape.SOLO)
    demand_eligible_here(table.version, player, mode)
    if plays_on(VARIANTS[table.variant]) is AccountKind.PURSE:
        accounts.open_purse(player, mode)
    seats.take(player, table, mode)


def _renewed(seat: SoloSeat, reason: Reason, proof: bytes = b"") -> SoloSeat:
    """Commit a seat to another round and return it. It stays as it is while the dealer is away, or if the
    table has just changed.
    """
    with suppress(DealerAway, RoundRefused):
        seats.renew(seat, reason, proof)
    return seats.read(seat.player, seat.table_id, Mode(seat.mode)) or seat


@transaction.atomic
def add_chip(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    bet: str,
    chip: int,
    table_version: int | None = None,
    idempotency_key: UUID | None = None,
    session: UUID | None = None,
) -> SoloSeat:
    """Put one chip on a bet of the slip.

    *table_version* is the version number that the player was shown, here and below; None for
    callers that show nothing. *idempotency_key*: see `games.betting.idempotency`.

    Raises HouseStopped, NotEligible, TableWaits, NotEligibleHere, OtherMoney, TablePaused, TableClosed,
    TableChanged, UnknownChip, OverMaximum, BalanceTooLow, or an engine's SettlementError if the
    bets exclude each other.
    """
    locked = _locked_seat(player, table_id, mode, session)
    seat = locked.seat
    if idempotency.is_done(seat, idempotency_key):
        return seat
    _demand_open(locked)
    _check_version(seat, table_version)
    limits = _limits(seat)
    if chip not in limits.chips:
        raise UnknownChip
    seat.last_chip = chip
    return _keep(locked, _slip(seat).add(bet, chip), limits, idempotency_key)


@transaction.atomic
def take_chip(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    bet: str,
    chip: int,
    table_version: int | None = None,
    idempotency_key: UUID | None = None,
    session: UUID | None = None,
) -> SoloSeat:
    """Take one chip off a bet, or the whole bet if it is smaller. Also works at a closed table.

    Raises TableWaits, TableChanged, UnknownChip.
    """
    locked = _locked_seat(player, table_id, mode, session)
    seat = locked.seat
    if idempotency.is_done(seat, idempotency_key):
        return seat
    _check_version(seat, table_version)
    limits = _limits(seat)
    if chip not in limits.chips:
        raise UnknownChip
    seat.last_chip = chip
    return _keep(locked, _slip(seat).take(bet, chip), limits, idempotency_key)


@transaction.atomic
def change_slip(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    change: Change,
    table_version: int | None = None,
    idempotency_key: UUID | None = None,
    session: UUID | None = None,
) -> SoloSeat:
    """Undo, clear, double, rebet or lower the slip.

    If the table is closed or paused, or the house is stopped, bets can only be removed. Raises what
    `add_chip` raises, NothingToRepeat, and NotOffered if the game has no such control.
    """
    locked = _locked_seat(player, table_id, mode, session)
    seat = locked.seat
    if idempotency.is_done(seat, idempotency_key):
        return seat
    _check_version(seat, table_version)
    demand(VARIANTS[seat.table.variant], CONTROL_OF[change])
    limits = _limits(seat)
    slip = changed(_slip(seat), change, last_stakes=seat.last_stakes, limits=limits, funds=partial(_funds, locked))
    return _keep(locked, slip, limits, idempotency_key)


def play_round(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    round_id: UUID,
    slip_version: int | None,
    table_version: int | None = None,
    how: Deal = Deal.AS_PLACED,
    bets: Mapping[str, int] | None = None,
    player_value: str = "",
    session: UUID | None = None,
) -> Played:
    """Stake the slip, deal, settle and pay: `play` with a `Click` of these values."""
    return play(
        Click(
            player=player,
            table_id=table_id,
            mode=mode,
            round_id=round_id,
            slip_version=slip_version,
            table_version=table_version,
            how=how,
            bets=bets,
            player_value=player_value,
            session=session,
        )
    )


def play(click: Click) -> Played:
    """Stake the slip, deal, settle and pay. Repeating a round returns it and moves no money.

    Raises HouseStopped, NotEligible, TableWaits, RoundElsewhere, NotEligibleHere, OtherMoney, TablePaused, TableClosed,
    StalePage, TableChanged, SlipChanged, NothingStaked, NothingToRepeat, UnderMinimum, OverMaximum,
    StakeOffStep, GameTooSoon, BalanceTooLow, OverLimit, DealerAway, CommitmentSpent, and RoundRefused if the
    round does not follow from what is stored.
    """
    registers.ask_where_due(click.player)
    with on_record(click):
        return play_within(click)


@contextmanager
def on_record(click: Click) -> Iterator[None]:
    """Record a refusal raised inside, in a separate transaction because the refused one rolls back.

    If the dealer does not deal the round, the seat is committed to another one.
    """
    bind_contextvars(round_id=str(click.round_id))
    try:
        yield
    except (PlayError, RoundRefused) as refusal:
        data = {"reason": type(refusal).__name__, "round": str(click.round_id)}
        if isinstance(refusal, NotEligible):
            data["ineligibility"] = refusal.ineligibility.code.value
        log.record("round.refused", by=f"player:{click.player.pk}", on=f"table:{click.table_id}", data=data)
        if isinstance(refusal, CommitmentSpent):
            _renew_spent(click, refusal)
        raise


def _renew_spent(click: Click, spent: CommitmentSpent) -> None:
    """Commit the seat to another round, unless it is committed to another one already."""
    seat = seats.read(click.player, click.table_id, click.mode)
    if seat is not None and seat.round_id == click.round_id:
        _renewed(seat, Reason(spent.reason), spent.proof)


@transaction.atomic
def asked_stake(click: Click) -> int | None:
    """Return the stake of a click in minor units, or None if its round was already played.

    Does not check the balance. Raises what `play` raises except BalanceTooLow.
    """
    locked = _locked(click.player, click.table_id, click.mode, click.session)
    if locked.seat.round_id != click.round_id:
        _played_before(click)
        return None
    staked = sum(_stakes(locked, click).values())
    if locked.room is not None and staked > locked.room.left:
        raise OverLimit(locked.room)
    return staked


@transaction_or_savepoint()
def play_within(click: Click) -> Played:
    """Do what `play` does, in the caller's transaction if there is one."""
    locked = _locked(click.player, click.table_id, click.mode, click.session, deals=True)
    seat, room = locked.seat, locked.room
    if seat.round_id != click.round_id:
        return Played(_played_before(click), repeated=True, seat=seat)
    stakes, variant = _stakes(locked, click), VARIANTS[seat.table.variant]
    # These checks come before the deal. A refused round remains the next one, and the dealer deals it for these
    # stakes only.
    staked = sum(stakes.values())
    if staked > locked.balance - locked.held:
        raise BalanceTooLow
    if room is not None and staked > room.left:
        raise OverLimit(room)

    dealt = deal(
        Purpose.SOLO,
        seats.committed(seat),
        table_id=click.table_id,
        variant=variant,
        player_value=click.player_value,
        stakes=stakes,
    )
    settlement = settle(variant, dealt.coup, stakes)
    finished = FinishedRound(
        round_id=click.round_id,
        commitment=seat.commitment,
        version=_version(seat),
        mode=click.mode,
        deal=dealt,
        player_value=click.player_value,
        settlement=settlement,
        player=click.player,
        account_id=locked.account_id,
        balance=locked.balance,
        session=click.session,
    )
    seats.succeed(seat, dealt.following, last_stakes=stakes, remaining=stakes if bets_stand(variant) else {})
    try:
        stored = rounds.finish(finished, seat)
    except LimitReached as reached:  # a stake on the player's other account used up the limit after the check
        raise OverLimit(reached) from reached
    seat.known = seat.known._replace(balance=stored.balance, play_session=stored.play_session)
    seat.wait = click.player.jurisdiction.seconds_between_games if click.mode is Mode.REAL else 0
    return Played(click.round_id, repeated=False, seat=seat, finished=finished, receipt=stored.receipt, at=stored.at)


def _stakes(locked: seats.Locked, click: Click) -> Mapping[str, int]:
    """Return the stakes of the click after every check except those of balance and player limits."""
    seat = locked.seat
    if locked.ineligibility:
        raise NotEligible(eligibility.explain(click.player, eligibility.Code(locked.ineligibility)))
    if not locked.sits:
        raise TableWaits(seat.table.slug)
    if locked.elsewhere:
        raise RoundElsewhere(locked.elsewhere)
    _demand_open(locked)
    _check_version(seat, click.table_version)
    if click.bets is None and seat.slip_version != click.slip_version:
        raise SlipChanged
    variant = VARIANTS[seat.table.variant]
    demand_deal(variant, click.how)
    slip = _slip(seat) if click.bets is None else Slip(click.bets)
    stakes = stakes_of(slip, click.how, last_stakes=seat.last_stakes, variant=variant, limits=_limits(seat))
    if seat.wait:
        raise GameTooSoon(seat.wait)
    return stakes


def _played_before(click: Click) -> UUID:
    """Return the click's round id if this player has played it here. Raises StalePage."""
    theirs = Participation.objects.filter(
        round_id=click.round_id,
        player=click.player,
        mode=click.mode,
        round__table_version__table_id=click.table_id,
    )
    if not theirs.exists():
        raise StalePage
    return click.round_id


def _locked(
    player: Player, table_id: int, mode: Mode, session: UUID | None = None, *, deals: bool = False
) -> seats.Locked:
    """Return the seat with its row and the account row locked (`seats.lock`). Raises StalePage if there is no seat."""
    locked = seats.lock(player, table_id, mode, session, deals=deals)
    if locked is None:
        raise StalePage
    return locked


def _locked_seat(player: Player, table_id: int, mode: Mode, session: UUID | None) -> seats.Locked:
    """Return the locked seat if the player may play there; a due reality check only prevents the deal.

    Raises StalePage, NotEligible, TableWaits.
    """
    locked = _locked(player, table_id, mode, session)
    if locked.ineligibility and locked.ineligibility != eligibility.Code.CHECK:
        raise NotEligible(eligibility.explain(player, eligibility.Code(locked.ineligibility)))
    if not locked.sits:
        raise TableWaits(locked.seat.table.slug)
    return locked


def _demand_open(locked: seats.Locked) -> None:
    """Require a table that takes bets from the player.

    Raises HouseStopped, NotEligibleHere, OtherMoney, TablePaused, TableClosed (`seats.takes_bets`).
    """
    if locked.is_stopped:
        raise HouseStopped
    table, mode = locked.seat.table, Mode(locked.seat.mode)
    demand_eligible_here(table.version, locked.seat.player, mode)
    if seats.pauses(table, mode):
        raise TablePaused
    if not seats.takes_bets(table, mode):
        raise TableClosed


def _check_version(seat: SoloSeat, shown: int | None) -> None:
    """Refuse a click that was made under other limits or rules, before any money moves (GLI-19
    v3.0, A.5.1).

    Raises TableChanged, TableClosed.
    """
    if shown is not None and shown != _version(seat).number:
        raise TableChanged


def _keep(locked: seats.Locked, slip: Slip, limits: Limits, idempotency_key: UUID | None) -> SoloSeat:
    """Check and store a changed slip. A player who may no longer play here can only remove bets."""
    seat, before = locked.seat, _slip(locked.seat)
    if slip.total > before.total:
        _demand_open(locked)
    check_change(before, slip, variant=VARIANTS[seat.table.variant], limits=limits, funds=partial(_funds, locked))
    seat.slip, seat.undo = dict(slip.stakes), [dict(stakes) for stakes in slip.earlier]
    seat.slip_version += 1
    idempotency.add_key(seat, idempotency_key)
    seats.keep_slip(seat)
    return seat


def _funds(locked: seats.Locked) -> int:
    """Return what the player can play with here, in minor units."""
    seat = locked.seat
    if uses_operator_wallet(seat.player, Mode(seat.mode)):
        return funds(seat.player, Mode(seat.mode), plays_on(VARIANTS[seat.table.variant]))
    return locked.balance


def _slip(seat: SoloSeat) -> Slip:
    return Slip(seat.slip, tuple(seat.undo))


def _limits(seat: SoloSeat) -> Limits:
    return Limits.at(_version(seat), seat.player.currency)


def _version(seat: SoloSeat) -> TableVersion:
    version = seat.table.version
    if version is None:
        raise TableClosed
    return version
