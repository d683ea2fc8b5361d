"""Contents of a solo table's page and of the answer to each click, and their data, read from the database."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.functional import Promise

from audit.raw_rows import columns, fetch_one, instance
from games.betting.eligibility import uses_operator_wallet
from games.betting.error_messages import examined
from games.betting.limits import Limits
from games.betting.rules import bets_stand, lower_bet, plays_on
from games.deals import trusted_keys
from games.errors import TableClosed
from games.models import Participation, Round, SoloSeat, Table, TableVersion, Void, Wager
from games.models.rounds import round_code
from games.rounds import FinishedRound, receipts
from games.rounds.verification_queue import is_readable
from games.solo import Played, seats
from games.tables.board import MINOR, Dealt, Seat, compose
from games.tables.fragments import render_fragment
from games.tables.presentation import GameView, Notice, PurseForms, PurseView, QuickView, SignedDeal
from games.variants import VARIANTS
from players.models import Player
from players.protection.play_sessions import PlaySessionState
from wallet import house_stop
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode
from wallet.operator_wallet.operators import funds


@dataclass(frozen=True)
class PlaySessionView:
    """A play session in one mode. Amounts in minor units."""

    now: datetime
    clock: str  # the time of day where the player is
    zone: str
    began: datetime
    lasted: str  # hours, minutes and seconds: "1:05:09"
    rounds: int
    staked: int
    paid: int
    net: int
    net_dealing: int  # net while a fresh round is dealt: stakes deducted, payouts not yet added
    currency: str
    is_free: bool
    is_check_due: bool


def play_session_view(
    play_session: PlaySessionState, player: Player, mode: Mode, game: GameView | None = None
) -> PlaySessionView:
    """Return a play session as the page shows it; *game* is what a solo table is about to deal."""
    zone, is_free = player.jurisdiction.time_zone, mode is Mode.FREE
    net = play_session.net_free if is_free else play_session.net_real
    minutes, seconds = divmod(int(play_session.lasted.total_seconds()), 60)
    return PlaySessionView(
        now=play_session.now,
        clock=f"{play_session.now.astimezone(ZoneInfo(zone)):%H:%M}",
        zone=zone,
        began=play_session.began,
        lasted=f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}",
        rounds=play_session.rounds,
        staked=play_session.staked_free if is_free else play_session.staked_real,
        paid=play_session.paid_free if is_free else play_session.paid_real,
        net=net,
        net_dealing=net - (game.round.paid if game and game.round and game.round.fresh else 0),
        currency=player.currency,
        is_free=is_free,
        is_check_due=play_session.is_check_due,
    )


NO_ROUND: Final = "none"  # `SoloPage.stage` of a table at which no round was played


@dataclass(frozen=True)
class BalanceThere:
    """The balance that the operator reported last, in minor units.

    *is_waiting* means that the operator has not yet been notified of a round; the page then asks
    again.
    """

    amount: int
    currency: str
    is_waiting: bool
    address: str


@dataclass(frozen=True)
class DemoView:
    """Additions to the page for a visitor: the link to check the last round, and a refill button."""

    check_url: str
    can_refill: bool


@dataclass(frozen=True)
class SoloPage:
    """A solo table as its reader sees it."""

    game: GameView
    slug: str
    play_url: str
    csrf_token: str | Promise
    session: PlaySessionView | None = None
    there: BalanceThere | None = None  # the money is held by an operator
    notices: tuple[Notice, ...] = ()  # results that the player has not been shown yet
    idempotency_key: UUID | None = None  # with script, each click makes its own
    demo: DemoView | None = None
    page_stage: str = ""  # the `stage` that the answer leaves to the page, which has it already
    is_quiet: bool = False  # whether there is nothing to announce: no house stop, no notice of staff
    wait: float = 0  # seconds until another game may begin here
    may_hurry: bool = True  # whether a click shows the rest of a deal at once

    @property
    def dealer_keys(self) -> str:
        """The public keys of the dealer, in hex, separated by spaces."""
        return " ".join(trusted_keys())

    @property
    def mode(self) -> Literal["R", "F"]:
        """The kind of money."""
        return self.game.mode

    @property
    def mode_word(self) -> str:
        """The kind of money, as style sheets name it."""
        return "real" if self.game.mode == "R" else "free"

    @property
    def layout(self) -> str:
        """A key of what answers leave as the page has it: limits, chips, and which bets can be placed."""
        game = self.game
        return layout_key(game.table_version, is_open=game.is_open, is_paused=game.is_paused, is_halted=game.is_halted)

    @property
    def stage(self) -> str:
        """A key of the empty stage: the last round, of which nothing is shown any more; "" while a notice or
        cards are shown. Answers to chips leave stage and call to a page that has nothing on them after the same round.
        """
        if self.game.notice or self.notices or self.is_fresh or self.game.settled:
            return ""
        return self.page_stage or (str(self.game.round.id) if self.game.round else NO_ROUND)

    @property
    def buttons(self) -> str:
        """A key of the buttons' state. Answers leave them to a page that has them in the same state."""
        game = self.game
        if game.purse and (game.purse.is_short or game.purse.is_empty):
            return ""  # the offer to re-buy appears after the deal: it is always sent
        states = (game.can_undo, game.can_clear, game.can_double, game.can_rebet, game.can_deal)
        return "".join(str(int(state)) for state in (*states, self.demo is not None and self.demo.can_refill))

    @property
    def is_fresh(self) -> bool:
        """True if the cards are dealt one by one."""
        return self.game.round is not None and self.game.round.fresh


