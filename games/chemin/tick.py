"""Move Chemin de Fer tables without a player's action: expired deadlines, house players, removal, closing.

A tick only asks which tables are due, as at shared tables (`games.shared.phases`). The database's
clock decides, and any worker may ask at any time. If two ask at once, one moves the table and the
other returns.
"""

from __future__ import annotations

import json
import secrets
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import connection
from structlog.contextvars import bind_contextvars

from games.chemin import deadlines, house_players, maintenance, void
from games.chemin.apply import carry_out
from games.chemin.availability import is_paused, may_begin, may_go_on
from games.chemin.money import Unpaid
from games.chemin.removal import remove, send_all_away, send_away, whose_session_is_over
from games.chemin.stop import one_transaction, stop
from games.chemin.table_state import Standing, locked, locked_if_free
from games.engine.chemin import Phase, Presence, options, view
from games.engine.chemin.actions import Pass, StepAway, TableAction, TimeUp
from games.engine.chemin.seats import in_order
from games.engine.chemin.state import there
from games.errors import TableStopped
from games.models import UNDEALT, CheminSeat, CheminTable, Decider, VoidReason
from games.rounds.integrity import Overdue
from games.rounds.redeal import Finding
from games.shared.phases import UNABLE
from games.shared.shoes import SYSTEM
from games.tables import clock
from games.variants import GAMES
from wallet import house_stop

SEEN_IN_TIME: Final = timedelta(seconds=5)
"""A deadline noticed later than this passed during an outage; that time does not count against the player."""

# Tables at which something is due now. A stopped table plays out a dealt coup if none of its
# incidents awaits a ruling. A paused table, and every table during a house stop, plays out a coup
# in progress. Players' time away does not run then.
DUE = f"""
WITH house AS (SELECT {house_stop.STANDS} AS is_stopped)
SELECT live.id
FROM house CROSS JOIN games_chemintable AS chemin
JOIN games_livetable AS live ON live.id = chemin.live_table_id
JOIN games_table AS place ON place.id = live.table_id
JOIN games_tableversion AS version ON version.id = place.version_id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
WHERE CASE WHEN live.stopped_by_id IS NOT NULL THEN
        round.phase = 'dealt' AND chemin.deadline <= clock_timestamp() AND NOT EXISTS (
            SELECT FROM games_incident AS incident
            LEFT JOIN games_incidentruling AS ruling ON ruling.incident_id = incident.id
            WHERE incident.live_round_id = round.id AND ruling.incident_id IS NULL)
    ELSE (NOT (place.status = 'paused' OR house.is_stopped) OR round.phase IN ('betting', 'closed', 'dealt'))
        AND (chemin.deadline <= clock_timestamp() OR chemin.state ->> 'phase' = 'shoe') OR EXISTS (
        SELECT FROM games_cheminseat AS seat
        WHERE seat.live_table_id = live.id AND seat.left_at IS NULL AND (
            round.phase IN ('betting', 'closed', 'dealt') IS NOT TRUE
                AND NOT (place.status <> 'closed' AND live.mode = ANY (version.modes)
                    AND version.rules_digest = %(rules)s::jsonb ->> place.variant)
            OR seat.why_left = '' AND NOT (SELECT who.jurisdiction_id = ANY (version.jurisdictions)
                FROM players_player AS who WHERE who.id = seat.player_id)
            OR seat.why_left = '' AND NOT (place.status = 'paused' OR house.is_stopped)
                AND seat.away_since <= clock_timestamp()
                    - make_interval(secs => (version.clock ->> 'removal')::double precision / 1000)))
    END
ORDER BY chemin.deadline, live.id
"""  # noqa: S608  (nothing but our own column)


def due() -> list[int]:
    """Return the tables at which something is due now, the longest waiting first."""
    rules = json.dumps({slug: game.digest for slug, game in GAMES.items()})
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"rules": rules})
        ids = [each for (each,) in cursor.fetchall()]
    seated = list(CheminSeat.objects.filter(left_at=None, live_table__stopped_by=None, player__isnull=False))
    over = whose_session_is_over(seated)
    left = [seat.live_table_id for seat in seated if seat.pk in over]
    return list(dict.fromkeys([*ids, *left]))


