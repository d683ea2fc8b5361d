"""Queries of a Chemin de Fer table and of a player there, for pages and streams.

The public query reads no balance. A player's seat is taken from the same row as the table state, so
a player who has just taken a seat is not shown the cards of the one before.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext_noop

from audit.raw_rows import fetch_named
from games.chemin import event_codec
from games.chemin.shoes import UNKNOWN
from games.chemin.state.queries import Move, Own, Past, Played, PublicTable, SeatedPlayer
from games.chemin.state.table_state import UNDER_ITS_VERSION, demand_same_position, on_the_table
from games.engine.cards import Card
from games.engine.chemin import Outcome, Phase, State, apply
from games.engine.chemin.actions import SetBalance
from games.engine.chemin.frozen import thaw
from games.models import Decider, LiveTable, VoidReason
from games.models import Shoe as StoredShoe
from games.rounds.integrity import Doubt, WrongCard
from games.rounds.redeal import Finding
from games.shared.state import READ_CUT, cut_of, shoe_of
from games.tables.chemin_rules import CheminClock, CheminRules
from games.variants import GAMES
from wallet import house_stop
from wallet.models import AccountKind, Mode

MOST_MOVES: Final = 80
"""Number of moves that are shown: those of three coups at a full table."""

MOST_PAST: Final = 20
"""Number of finished coups of the shoe that are shown."""

WITH_HANDS: Final = (Phase.PUNTER, Phase.BANKER)

# Parameter: the live table. A bank is played under the version in force when its latest coup began.
READ_PUBLIC = f"""
SELECT clock_timestamp() AS now, live.id AS live_table, live.mode AS mode, t.slug AS slug, t.name AS name,
    t.variant AS variant,
    live.mode = ANY (current.modes) AND t.status = 'open' AND NOT {house_stop.IS_STOPPED} AS is_open,
    live.mode = ANY (current.modes)
        AND (t.status = 'paused' OR t.status = 'open' AND {house_stop.IS_STOPPED}) AS is_paused,
    live.stopped_by_id IS NOT NULL AS is_stopped, {house_stop.IS_STOPPED} AS is_house_stopped,
    current.rules_digest AS rules_digest, version.limits::text AS limits, version.clock::text AS clock,
    chemin.state::text AS state, chemin.move AS move, chemin.question AS question, chemin.asked_at AS asked_at,
    chemin.deadline AS deadline, round.id AS round, coalesce(round.code, '') AS code,
    coalesce(void.reason, '') AS voided, shoe.id AS shoe, shoe.number AS shoe_number, shoe.decks AS decks,
    shoe.commitment AS commitment, shoe.root AS root, shoe.gone AS gone, shoe.ended_at AS shoe_ended_at,
    shoe.ended_at IS NOT NULL AS shoe_is_spent, {READ_CUT},
    (SELECT string_agg(dealt.cards, ' ' ORDER BY dealt.first_card) FROM games_dealt_cards(
        shoe.id, (chemin.state #>> '{{coup,hands,first}}')::integer) AS dealt) AS dealt,
    spent.id AS spent_shoe, spent.number AS spent_number,
    (SELECT jsonb_agg(jsonb_build_array(seat.number, seat.id, seat.player_id, coalesce(known.name, ''),
            seat.away_since) ORDER BY seat.number)::text
        FROM games_cheminseat AS seat LEFT JOIN games_chatname AS known ON known.player_id = seat.player_id
        WHERE seat.live_table_id = live.id AND seat.left_at IS NULL) AS seated_players,
    (SELECT jsonb_agg(jsonb_build_array(move.number, move.at, move.round_id, coalesce(coup.code, ''), seat.number,
            move.kind, move.decider, move.events) ORDER BY move.number)::text
        FROM (SELECT * FROM games_cheminmove AS latest WHERE latest.live_table_id = live.id
            ORDER BY latest.number DESC LIMIT {MOST_MOVES}) AS move
        LEFT JOIN games_liveround AS coup ON coup.id = move.round_id
        LEFT JOIN games_cheminseat AS seat ON seat.id = move.seat_id) AS moves,
    (SELECT jsonb_agg(jsonb_build_array(over.round_id, over.code, over.outcome, over.punter_total, over.banker_total)
            ORDER BY over.number)::text
        FROM (SELECT coup.round_id, before.code, before.number, coup.punter_total, coup.banker_total,
                CASE WHEN undone.round_id IS NULL THEN coup.outcome ELSE '' END AS outcome
            FROM games_liveround AS before
            JOIN games_chemincoup AS coup ON coup.round_id = before.id
            LEFT JOIN games_void AS undone ON undone.round_id = before.id
            WHERE before.shoe_id = shoe.id ORDER BY before.number DESC LIMIT {MOST_PAST}) AS over) AS past
FROM games_livetable AS live
JOIN games_table AS t ON t.id = live.table_id
JOIN games_chemintable AS chemin ON chemin.live_table_id = live.id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
LEFT JOIN games_tableversion AS current ON current.id = t.version_id
LEFT JOIN games_tableversion AS version ON version.id =
    CASE WHEN chemin.state->>'phase' IN {tuple(sorted(map(str, UNDER_ITS_VERSION)))}
        THEN coalesce(round.version_id, t.version_id) ELSE t.version_id END
LEFT JOIN games_shoe AS shoe ON shoe.id = live.shoe_id
LEFT JOIN games_shoe AS spent
    ON spent.live_table_id = live.id AND spent.ended_at IS NOT NULL
    AND spent.number = CASE WHEN shoe.ended_at IS NULL THEN shoe.number - 1 ELSE shoe.number END
LEFT JOIN games_void AS void ON void.round_id = round.id
LEFT JOIN games_shoecut AS cut ON cut.live_table_id = live.id
WHERE live.id = %s
"""  # noqa: S608  (nothing but names of our own)

# Parameters: the live table, its players, seated or not. `funds` is the balance less what is held.
# `staked` belongs to the table's latest coup, once it is over, where the player had a part in it.
READ_OWN = f"""
SELECT player.id AS player, player.currency AS currency, law.time_zone AS zone, account.balance - account.held AS funds,
    coalesce(seat.missed, 0) AS missed, seat.away_since AS away_since, round.id AS round, round.code AS code,
    coalesce(part.staked, stake.stake, CASE WHEN coup.banker_player_id = player.id THEN coup.at_risk END) AS staked,
    coalesce(part.paid, 0) AS paid, coup.outcome = '' OR void.round_id IS NOT NULL AS is_void,
    CASE live.mode WHEN '{Mode.REAL}' THEN play_session.paid_real - play_session.staked_real
        ELSE play_session.paid_free - play_session.staked_free END AS net
FROM games_livetable AS live
CROSS JOIN players_player AS player
JOIN players_jurisdiction AS law ON law.code = player.jurisdiction_id
LEFT JOIN wallet_account AS account
    ON account.owner_id = player.id AND account.kind = '{AccountKind.CASH}' AND account.mode = live.mode
LEFT JOIN games_cheminseat AS seat
    ON seat.live_table_id = live.id AND seat.player_id = player.id AND seat.left_at IS NULL
LEFT JOIN players_playsession AS play_session ON play_session.session = seat.session
LEFT JOIN games_liveround AS round ON round.id = live.round_id
LEFT JOIN games_chemincoup AS coup ON coup.round_id = round.id
LEFT JOIN games_cheminstake AS stake ON stake.coup_id = coup.round_id AND stake.player_id = player.id
LEFT JOIN games_participation AS part ON part.round_id = coup.round_id AND part.player_id = player.id
LEFT JOIN games_void AS void ON void.round_id = round.id
WHERE live.id = %s AND player.id = ANY (%s)
"""  # noqa: S608  (nothing but names of our own)


def read_public(live_table_id: int) -> PublicTable:
    """Return the public state at this moment. Raises LiveTable.DoesNotExist, and what `public_state` raises."""
    return public_state(_row(READ_PUBLIC, [live_table_id]))


def read_own(live_table_id: int, player_id: int) -> dict[str, Any]:
    """Return a player's own row at a table, for `own_state`. Raises LiveTable.DoesNotExist."""
    return _row(READ_OWN, [live_table_id, [player_id]])


def public_state(row: Mapping[str, Any]) -> PublicTable:
    """Return the state of a row of `READ_PUBLIC`; without cards where the shoe cannot be read.

    Raises ThawError, and other errors for rows that this code did not write.
    """
    rules = CheminRules.of(json.loads(row["limits"]))
    seated_players = tuple(
        SeatedPlayer(number, seat, player, name, _moment(away))
        for number, seat, player, name, away in _list(row["seated_players"])
    )
    return PublicTable(
        now=row["now"],
        live_table=row["live_table"],
        mode=Mode(row["mode"]),
        slug=row["slug"],
        name=row["name"],
        is_open=bool(row["is_open"]) and row["rules_digest"] == GAMES[row["variant"]].digest,
        is_paused=bool(row["is_paused"]) and row["rules_digest"] == GAMES[row["variant"]].digest,
        is_stopped=row["is_stopped"],
        is_house_stopped=row["is_house_stopped"],
        rules=rules,
        clock=CheminClock.of(json.loads(row["clock"])) if row["clock"] else None,
        table_state=_read_state(row, rules),
        seated_players=seated_players,
        move=row["move"],
        question=row["question"],
        asked_at=row["asked_at"],
        deadline=row["deadline"],
        round=row["round"],
        code=row["code"],
        voided=VoidReason(row["voided"]) if row["voided"] else None,
        shoe=shoe_of(row),
        spent_shoe=row["spent_shoe"],
        spent_number=row["spent_number"],
        cut=cut_of(row),
        moves=tuple(_move(*each) for each in _list(row["moves"])),
        past=tuple(_past(*each) for each in _list(row["past"])),
    )


def own_state(seen: PublicTable, row: Mapping[str, Any]) -> Own:
    """Return a player's state of a row of `READ_OWN`."""
    seat = next(
        (seated_player.number for seated_player in seen.seated_players if seated_player.player == row["player"]), None
    )
    staked = row["staked"]
    return Own(
        player=row["player"],
        seat=seat,
        missed=row["missed"],
        away_since=row["away_since"],
        currency=row["currency"],
        funds=row["funds"] if row["currency"] == seen.rules.currency else None,
        zone=row["zone"],
        net=row["net"],
        last=None if staked is None else Played(row["round"], row["code"], staked, row["paid"], row["is_void"]),
    )


def with_funds(seen: PublicTable, own: Own) -> PublicTable:
    """Return the table with the player's available balance at their seat, on which their options depend."""
    if own.seat is None or own.funds is None:
        return seen
    return replace(seen, table_state=apply(seen.table_state, SetBalance(own.seat, own.funds)).state)


def _row(question: str, parameters: list[Any]) -> dict[str, Any]:
    row = fetch_named(question, parameters)
    if row is None:
        raise LiveTable.DoesNotExist
    return row


def _read_state(row: Mapping[str, Any], rules: CheminRules) -> State:
    shoe = _shoe(row)
    frozen = on_the_table(json.loads(row["state"]), shoe)
    unknown = dict.fromkeys((number for number, _ in frozen["seats"]), 0)
    try:
        cards = _cards(frozen, shoe, row["dealt"])
    except Doubt:
        frozen, cards = _without_cards(frozen), ()
    return thaw(frozen, rules=rules.table_rules, cards=cards, balances=unknown)


def _cards(frozen: dict[str, Any], shoe: StoredShoe | None, dealt: str | None) -> tuple[Card, ...]:
    """Return the cards of the shoe in a stored state, of which those of the latest coup are known. Raises WrongCard."""
    if frozen["shoe"] is None or shoe is None:
        return ()
    demand_same_position(frozen, shoe)
    hands = frozen["coup"] and frozen["coup"]["hands"]
    first = hands["first"] if hands else shoe.gone
    coup = tuple(map(Card.parse, dealt.split())) if dealt else ()
    if len(coup) != shoe.gone - first:
        raise WrongCard(gettext_noop("Cards are missing."), Finding("cards", str(shoe.gone - first), str(len(coup))))
    return UNKNOWN[:first] + coup + UNKNOWN[shoe.gone :]


def _shoe(row: Mapping[str, Any]) -> StoredShoe | None:
    if row["shoe"] is None:
        return None
    return StoredShoe(id=row["shoe"], ended_at=row["shoe_ended_at"], gone=row["gone"])


def _without_cards(frozen: dict[str, Any]) -> dict[str, Any]:
    """Remove an unreadable shoe and its cards from the state.

    The table is about to be stopped; until then it shows that it waits for a shoe.
    """
    coup = frozen["coup"] and {**frozen["coup"], "hands": None}
    phase = Phase.SHOE if frozen["phase"] in WITH_HANDS else frozen["phase"]
    return {**frozen, "shoe": None, "coup": coup, "phase": phase}


def _past(round_id: str, code: str, outcome: str, punter_total: int | None, banker_total: int | None) -> Past:
    return Past(UUID(round_id), code, Outcome(outcome) if outcome else None, punter_total, banker_total)


def _move(
    number: int,
    at: str,
    round_id: str | None,
    code: str,
    seat: int | None,
    kind: str,
    decider: str,
    events: list[dict[str, Any]],
) -> Move:
    heard = tuple(event_codec.read(event) for event in events)
    return Move(
        number=number,
        at=datetime.fromisoformat(at),
        round=UUID(round_id) if round_id else None,
        code=code,
        seat=seat,
        kind=kind,
        decider=Decider(decider),
        events=heard,
    )


def _list(stored: str | None) -> list[Any]:
    found: list[Any] = json.loads(stored or "[]")
    return found


def _moment(stored: str | None) -> datetime | None:
    return datetime.fromisoformat(stored) if stored else None
