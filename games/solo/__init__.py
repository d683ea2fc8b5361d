"""Solo play: the player's seat at a table, the bet slip and the transaction that plays a round.

PostgreSQL decides everything. A round is either stored whole (cards, wagers, ledger, event) or did
not happen. The round id is drawn before the click, so a repeated click finds the existing round and
does not play another.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import transaction
from structlog.contextvars import bind_contextvars

from audit import log
from games import rounds
from games.betting import idempotency
from games.betting.controls import CONTROL_OF, Change, Deal, bets_stand, demand, demand_deal, plays_on
from games.betting.eligibility import demand_served
from games.betting.limits import Limits
from games.betting.rules import Slip, changed, check_change, stakes_of
from games.engine.bets import Control
from games.engine.coup import deal
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.errors import (
    BalanceTooLow,
    Barred,
    HouseStopped,
    OverLimit,
    PlayError,
    SlipChanged,
    StalePage,
    TableChanged,
    TableClosed,
    TablePaused,
    TableWaits,
    UnknownChip,
)
from games.models import NextRound, Participation, Shape, Table, TableVersion
from games.rounds import FinishedRound
from games.seeds import unseal
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
    place: NextRound


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
    how: Deal = Deal.AS_IT_LIES
    bets: Mapping[str, int] | None = None
    player_value: str = ""
    session: UUID | None = None


def place_at(*, player: Player, table_id: int, mode: Mode) -> NextRound:
    """Return the player's seat at a table; create it on the first visit.

    The seat commits to a round before anything can be staked on it. If the game has a purse, the
    visit marks the purse as used.

    Raises Barred, NotServed, OtherMoney, TableClosed if there is no seat yet and the player may not
    play there.
    """
    while (found := seats.read(player, table_id, mode)) is None:
        _take_place(player, table_id, mode)
    if plays_on(VARIANTS[found.table.variant]) is AccountKind.PURSE:
        seats.touch(found)
    return found


def open_table(*, player: Player, table_id: int, mode: Mode) -> NextRound:
    """Return the player's seat at the table whose page they open.

    If the jurisdiction allows play at only one table at a time, this table becomes that table.
    """
    place = place_at(player=player, table_id=table_id, mode=mode)
    if not player.jurisdiction.may_play_in_parallel:
        seats.sit(player, table_id, mode)
    return place


@transaction.atomic
def _take_place(player: Player, table_id: int, mode: Mode) -> None:
    """Create the seat and the account that the game plays on.

    Shared tables have no such seats. Raises Barred, NotServed, OtherMoney, TableClosed.
    """
    bar = eligibility.bar_to_play(player, real=mode is Mode.REAL)
    if bar and bar.code is not eligibility.Code.CHECK:  # answered at the table
        raise Barred(bar)
    table = Table.objects.select_related("version").get(pk=table_id, shape=Shape.SOLO)
    demand_served(table.version, player, mode)
    if plays_on(VARIANTS[table.variant]) is AccountKind.PURSE:
        accounts.open_purse(player, mode)
    seats.take(player, table_id, mode)


@transaction.atomic
def add_chip(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    bet: str,
    chip: int,
    table_version: int | None = None,
    mark: UUID | None = None,
) -> NextRound:
    """Put one chip on a bet of the slip.

    *table_version* is the version number that the player was shown, here and below; None for
    callers that show nothing. *mark* is the idempotency key of the click
    (`games.betting.idempotency`).

    Raises HouseStopped, Barred, TableWaits, NotServed, OtherMoney, TablePaused, TableClosed,
    TableChanged, UnknownChip, OverMaximum, BalanceTooLow, or an engine's SettlementError if the
    bets exclude each other.
    """
    locked = _locked_place(player, table_id, mode)
    place = locked.place
    if idempotency.is_done(place, mark):
        return place
    _demand_open(locked)
    _check_version(place, table_version)
    limits = _limits(place)
    if chip not in limits.chips:
        raise UnknownChip
    place.last_chip = chip
    return _keep(locked, _slip(place).add(bet, chip), limits, mark)


@transaction.atomic
def take_chip(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    bet: str,
    chip: int,
    table_version: int | None = None,
    mark: UUID | None = None,
) -> NextRound:
    """Take one chip off a bet, or the whole bet if it is smaller. Also works at a closed table.

    Raises TableWaits, TableChanged, NotOffered, UnknownChip.
    """
    locked = _locked_place(player, table_id, mode)
    place = locked.place
    if idempotency.is_done(place, mark):
        return place
    _check_version(place, table_version)
    demand(VARIANTS[place.table.variant], Control.TAKE_OFF)
    limits = _limits(place)
    if chip not in limits.chips:
        raise UnknownChip
    place.last_chip = chip
    return _keep(locked, _slip(place).take(bet, chip), limits, mark)


@transaction.atomic
def change_slip(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    change: Change,
    table_version: int | None = None,
    mark: UUID | None = None,
) -> NextRound:
    """Undo, clear, double, rebet or lower the slip.

    If the table is closed or paused, or the house is stopped, bets can only be removed. Raises what
    `add_chip` raises, NothingToRepeat, and NotOffered if the game has no such control.
    """
    locked = _locked_place(player, table_id, mode)
    place = locked.place
    if idempotency.is_done(place, mark):
        return place
    _check_version(place, table_version)
    demand(VARIANTS[place.table.variant], CONTROL_OF[change])
    limits = _limits(place)
    slip = changed(_slip(place), change, last_stakes=place.last_stakes, limits=limits, funds=partial(_funds, place))
    return _keep(locked, slip, limits, mark)


def play_round(
    *,
    player: Player,
    table_id: int,
    mode: Mode,
    round_id: UUID,
    slip_version: int | None,
    table_version: int | None = None,
    how: Deal = Deal.AS_IT_LIES,
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

    Raises HouseStopped, Barred, TableWaits, NotServed, OtherMoney, TablePaused, TableClosed,
    StalePage, TableChanged, SlipChanged, NothingStaked, NothingToRepeat, UnderMinimum, OverMaximum,
    StakeOffStep, BalanceTooLow, OverLimit.
    """
    registers.ask_where_due(click.player)
    with on_record(click):
        return play_within(click)


