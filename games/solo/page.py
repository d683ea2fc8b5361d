"""Data for a player's solo table page: seat, limits and last round, read from the database."""

from uuid import UUID, uuid4

from django.db.models import prefetch_related_objects

from audit.raw_rows import columns, fetch_one, instance
from games.betting.controls import plays_on
from games.betting.error_messages import examined
from games.betting.limits import Limits
from games.betting.rules import lower_bet
from games.errors import TableClosed
from games.models import Participation, Round, SoloSeat, Table, TableVersion, Void
from games.rounds.unreadable import is_readable
from games.solo import seats
from games.tables.board import MINOR, Dealt, Seat, compose
from games.tables.presentation import GameView, Notice, PurseForms, PurseView, QuickView
from games.variants import VARIANTS
from wallet import house_stop
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode
from wallet.operator_wallet.operators import funds

QUICK = slice(3, 6)  # the chips that Re-buy offers as amounts

PARTICIPATION = f"""
SELECT {columns(Participation, "part")}, {columns(Round, "round")}, {columns(TableVersion, "version")},
    {columns(Table, "seat")}, {columns(Void, "void")}
FROM games_participation AS part
JOIN games_round AS round ON round.id = part.round_id
JOIN games_tableversion AS version ON version.id = round.table_version_id
JOIN games_table AS seat ON seat.id = version.table_id
LEFT JOIN games_void AS void ON void.round_id = round.id
WHERE part.round_id = %s AND part.player_id = %s
"""  # noqa: S608  (nothing but names of our own columns)


def game_view(
    solo_seat: SoloSeat,
    *,
    language: str,
    notice: Notice | None = None,
    shown: UUID | None = None,
    fresh: bool = False,
) -> GameView:
    """Return everything inside ``#game`` for this seat.

    *shown* is the round whose cards are on the table (default: the last one played here). *fresh*
    means that the reader has not seen it yet.
    """
    variant, mode = VARIANTS[solo_seat.table.variant], Mode(solo_seat.mode)
    limits, is_stopped = table_limits(solo_seat), house_stop.current() is not None
    takes_bets, is_paused = seats.as_shown(solo_seat.table, mode, is_house_stopped=is_stopped)
    on_stage = shown or solo_seat.last_round
    part = participation(on_stage, solo_seat.player.pk) if on_stage else None
    if part and hasattr(part.round, "void"):
        part = None  # a void round has no result to show
    if part and not is_readable(part):
        notice = notice or examined(part)
        part = None
    has = funds(solo_seat.player, mode, plays_on(variant))
    seat = Seat(
        variant=variant,
        limits=limits,
        mode=mode,
        takes_bets=takes_bets,
        is_paused=is_paused,
        is_house_stopped=is_stopped,
        table_version=solo_seat.table.version.number if solo_seat.table.version else 0,
        round_id=solo_seat.round_id,
        commitment=solo_seat.commitment,
        slip=solo_seat.slip,
        slip_version=solo_seat.slip_version,
        can_undo=bool(solo_seat.undo),
        last_stakes=solo_seat.last_stakes,
        last_chip=solo_seat.last_chip,
        player_value=solo_seat.player_value,
        funds=has,
    )
    return compose(
        seat,
        language=language,
        notice=notice,
        dealt=dealt(part) if part else None,
        is_last=on_stage == solo_seat.last_round,
        fresh=fresh,
        purse=purse_view(solo_seat, limits, has) if plays_on(variant) is AccountKind.PURSE else None,
    )


def dealt(part: Participation) -> Dealt:
    """Convert a stored round into plain values."""
    return Dealt(
        id=part.round_id,
        code=part.round.code,
        cards=part.round.cards,
        staked=part.staked,
        paid=part.paid,
        balance_before=part.balance_before,
        balance_after=part.balance_after,
        bets={wager.bet: wager for wager in part.wagers.all()},
    )


def purse_forms(player_id: int, mode: Mode, limits: Limits) -> PurseForms:
    """Return the forms that move money into and out of a game with its own balance."""
    return PurseForms(
        account=accounts.balance(player_id, mode),
        quick=tuple(QuickView(chip, chip // MINOR) for chip in limits.chips[QUICK]),
        key=uuid4(),
        leave_key=uuid4(),
    )


def purse_view(solo_seat: SoloSeat, limits: Limits, funds: int) -> PurseView:
    """Return what is shown next to the balance of a game with its own balance."""
    return PurseView(
        **vars(purse_forms(solo_seat.player_id, Mode(solo_seat.mode), limits)),
        is_short=sum(solo_seat.slip.values()) > funds,
        is_empty=funds < limits.lowest,
        lower_total=sum(lower_bet(solo_seat.slip, limits, funds).values()),
    )


def table_limits(solo_seat: SoloSeat) -> Limits:
    """Return the limits in force at a seat, in its player's currency.

    Raises TableClosed if the table never went live.
    """
    if solo_seat.table.version is None:
        raise TableClosed
    return Limits.of(solo_seat.table.version.limits, solo_seat.player.currency)


def participation(round_id: UUID, player_id: int) -> Participation | None:
    """Return a player's part in a round with everything shown of it, or None if it is not theirs."""
    row = fetch_one(PARTICIPATION, [round_id, player_id])
    if row is None:
        return None
    part, played = instance(Participation, row), instance(Round, row)
    version, table, void = instance(TableVersion, row), instance(Table, row), instance(Void, row)
    part.round, played.table_version, version.table = played, version, table
    Round._meta.get_field("void").set_cached_value(played, void if void.pk else None)
    prefetch_related_objects([part], "wagers")
    return part
