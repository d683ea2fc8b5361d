"""Game logs: a player's finished rounds, newest first, in pages whose cost does not grow with their number."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from games.board import round_view, spots
from games.examination import is_readable
from games.labels import bet_name
from games.limits import Limits
from games.models import Participation
from games.page import dealt, participation
from games.presentation import RoundView, SpotView
from games.search import Search, find
from games.variants import VARIANTS
from players.models import Player

Status = Literal["complete", "void", "examined"]

PAGE = 20
EVERYTHING = Search()


@dataclass(frozen=True)
class WagerLine:
    """One bet of a round: amounts in minor units, payout with the stake included."""

    name: str
    stake: int
    payout: int
    result: str


@dataclass(frozen=True)
class HistoryLine:
    """A round as Game logs show it. Amounts in minor units of *currency*."""

    id: UUID
    code: str
    at: datetime
    table_name: str
    table_slug: str
    currency: str
    status: Status
    view: RoundView | None  # only a complete round has a result to look at
    wagers: tuple[WagerLine, ...]  # none of a round that is being examined: its bets may be what is wrong
    staked: int
    paid: int
    balance_before: int
    balance_after: int
    rules_version: str
    table_version: int
    commitment: str
    seed: str
    player_value: str
    decks: int


@dataclass(frozen=True)
class HistoryPage:
    """Some rounds, and the mark to ask for older ones with (None: there are none)."""

    rounds: tuple[HistoryLine, ...]
    older: int | None


def history(player: Player, *, before: int | None, language: str, search: Search = EVERYTHING) -> HistoryPage:
    """Return a page of the player's real-money rounds that fit *search* and are older than the mark *before*."""
    parts = find(player, search, before=before, limit=PAGE + 1)
    older = parts[PAGE - 1].pk if len(parts) > PAGE else None
    return HistoryPage(tuple(history_line(part, language) for part in parts[:PAGE]), older)


def round_of(player: Player, round_id: UUID, language: str) -> HistoryLine | None:
    """Return one round of this player, or None."""
    part = participation(round_id, player.pk)
    return history_line(part, language) if part else None


def replay_spots(player: Player, round_id: UUID, language: str) -> tuple[SpotView, ...]:
    """Return the bet areas of a finished round with its stakes and results, under the limits it was played under."""
    part = participation(round_id, player.pk)
    if part is None:
        return ()
    version = part.round.table_version
    bets = dealt(part).bets
    stakes = {bet: line.stake for bet, line in bets.items()}
    return spots(VARIANTS[version.table.variant], Limits.of(version.limits, part.currency), stakes, bets, language)


def history_line(part: Participation, language: str) -> HistoryLine:
    """Return a stored round as a line of Game logs."""
    version = part.round.table_version
    variant = VARIANTS[version.table.variant]
    status = _status(part)
    return HistoryLine(
        id=part.round_id,
        code=part.round.code,
        at=part.round.at,
        table_name=version.table.name,
        table_slug=version.table.slug,
        currency=part.currency,
        status=status,
        view=None if status != "complete" else round_view(dealt(part), variant, language=language, fresh=False),
        wagers=tuple(
            WagerLine(bet_name(variant, wager.bet, language), wager.stake, wager.payout, wager.result)
            for wager in part.wagers.all()
            if status != "examined"
        ),
        staked=part.staked,
        paid=part.paid,
        balance_before=part.balance_before,
        balance_after=part.balance_after,
        rules_version=version.rules_version,
        table_version=version.number,
        commitment=part.round.commitment,
        seed=bytes(part.round.seed).hex(),
        player_value=part.round.player_value,
        decks=variant.decks,
    )


def _status(part: Participation) -> Status:
    if hasattr(part.round, "void"):
        return "void"
    return "complete" if is_readable(part) else "examined"
