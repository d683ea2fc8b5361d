"""Open, close, deal, settle and finish a round of a shared table.

Each function moves one round one phase on, in the caller's transaction, which holds the round's
row. `games.shared.phases` decides when a round is due. A settlement pays everybody with a few statements, however
many have bet.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final
from uuid import uuid4

from django.db import connection
from django.utils.translation import gettext_noop

from audit import log
from audit.raw_rows import Value
from games.engine.bets import PUSH, BetRule, Variant
from games.engine.coup import Coup
from games.engine.dealing import coup_at
from games.engine.settle import Result, SettlementError, line_of
from games.models import LiveRound, LiveSeat, LiveTable, Table, TableVersion
from games.models.rounds import round_code
from games.rounds.database_refusals import BalancesDiffer, StakesDiffer, WrongWagers, round_refusals
from games.rounds.integrity import NotRecomputed, NotReproduced, RulesUnknown
from games.rounds.redeal import Finding
from games.shared import moves, shoes
from games.shared.shoes import SYSTEM
from games.solo.seats import takes_bets
from games.tables import clock
from games.variants import VARIANTS
from players import notify
from wallet import ledger

# The bets on the round. The log commits to their digest: one line "player bet stake" for each bet,
# minor units, ordered by player id and bet code, separated by line feeds. One hash commits to all
# bets.
BETS = """
WITH bet AS (
    SELECT seat.player_id, seat.currency, bet.code, bet.stake::bigint AS stake
    FROM games_liveseat AS seat CROSS JOIN LATERAL jsonb_each_text(seat.stakes) AS bet (code, stake)
    WHERE seat.round_id = %(round)s
), total AS (
    SELECT currency, code, sum(stake)::bigint AS staked FROM bet GROUP BY currency, code
)
SELECT (SELECT count(DISTINCT player_id) FROM bet), (SELECT count(*) FROM bet),
    (SELECT encode(sha256(convert_to(coalesce(string_agg(
        concat_ws(' ', player_id, code, stake), E'\\n' ORDER BY player_id, code COLLATE "C"), ''), 'UTF8')), 'hex')
     FROM bet),
    (SELECT coalesce(jsonb_object_agg(currency, staked), '{}') FROM (
        SELECT currency, jsonb_object_agg(code, staked) AS staked FROM total GROUP BY currency) AS each)
"""


LATELY: Final = timedelta(minutes=5)
"""Anyone who has bet within this time may cut the next shoe."""


def may_open(table: Table, mode: str) -> bool:
    """Return whether a round may open for that kind of money.

    The table must be open, played for that money, under rules that this version of the code has,
    and have a clock.
    """
    return takes_bets(table, mode) and table.version is not None and table.version.clock is not None


def open_next(live_table: LiveTable) -> LiveRound | None:
    """Open the next round for bets, under the version in force, from the shoe on the table or a new one.

    Return None if players cut the new shoe first. Raises DealerAway, NotDealt.
    """
    version = live_table.table.version
    if version is None:
        raise TableVersion.DoesNotExist
    if not _bring_shoe(live_table):
        return None
    round_id = uuid4()
    live_round = moves.open_round(live_table, round_id, version_id=version.pk, code=round_code(round_id))
    notify.notify_table(live_table.pk)
    return live_round


def has_bets(live_round: LiveRound) -> bool:
    """Return whether any player has bet on the round."""
    return LiveSeat.objects.filter(round_id=live_round.pk).exclude(stakes={}).exists()


def reopen_bets(live_round: LiveRound) -> None:
    """Restart the betting time of a round that nobody has bet on."""
    moves.take_bets_again(live_round)
    notify.notify_table(live_round.live_table_id)


def end_void(live_round: LiveRound) -> None:
    """End the round without a result: it is void, or it has no bets and betting is closed."""
    moves.end_void(live_round)
    notify.notify_table(live_round.live_table_id)


def close(live_round: LiveRound) -> None:
    """Close bets and commit to every bet in the log.

    No money moves and nothing is checked again: funds and limits were checked when the stakes were
    held, and what is held cannot be spent until the round is paid.
    """
    with connection.cursor() as cursor:
        cursor.execute(BETS, {"round": live_round.pk})
        players, wagers, digest, staked = cursor.fetchone()
    log.record(
        "bets.closed",
        by=SYSTEM,
        on=f"round:{live_round.pk}",
        data={
            "code": live_round.code,
            "players": players,
            "sha256": digest,
            "shoe": str(live_round.shoe_id),
            "staked": json.loads(staked),
            "table_version": live_round.version_id,
            "wagers": wagers,
        },
    )
    moves.close_bets(live_round)
    notify.notify_table(live_round.live_table_id)


def deal(live_round: LiveRound) -> None:
    """Have the dealer deal the round from its shoe. The page turns the cards up one by one from now on.

    Raises DealerAway, NotDealt, RulesUnknown.
    """
    rules_of(live_round)
    shoe = shoes.locked(live_round.shoe_id)
    shoes.deal(live_round)
    # The cards are not logged yet, so that a reader of the log does not see them before the players.
    log.record(
        "round.dealt",
        by=SYSTEM,
        on=f"round:{live_round.pk}",
        data={"first_card": live_round.first_card, "shoe": str(shoe.pk)},
    )
    notify.notify_table(live_round.live_table_id)


def finish(live_round: LiveRound) -> None:
    """End a paid round and begin the pause in which the result is shown."""
    moves.finish_round(live_round)
    notify.notify_table(live_round.live_table_id)


def rules_of(live_round: LiveRound) -> Variant:
    """Return the rules the round was opened under, which settle it. Raises RulesUnknown."""
    version = live_round.version
    variant = VARIANTS.get(version.table.variant)
    if variant is None or variant.digest != version.rules_digest:
        known = variant.digest if variant else "no such game"
        raise RulesUnknown(
            gettext_noop("The rules of the round are not installed."), Finding("rules", version.rules_digest, known)
        )
    return variant


def _bring_shoe(live_table: LiveTable) -> bool:
    """Put a new shoe on the table where there is none, it has ended or it must not be dealt from.

    Return False if players cut it first: those who have bet there lately.
    """
    shoe = shoes.locked(live_table.shoe_id) if live_table.shoe_id else None
    if shoe and shoes.is_spoiled(shoe):
        shoes.retire(shoe)
    if shoe is not None and not shoe.ended_at:
        return True
    return shoes.bring(live_table, has_players=_has_players(live_table)) is not None


def _has_players(live_table: LiveTable) -> bool:
    """Return whether anybody has bet at the table lately."""
    since = clock.now() - LATELY
    lately = LiveRound.objects.filter(live_table=live_table, opened_at__gt=since).values("pk")
    return LiveSeat.objects.filter(live_table=live_table, round_id__in=lately).exclude(stakes={}).exists()


def read_by_key() -> None:
    """Disable sequential scans, where an index can be used, until the transaction ends.

    In a new database the statistics say that tables are empty, and plans based on that are cached.
    With such plans the foreign keys of ten thousand bets were each checked by a sequential scan at
    commit.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")


