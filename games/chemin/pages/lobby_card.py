"""The live part of a Chemin de Fer table's card in the lobby: pending question, seats, bank, last coups.

It is the same for every reader of a language, so it names no player: a card is sent to everybody in
the lobby.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.engine import coup as punto_banco
from games.engine.chemin import Outcome, Phase
from games.engine.chemin.steps.phases import IN_COUP
from games.engine.roads import Bead
from games.tables.chemin_rules import CheminRules
from games.variants import GAMES
from wallet.models import Mode

BEAD_OF: Final = {
    Outcome.PUNTER: Bead(punto_banco.Outcome.PLAYER),
    Outcome.BANKER: Bead(punto_banco.Outcome.BANKER),
    Outcome.DRAW: Bead(punto_banco.Outcome.TIE),
}
"""Roads are drawn with the two sides of punto banco."""

DEALING: Final = frozenset({Phase.CARDS, Phase.PUNTER, Phase.BANKER})


@dataclass(frozen=True)
class CheminCardState:
    """A table of Chemin de Fer in the lobby at the moment *now* of the database's clock."""

    now: datetime
    live_table: int
    mode: Mode
    slug: str
    is_open: bool  # and this version of the code has the table's rules
    is_paused: bool  # and the table would otherwise be open
    is_stopped: bool
    is_house_stopped: bool
    rules: CheminRules
    phase: Phase
    taken: int  # number of taken seats
    bank: int | None  # minor units: the bank that is held or for sale
    shoe: UUID | None
    outcomes: tuple[Outcome, ...]  # of its coups, without void ones
    is_played: bool  # for its kind of money, under the version in force
    jurisdictions: tuple[str, ...]  # jurisdictions whose players the table serves

    @property
    def may_enter(self) -> bool:
        """True if a player may open the table: a closed table still plays out a coup in progress."""
        return self.is_open or self.is_paused or self.is_stopped or self.taken > 0

    @property
    def status(self) -> str:
        """The status of the table: a phase of the engine, or "stopped", "halted", "paused", "closed_table".

        "halted" means a house stop.
        """
        if self.is_stopped:
            return "stopped"
        if self.is_house_stopped and self.is_paused and self.phase not in IN_COUP:
            return "halted"
        if self.is_paused and self.phase not in IN_COUP:
            return "paused"
        if not self.may_enter:
            return "closed_table"
        return "dealt" if self.phase in DEALING else str(self.phase)

    @property
    def beads(self) -> tuple[Bead, ...]:
        """The results of the shoe in dealing order."""
        return tuple(BEAD_OF[outcome] for outcome in self.outcomes)

    @property
    def key(self) -> tuple[object, ...]:
        """A key that changes when the card changes."""
        return (
            self.status,
            self.is_open,
            self.is_paused,
            self.is_house_stopped,
            self.taken,
            self.bank,
            self.shoe,
            self.outcomes,
        )


def chemin_card_state(row: Mapping[str, Any]) -> CheminCardState:
    """Return the state of a row of the shared card's `READ_CARDS`. Raises CheminRulesError for invalid limits."""
    table_state = json.loads(row["table_state"])
    bank, sale = table_state["bank"], table_state["sale"]
    return CheminCardState(
        now=row["now"],
        live_table=row["live_table"],
        mode=Mode(row["mode"]),
        slug=row["slug"],
        is_open=row["is_open"] and row["rules_digest"] == GAMES[row["variant"]].digest,
        is_paused=row["is_paused"] and row["rules_digest"] == GAMES[row["variant"]].digest,
        is_stopped=row["is_stopped"],
        is_house_stopped=row["is_house_stopped"],
        rules=CheminRules.of(json.loads(row["limits"])),
        phase=Phase(table_state["phase"]),
        taken=len(table_state["seats"]),
        bank=bank[1] if bank else sale["full_amount"] if sale else None,
        shoe=row["shoe"],
        outcomes=tuple(Outcome(each) for each in (row["results"] or "").split(",") if each),
        is_played=bool(row["is_played"]),
        jurisdictions=tuple(row["jurisdictions"] or ()),
    )


def question_label(state: CheminCardState) -> str:
    """Return the pending question of the table, in the active language."""
    match state.phase:
        case Phase.ALONE:
            return _("Waiting for a second player") if state.taken else _("No players yet")
        case Phase.FREE:
            return _("Any player may open the bank")
        case Phase.OFFER:
            return _("The bank is offered")
        case Phase.SUITE:
            return _("The bank is passed on")
        case Phase.AUCTION:
            return _("The bank goes to the highest bid")
        case Phase.SHOE:
            return _("A new shoe is brought")
        case Phase.CALLS:
            return _("Who calls banco?")
        case Phase.STAKES:
            return _("Stakes are placed")
        case Phase.CHOICE:
            return _("Keep or pass on the bank?")
    return _("Cards are being dealt")


def outcome_names() -> dict[punto_banco.Outcome, str]:
    """Return the names of the sides on the road, in the active language."""
    return {
        punto_banco.Outcome.PLAYER: _("Punter"),
        punto_banco.Outcome.BANKER: _("Banker"),
        punto_banco.Outcome.TIE: pgettext("outcome", "Draw"),
    }
