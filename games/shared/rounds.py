"""Open, close, deal and finish a round of a shared table.

Each function moves one round one phase on, in the caller's transaction, which holds the round's
row. `games.shared.phases` decides when a round is due; `games.shared.settlement` pays it.
"""

import json
from datetime import timedelta
from typing import Final
from uuid import uuid4

from django.db import connection
from django.utils.translation import gettext_noop

from audit import log
from games.engine.bets import Variant
from games.models import LiveRound, LiveSeat, LiveTable, Table, TableVersion
from games.models.rounds import round_code
from games.rounds.integrity import RulesUnknown
from games.rounds.redeal import Finding
from games.shared import moves, shoes
from games.shared.shoes import SYSTEM
from games.solo.seats import takes_bets
from games.tables import clock
from games.variants import VARIANTS
from players import notify

# The bets on the round. The log commits to their digest: one line "player bet stake" for each bet,
# minor units, ordered by player id and bet code, separated by line feeds. One hash commits to all
# bets.
BETS = """
WITH bet AS (
    SELECT seat.player_id, seat.currency, lain.code, lain.stake::bigint AS stake
    FROM games_liveseat AS seat CROSS JOIN LATERAL jsonb_each_text(seat.stakes) AS lain (code, stake)
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
    """End the round without a result: it is void, or it has no bets and takes no more."""
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
