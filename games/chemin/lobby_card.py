"""What moves on the card of a guests' table in the lobby: what is asked there, how many places are taken, the bank in
play, how the last coups ended. The same for everybody who reads a language.

What is asked of whom is told no finer than the lobby needs it: a card is sent to everybody there.
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
from games.engine.chemin.phases import IN_COUP
from games.engine.roads import Bead
from games.tables.chemin_rules import GuestRules
from games.variants import GAMES
from wallet.models import Mode

BEAD_OF: Final = {
    Outcome.PUNTER: Bead(punto_banco.Outcome.PLAYER),
    Outcome.BANKER: Bead(punto_banco.Outcome.BANKER),
    Outcome.DRAW: Bead(punto_banco.Outcome.TIE),
}
"""Roads are drawn of two sides, whoever plays them."""

DEALING: Final = frozenset({Phase.CARDS, Phase.PUNTER, Phase.BANKER})


@dataclass(frozen=True)
class GuestCardState:
    """A guests' table as the lobby knows it at the moment *now*, by the database's clock."""

    now: datetime
    live_table: int
    mode: Mode
    slug: str
    is_open: bool  # and this program plays the rules it was put live with
    is_paused: bool  # and would play on
    is_stopped: bool
    is_house_stopped: bool
    rules: GuestRules
    phase: Phase
    taken: int  # places
    bank: int | None  # minor units: what somebody holds, or passes on
    shoe: UUID | None
    outcomes: tuple[Outcome, ...]  # of its coups, without annulled ones
    is_played: bool  # for its kind of money, under the version in force
    jurisdictions: tuple[str, ...]  # whose players it serves

    @property
    def may_enter(self) -> bool:
        """Whether there is something to do at the table: where it was closed, guests are played out."""
        return self.is_open or self.is_paused or self.is_stopped or self.taken > 0

    @property
    def status(self) -> str:
        """What the table does: a phase of the engine, or "stopped", "halted" by a stop of the whole house, "paused",
        "closed_table".
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
        """The results of the shoe in the order they were dealt."""
        return tuple(BEAD_OF[outcome] for outcome in self.outcomes)

    @property
    def key(self) -> tuple[object, ...]:
        """What is another one where the card shows something else."""
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


def guest_card_state(row: Mapping[str, Any]) -> GuestCardState:
    """Read a row of `games.shared.lobby_card.READ_CARDS`. Raises GuestRulesError where its limits cannot be read."""
    standing = json.loads(row["standing"])
    bank, sale = standing["bank"], standing["sale"]
    return GuestCardState(
        now=row["now"],
        live_table=row["live_table"],
        mode=Mode(row["mode"]),
        slug=row["slug"],
        is_open=row["is_open"] and row["rules_digest"] == GAMES[row["variant"]].digest,
        is_paused=row["is_paused"] and row["rules_digest"] == GAMES[row["variant"]].digest,
        is_stopped=row["is_stopped"],
        is_house_stopped=row["is_house_stopped"],
        rules=GuestRules.of(json.loads(row["limits"])),
        phase=Phase(standing["phase"]),
        taken=len(standing["seats"]),
        bank=bank[1] if bank else sale["full_amount"] if sale else None,
        shoe=row["shoe"],
        outcomes=tuple(Outcome(each) for each in (row["results"] or "").split(",") if each),
        is_played=bool(row["is_played"]),
        jurisdictions=tuple(row["jurisdictions"] or ()),
    )


def asked_word(state: GuestCardState) -> str:
    """Return what is asked at the table, in the active language."""
    match state.phase:
        case Phase.GUESTS:
            return _("Waiting for a second guest") if state.taken else _("Nobody sits here yet")
        case Phase.FREE:
            return _("Any seat may open the bank")
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
            return _("Is the bank kept?")
    return _("Cards are being dealt")


def outcome_names() -> dict[punto_banco.Outcome, str]:
    """Return what the sides are called on its road, in the active language."""
    return {
        punto_banco.Outcome.PLAYER: _("Punter"),
        punto_banco.Outcome.BANKER: _("Banker"),
        punto_banco.Outcome.TIE: pgettext("outcome", "Draw"),
    }