def layout_key(table_version: int, *, is_open: bool, is_paused: bool, is_halted: bool) -> str:
    """Return `SoloPage.layout` of a table."""
    state = "halted" if is_halted else "paused" if is_paused else "open" if is_open else "closed"
    return f"{state}-{table_version}"


def render_answer(sent: QueryDict, page: SoloPage) -> str:
    """Return what a click changes, for the page that sent it."""
    layout, buttons = sent.get("layout", ""), sent.get("buttons", "")
    return render_fragment("solo.html#answer", page=page, layout=layout, buttons=buttons)


QUICK = slice(3, 6)  # the chips that Re-buy offers as amounts

PARTICIPATION = f"""
SELECT {columns(Participation, "part")}, {columns(Round, "round")}, {columns(TableVersion, "version")},
    {columns(Table, "game_table")}, {columns(Void, "void")},
    ARRAY(SELECT json_build_array({columns(Wager, "wager")})
        FROM games_wager AS wager WHERE wager.participation_id = part.id ORDER BY wager.id)
FROM games_participation AS part
JOIN games_round AS round ON round.id = part.round_id
JOIN games_tableversion AS version ON version.id = round.table_version_id
JOIN games_table AS game_table ON game_table.id = version.table_id
LEFT JOIN games_void AS void ON void.round_id = round.id
WHERE part.round_id = %s AND part.player_id = %s
"""  # noqa: S608  (nothing but names of our own columns)


def game_view(
    solo_seat: SoloSeat,
    *,
    language: str,
    notice: Notice | None = None,
    played: Played | None = None,
    page_stage: str = "",
) -> GameView:
    """Return everything inside ``#game`` for this seat.

    *played* is the round whose cards are dealt now, which the reader has not seen yet. Otherwise those of the
    last round played here are on the table. With *page_stage* (`stage_on_page`), the cards are left out.
    """
    table, mode = solo_seat.table, Mode(solo_seat.mode)
    variant, version = VARIANTS[table.variant], table.version
    limits, known = table_limits(solo_seat), solo_seat.known
    is_stopped = house_stop.current() is not None if known is None else known.is_stopped
    takes_bets, is_paused = seats.as_shown(table, mode, is_house_stopped=is_stopped)
    on_stage = played.round_id if played else solo_seat.last_round
    on_table: Dealt | None = None
    if played and played.finished:
        on_table = dealt_now(played.finished, solo_seat, receipts.note_of(played.receipt))
    elif (
        on_stage
        and not page_stage
        and (part := participation(on_stage, solo_seat.player.pk))
        and not hasattr(part.round, "void")
    ):
        if is_readable(part):
            on_table = dealt(part)
        else:
            notice = notice or examined(part)
    if known is None or uses_operator_wallet(solo_seat.player, mode):
        has = funds(solo_seat.player, mode, plays_on(variant))
    else:
        has = known.balance
    seat = Seat(
        variant=variant,
        limits=limits,
        mode=mode,
        takes_bets=takes_bets,
        is_paused=is_paused,
        is_house_stopped=is_stopped,
        table_version=version.number if version else 0,
        round_id=solo_seat.round_id,
        commitment=solo_seat.commitment,
        slip=solo_seat.slip,
        slip_version=solo_seat.slip_version,
        can_undo=bool(solo_seat.undo),
        last_stakes=solo_seat.last_stakes,
        last_chip=solo_seat.last_chip,
        table_id=solo_seat.table_id,
        funds=has,
    )
    return compose(
        seat,
        language=language,
        notice=notice,
        dealt=on_table,
        is_last=on_stage == solo_seat.last_round,
        fresh=played is not None,
        purse=purse_view(solo_seat, limits, has) if plays_on(variant) is AccountKind.PURSE else None,
    )


