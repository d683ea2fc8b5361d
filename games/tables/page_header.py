"""Header of a table page: time of day, length of the session and its result."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from games.tables.presentation import GameView
from players.models import Player
from players.protection.play_sessions import Seen
from wallet.models import Mode


@dataclass(frozen=True)
class PlaySessionView:
    """A sitting in one mode. Amounts in minor units."""

    now: datetime
    clock: str  # the time of day where the player is
    zone: str
    began: datetime
    lasted: str  # hours and minutes: "1:05"
    rounds: int
    staked: int
    paid: int
    net: int
    net_dealing: int  # net while a fresh round is dealt: stakes deducted, payouts not yet added
    currency: str
    is_free: bool
    is_check_due: bool


def play_session_view(seen: Seen, player: Player, mode: Mode, game: GameView | None = None) -> PlaySessionView:
    """Return a sitting as the page shows it; *game* is what a solo table is about to deal."""
    zone, is_free = player.jurisdiction.time_zone, mode is Mode.FREE
    net = seen.net_free if is_free else seen.net_real
    minutes = int(seen.lasted.total_seconds()) // 60
    return PlaySessionView(
        now=seen.now,
        clock=f"{seen.now.astimezone(ZoneInfo(zone)):%H:%M}",
        zone=zone,
        began=seen.began,
        lasted=f"{minutes // 60}:{minutes % 60:02d}",
        rounds=seen.rounds,
        staked=seen.staked_free if is_free else seen.staked_real,
        paid=seen.paid_free if is_free else seen.paid_real,
        net=net,
        net_dealing=net - (game.round.paid if game and game.round and game.round.fresh else 0),
        currency=player.currency,
        is_free=is_free,
        is_check_due=seen.is_check_due,
    )