@contextmanager
def on_record(click: Click) -> Iterator[None]:
    """Record a refusal raised inside, in a separate transaction because the refused one rolls back."""
    bind_contextvars(round_id=str(click.round_id))
    try:
        yield
    except PlayError as refusal:
        data = {"reason": type(refusal).__name__, "round": str(click.round_id)}
        if isinstance(refusal, Barred):
            data["bar"] = refusal.bar.code.value
        log.record("round.refused", by=f"player:{click.player.pk}", on=f"table:{click.table_id}", data=data)
        raise


@transaction.atomic
def asked_stake(click: Click) -> int | None:
    """Return the stake of a click in minor units, or None if its round was already played.

    Does not check the balance. Raises what `play` raises except BalanceTooLow.
    """
    locked = _locked(click.player, click.table_id, click.mode, click.session)
    if locked.place.round_id != click.round_id:
        _played_before(click)
        return None
    staked = sum(_stakes(locked, click).values())
    if locked.room is not None and staked > locked.room.left:
        raise OverLimit(locked.room)
    return staked


@transaction.atomic
def play_within(click: Click) -> Played:
    """Do what `play` does, in the caller's transaction if there is one."""
    locked = _locked(click.player, click.table_id, click.mode, click.session)
    place, room = locked.place, locked.room
    if place.round_id != click.round_id:
        return Played(_played_before(click), repeated=True, place=place)
    stakes, variant = _stakes(locked, click), VARIANTS[place.table.variant]
    # These checks come before the seed is unsealed. A refused round remains the next one; if it were dealt first,
    # the time until the refusal would reveal its cards.
    staked = sum(stakes.values())
    if staked > locked.balance - locked.held:
        raise BalanceTooLow
    if room is not None and staked > room.left:
        raise OverLimit(room)

    seed = unseal(click.round_id, bytes(place.sealed_seed))
    coup = deal(shuffle(seed, variant.decks, click.player_value))
    settlement = settle(variant, coup, stakes)
    finished = FinishedRound(
        round_id=click.round_id,
        version=_version(place),
        mode=click.mode,
        commitment=place.commitment,
        seed=seed,
        player_value=click.player_value,
        coup=coup,
        settlement=settlement,
        player=click.player,
        account_id=locked.account_id,
        balance_before=locked.balance,
        session=click.session,
    )
    seats.succeed(place, last_stakes=stakes, standing=stakes if bets_stand(variant) else {})
    try:
        rounds.finish(finished, place)
    except LimitReached as reached:  # a stake on the player's other account used up the limit after the check
        raise OverLimit(reached) from reached
    return Played(click.round_id, repeated=False, place=place)


