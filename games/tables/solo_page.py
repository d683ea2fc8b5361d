"""What a solo table shows, on its page and in the answer to each click."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.functional import Promise

from games.deals import trusted_keys
from games.tables.fragments import render_fragment
from games.tables.presentation import GameView, Notice
from players.models import Player
from players.protection.play_sessions import PlaySessionState
from wallet.models import Mode


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
    """What a visitor sees next to the game: the link to check the last round, and a refill button."""

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
        """A key of the cards and the announcement: the round that they show; "" while a notice is shown or
        cards are dealt. Answers to chips leave both to a page that shows the same round.
        """
        if self.game.notice or self.notices or self.is_fresh:
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
        """Whether the cards are dealt one by one."""
        return self.game.round is not None and self.game.round.fresh


def layout_key(table_version: int, *, is_open: bool, is_paused: bool, is_halted: bool) -> str:
    """Return `SoloPage.layout` of a table."""
    state = "halted" if is_halted else "paused" if is_paused else "open" if is_open else "closed"
    return f"{state}-{table_version}"


def render_answer(sent: QueryDict, page: SoloPage) -> str:
    """Return what a click changes, for the page that sent it."""
    layout, buttons = sent.get("layout", ""), sent.get("buttons", "")
    return render_fragment("solo.html#answer", page=page, layout=layout, buttons=buttons)