def advance(live_table_id: int) -> bool:
    """Carry out the one step that is due at a table, and its upkeep; return whether there was one.

    One transaction, which holds the table's lock; returns False if another worker holds it. An
    error rolls back and stops the table, as at a player's click. Raises `UNABLE` where the database
    failed and the table is not overdue yet.
    """
    try:
        with one_transaction(live_table_id):
            standing = locked_if_free(live_table_id)
            return standing is not None and _advance(standing)
    except TableStopped:
        return False
    except UNABLE as error:
        if not (_is_overdue(live_table_id) and stop(live_table_id, error)):
            raise
        return False
    except Unpaid as unpaid:  # a bidder who can no longer pay for the bank
        with one_transaction(live_table_id):
            maintenance.see_to(send_away(locked(live_table_id), place=unpaid.place))
        return True


def _advance(standing: Standing) -> bool:
    bind_contextvars(round_id=str(standing.live_round.pk) if standing.live_round else "")
    before = standing.chemin.move, standing.chemin.deadline
    if standing.live_table.stopped_by_id is None:
        standing = maintenance.see_to(remove(standing))
        if standing.seats and not (standing.in_coup or may_begin(standing) or is_paused(standing)):
            standing = send_all_away(standing)
    if before == (standing.chemin.move, standing.chemin.deadline) and _is_up(standing) and may_go_on(standing):
        standing = maintenance.see_to(_answer(standing))
    return before != (standing.chemin.move, standing.chemin.deadline)


def _is_overdue(live_table_id: int) -> bool:
    """Return whether the pending question is past its deadline by the delay after which a round is void."""
    latest = clock.now() - timedelta(seconds=settings.LIVE_LATE_SECONDS)
    return CheminTable.objects.filter(pk=live_table_id, deadline__lt=latest).exists()


def _is_up(standing: Standing) -> bool:
    deadline = standing.chemin.deadline
    return deadline is not None and clock.now() >= deadline


def _answer(standing: Standing) -> Standing:
    """Answer an expired question: a house player decides, or the croupier by the rule.

    Time during an outage does not count against the player, so the question is asked again. If the
    outage was too long, a coup with stakes is voided, unless its cards are drawn; then the croupier
    decides.
    """
    unseen = clock.now() - there(standing.chemin.deadline)
    is_late, live_round = unseen.total_seconds() > settings.LIVE_LATE_SECONDS, standing.live_round
    is_dealt = live_round is not None and live_round.phase not in UNDEALT
    if is_late and live_round and not is_dealt and standing.state.running_coup.stakes:
        overdue = Overdue(
            f"The coup stood still past its deadline ({standing.state.phase}).",
            Finding("moved on", clock.now().isoformat(), there(standing.chemin.deadline).isoformat()),
        )
        void.annul_coup(live_round=live_round, reason=VoidReason.OVERDUE, by=SYSTEM)
        stop(standing.live_table.pk, overdue)
        return locked(standing.live_table.pk)
    seat = _house_player_asked(standing)
    if seat is not None:
        return carry_out(standing, _choice_of(standing, seat), decider=Decider.HOUSE_PLAYER)
    if unseen > SEEN_IN_TIME and not (is_late and is_dealt):
        deadlines.ask_anew(standing)
        return standing
    return _time_up(standing)


def _house_player_asked(standing: Standing) -> CheminSeat | None:
    """Return the house player who decides now; for a free bank, the first in order who can open it."""
    if standing.state.phase is not Phase.FREE:
        seat = standing.asked
        return seat if seat and seat.player_id is None else None
    order = (standing.seats[seat.number] for seat in in_order(standing.state))
    return next((seat for seat in order if seat.player_id is None and options(standing.state, seat.number)), None)


def _choice_of(standing: Standing, seat: CheminSeat) -> TableAction:
    """Return a house player's decision. During a house stop it stakes no more, like all players."""
    if standing.is_house_stopped and standing.state.phase in (Phase.CALLS, Phase.STAKES):
        return Pass(seat.number)
    return house_players.choose(view(standing.state, seat.number), secrets.randbelow)


def _time_up(standing: Standing) -> Standing:
    """Have the croupier decide for the player; after too many missed turns the player is away."""
    if standing.state.turn is None:
        return standing
    place = standing.state.turn
    standing = carry_out(standing, TimeUp(), decider=Decider.CROUPIER)
    seat = standing.state.find(place)
    is_playing = seat is not None and seat.presence is Presence.PLAYING
    if is_playing and standing.seats[place].missed >= standing.clock.missed:
        return carry_out(standing, StepAway(place), decider=Decider.HOUSE)
    return standing