def _stakes(locked: seats.Locked, click: Click) -> Mapping[str, int]:
    """Return the stakes of the click after every check except those of balance and player limits."""
    place = locked.place
    if locked.bar:
        raise Barred(eligibility.bar(click.player, eligibility.Code(locked.bar)))
    if not locked.sits:
        raise TableWaits(place.table.slug)
    _demand_open(locked)
    _check_version(place, click.table_version)
    if click.bets is None and place.slip_version != click.slip_version:
        raise SlipChanged
    variant = VARIANTS[place.table.variant]
    demand_deal(variant, click.how)
    slip = _slip(place) if click.bets is None else Slip(click.bets)
    return stakes_of(slip, click.how, last_stakes=place.last_stakes, variant=variant, limits=_limits(place))


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


def _locked(player: Player, table_id: int, mode: Mode, session: UUID | None = None) -> seats.Locked:
    """Return the seat with its row and the account row locked. Raises StalePage if there is no seat."""
    locked = seats.lock(player, table_id, mode, session)
    if locked is None:
        raise StalePage
    return locked


def _locked_place(player: Player, table_id: int, mode: Mode) -> seats.Locked:
    """Return the locked seat if the player may play there. Raises StalePage, Barred, TableWaits."""
    locked = _locked(player, table_id, mode)
    if locked.bar:
        raise Barred(eligibility.bar(player, eligibility.Code(locked.bar)))
    if not locked.sits:
        raise TableWaits(locked.place.table.slug)
    return locked


def _demand_open(locked: seats.Locked) -> None:
    """Require a table that takes bets from the player.

    Raises HouseStopped, NotServed, OtherMoney, TablePaused, TableClosed (`seats.takes_bets`).
    """
    if locked.is_stopped:
        raise HouseStopped
    table, mode = locked.place.table, Mode(locked.place.mode)
    demand_served(table.version, locked.place.player, mode)
    if seats.pauses(table, mode):
        raise TablePaused
    if not seats.takes_bets(table, mode):
        raise TableClosed


def _check_version(place: NextRound, shown: int | None) -> None:
    """Refuse a click that was made under other limits or rules, before any money moves (GLI-19
    v3.0, A.5.1).

    Raises TableChanged, TableClosed.
    """
    if shown is not None and shown != _version(place).number:
        raise TableChanged


def _keep(locked: seats.Locked, slip: Slip, limits: Limits, mark: UUID | None) -> NextRound:
    """Check and store a changed slip. A player who may no longer play here can only remove bets."""
    place, before = locked.place, _slip(locked.place)
    if slip.total > before.total:
        _demand_open(locked)
    check_change(before, slip, variant=VARIANTS[place.table.variant], limits=limits, funds=partial(_funds, place))
    place.slip, place.undo = dict(slip.stakes), [dict(stakes) for stakes in slip.earlier]
    place.slip_version += 1
    idempotency.note(place, mark)
    place.save(update_fields=["slip", "undo", "slip_version", "last_chip", "marks"])
    return place


def _funds(place: NextRound) -> int:
    """Return what the player can play with here, in minor units."""
    return funds(place.player, Mode(place.mode), plays_on(VARIANTS[place.table.variant]))


def _slip(place: NextRound) -> Slip:
    return Slip(place.slip, tuple(place.undo))


def _limits(place: NextRound) -> Limits:
    return Limits.of(_version(place).limits, place.player.currency)


def _version(place: NextRound) -> TableVersion:
    if place.table.version is None:
        raise TableClosed
    return place.table.version