def _stored(round_id: UUID, player_id: int) -> tuple[Dealt | None, Notice | None]:
    """Return a stored round; None where it has no result to show, with a notice where it cannot be read."""
    part = participation(round_id, player_id)
    if part is None or hasattr(part.round, "void"):
        return None, None
    return (dealt(part), None) if is_readable(part) else (None, examined(part))


def stage_on_page(solo_seat: SoloSeat, sent: Mapping[str, str]) -> str:
    """Return the `SoloPage.stage` that the answer to a change of bets leaves to the page that sent this; "" if it
    sends stage and call.
    """
    table, known = solo_seat.table, solo_seat.known
    if known is None or table.version is None or solo_seat.slip_version == 0 or bets_stand(VARIANTS[table.variant]):
        return ""
    is_open, is_paused = seats.as_shown(table, solo_seat.mode, is_house_stopped=known.is_stopped)
    layout = layout_key(
        table.version.number, is_open=is_open, is_paused=is_paused, is_halted=is_paused and known.is_stopped
    )
    shown = str(solo_seat.last_round or NO_ROUND)
    return shown if (sent.get("stage"), sent.get("layout")) == (shown, layout) else ""


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
        seed=bytes(part.round.seed or b"").hex(),
        player_value=part.round.player_value,
    )


def dealt_now(finished: FinishedRound, solo_seat: SoloSeat, receipt: str) -> Dealt:
    """Convert the round that was just played at a seat into plain values. *receipt*: a signed note."""
    settlement, answer = finished.settlement, finished.deal.answer
    return Dealt(
        id=finished.round_id,
        code=round_code(finished.round_id),
        cards=answer.cards,
        staked=settlement.staked,
        paid=settlement.paid,
        balance_before=finished.balance,
        balance_after=solo_seat.known.balance,
        bets={line.bet: line for line in settlement.lines},
        seed=answer.seed.hex(),
        player_value=finished.player_value,
        signed=SignedDeal.of(
            answer.epoch, answer.deal, {line.bet: line.stake for line in settlement.lines}, answer.signature, receipt
        ),
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
    version = solo_seat.table.version
    if version is None:
        raise TableClosed
    return Limits.at(version, solo_seat.player.currency)


def part_just_played(played: Played) -> Participation | None:
    """Return the part in a round that was just played, as `participation` reads it, but with the id 0.

    None if it was played before.
    """
    finished = played.finished
    if finished is None or played.at is None:
        return None
    answer, settlement, table = finished.deal.answer, finished.settlement, played.seat.table
    version = copy(finished.version)
    version.table = table
    dealt_round = Round(
        id=finished.round_id,
        code=round_code(finished.round_id),
        table_version=version,
        mode=finished.mode,
        commitment=finished.commitment,
        seed=answer.seed,
        player_value=finished.player_value,
        cards=answer.cards,
        outcome=answer.outcome,
        at=played.at,
    )
    part = Participation(
        id=0,
        round=dealt_round,
        player=finished.player,
        currency=finished.player.currency,
        mode=finished.mode,
        balance_before=finished.balance,
        balance_after=played.seat.known.balance,
        staked=settlement.staked,
        paid=settlement.paid,
        commission=sum(line.commission for line in settlement.lines),
        session=finished.session,
        at=played.at,
        table=table,
    )
    wagers = [
        Wager(bet=line.bet, stake=line.stake, payout=line.payout, commission=line.commission, result=line.result)
        for line in settlement.lines
    ]
    return _whole(part, None, wagers)


def participation(round_id: UUID, player_id: int) -> Participation | None:
    """Return a player's part in a round with everything shown of it, or None if it is not theirs."""
    row = fetch_one(PARTICIPATION, [round_id, player_id])
    if row is None:
        return None
    part, played = instance(Participation, row), instance(Round, row)
    version, table, void = instance(TableVersion, row), instance(Table, row), instance(Void, row)
    part.round, played.table_version, version.table = played, version, table
    return _whole(part, void if void.pk else None, [Wager(*wager) for wager in next(row)])


def _whole(part: Participation, void: Void | None, wagers: list[Wager]) -> Participation:
    """Let a participation know the void of its round and its wagers without asking for them."""
    Round._meta.get_field("void").set_cached_value(part.round, void)
    known = Wager.objects.all()
    known._result_cache = wagers
    vars(part)["_prefetched_objects_cache"] = {"wagers": known}
    return part