SETTLE = """
SELECT lines, slips
FROM games_settle_live_round(%(round)s::uuid, %(pays)s::jsonb, %(stake_key)s::uuid, %(settle_key)s::uuid)
"""


def settle(live_round: LiveRound, coup: Coup) -> None:
    """Pay everybody who has bet on a dealt round, and store it as a finished round.

    *coup* is what was dealt from the shoe, as `redeal` returns it. Raises NotRecomputed,
    RulesUnknown, LedgerError.
    """
    variant = rules_of(live_round)
    values: dict[str, Value] = {
        "round": live_round.pk,
        "pays": json.dumps([asdict(_Pay.of(bet, coup)) for bet in variant.bets]),
        "stake_key": ledger.system_key(live_round.pk, "stake"),
        "settle_key": ledger.system_key(live_round.pk, "settle"),
    }
    with _recomputed(), ledger.refusals(), connection.cursor() as cursor:
        cursor.execute(SETTLE, values)
        lines, slips = map(json.loads, cursor.fetchone())
    if found := list(_unlike(variant, coup, lines or (), slips or ())):
        raise NotRecomputed(gettext_noop("The settlement of a bet violates the rules."), *found)
    log.count("round.settled", {})


@contextmanager
def _recomputed() -> Iterator[None]:
    """Raise NotRecomputed with the findings of the database."""
    try:
        with round_refusals():
            yield
    except WrongWagers as error:
        raise NotRecomputed("A bet pays more than the rules allow.") from error
    except StakesDiffer as error:
        found = _findings("staked", error.found)
        raise NotRecomputed(gettext_noop("The bets differ from the stakes that are held."), *found) from error
    except BalancesDiffer as error:
        found = _findings("balance after", error.found)
        raise NotRecomputed(gettext_noop("A balance differs from the settlement."), *found) from error


def _findings(what: str, rows: Iterable[tuple[int, str, str]]) -> list[Finding]:
    return [Finding(f"player:{player} {what}", stored, recomputed) for player, stored, recomputed in rows]


def redeal(live_round: LiveRound) -> Coup:
    """Deal the round again from what its shoe is committed to and compare the cards.

    Raises NotReproduced where the cards differ, and what `shoes.cards_of` raises.
    """
    coup = coup_at(shoes.cards_of(live_round.shoe), live_round.first_card or 0)
    if (again := shoes.written(coup.cards)) != live_round.cards:
        raise NotReproduced(
            gettext_noop("The cards of the round do not match the shoe."), Finding("cards", live_round.cards, again)
        )
    return coup


@dataclass(frozen=True)
class _Pay:
    """Payout of a bet on a coup, as a row for PostgreSQL: `win` units for each `per` units staked."""

    bet: str
    win: int
    per: int
    bears_commission: bool
    result: Result

    @classmethod
    def of(cls, bet: BetRule, coup: Coup) -> "_Pay":
        """Return what *bet* pays on *coup*, from the engine."""
        pays = bet.pays(coup)
        if pays is None:
            return cls(bet.code, 0, 1, bears_commission=False, result=Result.LOSE)
        is_push = pays is PUSH
        result = Result.PUSH if is_push else Result.WIN
        return cls(bet.code, pays.win, pays.per, bears_commission=bet.commission and not is_push, result=result)


def _unlike(
    variant: Variant, coup: Coup, lines: Iterable[tuple[str, int, int, int, str]], slips: Iterable[Sequence[str]]
) -> Iterator[Finding]:
    """Recompute every distinct stored line with the engine alone, and check the combinations of bets.

    They are a few, however many players have bet.
    """
    for bet, stake, payout, commission, result in lines:
        line = line_of(variant.bet(bet), coup, stake)
        stored: list[int | str] = [payout, commission, result]
        settled: list[int | str] = [line.payout, line.commission, str(line.result)]
        if stored != settled:
            yield Finding(f"{bet} {stake}", _spoken(stored), _spoken(settled))
    for bets in slips:
        try:
            variant.check(dict.fromkeys(bets, 1))
        except SettlementError as error:
            yield Finding("bets", ", ".join(bets), f"{type(error).__name__}: {error}")


def _spoken(settled: Sequence[int | str]) -> str:
    payout, commission, result = settled
    return f"{result}, paid {payout}, commission {commission}"
