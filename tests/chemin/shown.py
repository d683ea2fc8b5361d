"""Builds a Chemin de Fer table for page tests from the engine alone: no database, any cards."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from games.chemin.state.queries import Move, PublicTable, SeatedPlayer
from games.engine.chemin import State
from games.engine.chemin.events import Event
from games.models import Decider
from games.shared.state import Shoe
from games.tables.chemin_rules import CheminRules
from tests.builders import UNHURRIED_CHEMIN
from wallet.models import Mode

NOW = datetime(2026, 3, 4, 21, 7, 5, tzinfo=UTC)
COUP = UUID(int=11)
FUNDS = 7_777  # of every player


def seen(state: State, events: Sequence[Event]) -> PublicTable:
    """Return the table in this state after these events. Player 101 is at seat 1, and so on."""
    rules = state.rules
    return PublicTable(
        now=NOW,
        live_table=1,
        mode=Mode.REAL,
        slug="chemin",
        name="Chemin",
        is_open=True,
        is_paused=False,
        is_stopped=False,
        is_house_stopped=False,
        rules=CheminRules("SEK", rules.seat_count, rules.minimum, rules.maximum),
        clock=UNHURRIED_CHEMIN,
        table_state=state,
        seated_players=tuple(
            SeatedPlayer(seat.number, 200 + seat.number, 100 + seat.number, "", None) for seat in state.seats
        ),
        move=len(events),
        question=len(events),
        asked_at=NOW,
        deadline=NOW + timedelta(minutes=10),
        round=COUP,
        code="0000-0000-0000",
        voided=None,
        shoe=Shoe(UUID(int=12), 1, "c0" * 32, "d0" * 32, is_spent=False),
        spent_shoe=None,
        spent_number=None,
        cut=None,
        moves=tuple(
            Move(number, NOW, COUP, "0000-0000-0000", None, "deal_cards", Decider.PLAYER, (event,))
            for number, event in enumerate(events, 1)
        ),
        past=(),
    )


def own_row(number: int | None) -> Mapping[str, Any]:
    """Return the own row of the player at a seat, or of a spectator."""
    return {
        "player": 100 + number if number else 7,
        "currency": "SEK",
        "zone": "Europe/Stockholm",
        "funds": FUNDS,
        "missed": 0,
        "away_since": None,
        "round": COUP,
        "code": "0000-0000-0000",
        "staked": None,
        "paid": 0,
        "is_void": None,
        "net": 0,
    }
