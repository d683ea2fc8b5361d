"""The live part of a table's card in the lobby: phase, last results, number of players.

It is the same for every reader of a language, so pages and streams share one rendering.
`games.chemin.pages.lobby_card` holds the state of Chemin de Fer. A result is added to the road when its
round is settled, not when its cards are drawn; by then the cards are face up at the table.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import override, pgettext

from games.chemin.pages.lobby_card import CheminCardState, chemin_card_state, outcome_names, question_label
from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Coup, Outcome, TooFewCards, deal
from games.engine.roads import Bead, GoodRoad, Roads, good_road
from games.labels import bet_name
from games.models import OPEN_PHASES, Phase, Shape
from games.shared.pages.board import Countdown
from games.shared.pages.scoreboard import good_road_label, regularity_names, road_names
from games.tables import roads_svg
from games.tables.clock import Clock
from games.tables.fragments import render_fragment
from games.variants import VARIANTS
from wallet import house_stop
from wallet.models import Mode
from wallet.money import format_money

PLATE_COLUMNS: Final = 6
"""Number of columns of the bead plate on a card. The other roads have twice as many."""

# Parameter: live tables. A player counts if they have bets in the round on the table or had some in
# the one before, so that the count does not reveal single bets while betting is open. Results are
# cards, or outcomes at Chemin de Fer. Chemin de Fer shows the version in force, whatever the
# version of its latest coup.
READ_CARDS: Final = f"""
SELECT clock_timestamp() AS now, live.id AS live_table, live.mode AS mode, game_table.slug AS slug,
    game_table.variant AS variant, game_table.shape AS shape,
    live.mode = ANY (current.modes) AND game_table.status = 'open' AND NOT {house_stop.IS_STOPPED} AS is_open,
    live.mode = ANY (current.modes) AND (game_table.status = 'paused' OR game_table.status = 'open' AND
    {house_stop.IS_STOPPED}) AS is_paused, live.stopped_by_id IS NOT NULL AS is_stopped, {house_stop.IS_STOPPED} AS
    is_house_stopped, current.jurisdictions AS jurisdictions, live.mode = ANY (current.modes) AS is_played,
    version.rules_digest AS rules_digest, version.clock::text AS clock, shoe.id AS shoe, round.phase AS phase,
    round.deadline AS deadline, chemin.state::text AS table_state, CASE game_table.shape WHEN '{Shape.CHEMIN}' THEN
    version.limits::text END AS limits, (SELECT count(*) FROM games_liveseat AS bettor WHERE bettor.round_id IN
    (round.id, before.id) AND bettor.stakes <> '{{}}'::jsonb) AS players,
    CASE game_table.shape WHEN '{Shape.CHEMIN}' THEN
    (SELECT string_agg(coup.outcome, ',' ORDER BY past.number) FROM games_liveround AS past JOIN games_chemincoup AS
    coup ON coup.round_id = past.id WHERE past.shoe_id = shoe.id AND past.phase = '{Phase.SETTLED}' AND NOT EXISTS
    (SELECT FROM games_void AS void WHERE void.round_id = past.id)) ELSE (SELECT string_agg(past.cards, ',' ORDER BY
    past.number) FROM games_liveround AS past WHERE past.shoe_id = shoe.id AND past.phase = '{Phase.SETTLED}' AND NOT
    EXISTS (SELECT FROM games_void AS void WHERE void.round_id = past.id)) END AS results
FROM games_livetable AS live
JOIN games_table AS game_table ON game_table.id = live.table_id
LEFT JOIN games_tableversion AS current ON current.id = game_table.version_id
LEFT JOIN games_chemintable AS chemin ON chemin.live_table_id = live.id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
LEFT JOIN games_tableversion AS version ON version.id =
    CASE game_table.shape WHEN '{Shape.CHEMIN}' THEN game_table.version_id
        ELSE coalesce(round.version_id, game_table.version_id) END
LEFT JOIN games_shoe AS shoe ON shoe.id = coalesce(live.shoe_id, round.shoe_id)
LEFT JOIN games_shoe AS dealt ON dealt.id = round.shoe_id
LEFT JOIN games_shoe AS spent
    ON spent.live_table_id = live.id AND spent.number = dealt.number - 1 AND round.number = 1
LEFT JOIN LATERAL (SELECT earlier.id FROM games_liveround AS earlier
    WHERE earlier.shoe_id = coalesce(spent.id, dealt.id)
        AND earlier.number < CASE WHEN spent.id IS NULL THEN round.number ELSE 32767 END
    ORDER BY earlier.number DESC LIMIT 1) AS before ON true
WHERE live.id = ANY (%s)
"""  # noqa: S608  (nothing but names of our own)

# Parameter: the mode. All tables of a lobby; the reader's page filters them.
READ_LOBBY: Final = "SELECT id FROM games_livetable WHERE mode = %s"


@dataclass(frozen=True)
class CardState:
    """A shared table in the lobby at the moment *now* of the database's clock."""

    now: datetime
    live_table: int
    mode: Mode
    slug: str
    variant: Variant
    is_open: bool  # and this version of the code has the table's rules
    is_paused: bool  # and the table would otherwise be open
    is_stopped: bool
    is_house_stopped: bool
    clock: Clock | None
    shoe: UUID | None
    phase: Phase | None  # of the latest round
    deadline: datetime | None  # of that phase
    players: int
    results: str  # cards of the settled rounds of the shoe
    is_played: bool  # for its kind of money, under the version in force
    jurisdictions: tuple[str, ...]  # jurisdictions whose players the table serves

    @property
    def is_playing(self) -> bool:
        """True if a round is in progress."""
        return self.phase in OPEN_PHASES

    @property
    def may_enter(self) -> bool:
        """True if a player may open the table: a closed table still plays out a round in progress."""
        return self.is_open or self.is_paused or self.is_stopped or self.is_playing

    @property
    def status(self) -> str:
        """The status of the table: a phase, or "stopped", "halted", "paused", "closed_table", "waiting".

        "halted" means a house stop.
        """
        if self.is_stopped:
            return "stopped"
        if self.is_house_stopped and (self.phase == Phase.BETTING or (self.is_paused and not self.is_playing)):
            return "halted"
        if self.is_paused and not self.is_playing:
            return "paused"
        if not self.is_open and not self.is_playing:
            return "closed_table"
        return "waiting" if self.phase is None else str(self.phase)

    @property
    def beads(self) -> tuple[Bead, ...]:
        """The results of the shoe in dealing order."""
        found = (_coup(cards) for cards in self.results.split(",") if cards)
        return tuple(Bead.of(coup) for coup in found if coup is not None)

    @property
    def last(self) -> Coup | None:
        """The latest settled coup of the shoe."""
        return _coup(self.results.rpartition(",")[2]) if self.results else None


LobbyCard = CardState | CheminCardState


@dataclass(frozen=True)
class CardView:
    """The content of a card."""

    key: str  # changes when anything but the time changes
    status: str
    word: str
    countdown: Countdown | None
    is_open: bool
    is_paused: bool
    is_stopped: bool
    is_house_stopped: bool
    may_enter: bool
    players: int
    roads: tuple[str, ...]
    has_results: bool
    good_road: str  # code of a `GoodRoad`; "" for none
    good_road_name: str
    last: str  # the latest result: "Banker 7 – 5"
    seats: tuple[bool, ...] = ()
    """Seats of a table of Chemin de Fer: True for each taken seat, taken ones first."""
    bank: str = ""  # bank in play, at Chemin de Fer


def card_state(row: Mapping[str, Any]) -> LobbyCard:
    """Return the state of a row of `READ_CARDS`. Raises ClockError, CheminRulesError for an invalid version."""
    if row["shape"] == Shape.CHEMIN:
        return chemin_card_state(row)
    variant = VARIANTS[row["variant"]]
    return CardState(
        now=row["now"],
        live_table=row["live_table"],
        mode=Mode(row["mode"]),
        slug=row["slug"],
        variant=variant,
        is_open=bool(row["is_open"]) and row["rules_digest"] == variant.digest,
        is_paused=bool(row["is_paused"]) and row["rules_digest"] == variant.digest,
        is_stopped=row["is_stopped"],
        is_house_stopped=row["is_house_stopped"],
        clock=_clock(row["clock"]),
        shoe=row["shoe"],
        phase=Phase(row["phase"]) if row["phase"] else None,
        deadline=row["deadline"],
        players=row["players"],
        results=row["results"] or "",
        is_played=bool(row["is_played"]),
        jurisdictions=tuple(row["jurisdictions"] or ()),
    )


def is_for(state: LobbyCard, currency: str | None, jurisdiction: str | None) -> bool:
    """Return whether the card is shown to a reader with that currency and jurisdiction.

    *jurisdiction* is None for a visitor. A table of Chemin de Fer has only one currency.
    """
    if not state.is_played or (jurisdiction is not None and jurisdiction not in state.jurisdictions):
        return False
    return isinstance(state, CardState) or state.rules.currency == currency


def card_key(state: LobbyCard) -> tuple[object, ...]:
    """Return a key that changes when the card changes."""
    if isinstance(state, CheminCardState):
        return (*state.key, state.is_played, state.jurisdictions)
    counted = _countdown(state)
    return (
        state.status,
        state.is_open,
        state.is_paused,
        state.is_house_stopped,
        counted and counted.deadline,
        state.players,
        state.shoe,
        state.results,
        state.is_played,
        state.jurisdictions,
    )


def render_card(state: LobbyCard, language: str) -> str:
    """Return the live part of a table's card, the same for everybody."""
    with override(language):
        return render_fragment("lobby.html#card", card=card_view(state, language), table=state)


def card_view(state: LobbyCard, language: str) -> CardView:
    """Return the content of a card, in the active language."""
    beads = state.beads
    good = good_road_of(state)
    view = CardView(
        key=hashlib.sha256(repr(card_key(state)).encode()).hexdigest()[:16],
        status=state.status,
        word=_word(state),
        countdown=None,
        is_open=state.is_open,
        is_paused=state.is_paused,
        is_stopped=state.is_stopped,
        is_house_stopped=state.is_house_stopped,
        may_enter=state.may_enter,
        players=0,
        roads=_roads(tuple(_names(state, language).items()), beads, language),
        has_results=bool(beads),
        good_road=good or "",
        good_road_name=good_road_label(good),
        last=_last(state, language),
    )
    if isinstance(state, CardState):
        return replace(view, countdown=_countdown(state), players=state.players)
    rules, bank = state.rules, state.bank
    return replace(
        view,
        players=state.taken,
        seats=tuple(number < state.taken for number in range(rules.seat_count)),
        bank="" if bank is None else format_money(bank, rules.currency, language),
    )


def _word(state: LobbyCard) -> str:
    match state.status:
        case "stopped":
            return _("The table is stopped")
        case "halted":
            return _("Play is stopped")
        case "paused":
            return _("The table is paused")
        case "closed_table":
            return _("The table is closed")
    return question_label(state) if isinstance(state, CheminCardState) else _phase_label(state)


def _phase_label(state: CardState) -> str:
    match state.status:
        case "waiting":
            return _("The table opens in a moment")
        case Phase.BETTING:
            return _("Place your bets")
        case Phase.CLOSED:
            return _("No more bets")
        case Phase.DEALT:
            return _("Cards are being dealt")
    return pgettext("before the seconds until it begins", "Next round")


def _countdown(state: CardState) -> Countdown | None:
    """Return the countdown of the card, as at the table. The end of a deal is not shown."""
    if state.clock is None or state.deadline is None:
        return None
    lengths = {Phase.BETTING: state.clock.betting, Phase.SETTLED: state.clock.pause, Phase.VOID: state.clock.pause}
    length = lengths.get(state.phase) if state.phase and state.status == state.phase else None
    if length is None:
        return None
    return Countdown(_milliseconds(state.deadline), _milliseconds(state.now), length, "")


def _names(state: LobbyCard, language: str) -> Mapping[Outcome, str]:
    if isinstance(state, CheminCardState):
        return outcome_names()
    return {outcome: bet_name(state.variant, outcome.value, language) for outcome in Outcome}


def good_road_of(state: LobbyCard) -> GoodRoad | None:
    """Return the good road of the table's shoe. Chemin de Fer has none: its banker changes with the wins."""
    return good_road(state.beads) if isinstance(state, CardState) else None


def _last(state: LobbyCard, language: str) -> str:
    if not state.beads:
        return ""
    name = _names(state, language)[state.beads[-1].outcome]
    coup = state.last if isinstance(state, CardState) else None
    if coup is None:
        return name
    ahead, behind = sorted((coup.player_total, coup.banker_total), reverse=True)
    return f"{name} {ahead} – {behind}"


@lru_cache(maxsize=512)
def _roads(named: tuple[tuple[Outcome, str], ...], beads: tuple[Bead, ...], language: str) -> tuple[str, ...]:
    """Return the five roads as small boards. Cached: every reader of the lobby sees the same."""
    names, roads = dict(named), Roads.of(beads)
    colours = regularity_names()
    plate, big, *derived = road_names()
    shapes = zip(derived, roads[2:], roads_svg.Shape, strict=True)
    return (
        roads_svg.bead_plate(roads.bead_plate, columns=PLATE_COLUMNS, title=plate, names=names),
        roads_svg.big_road(roads.big_road, columns=2 * PLATE_COLUMNS, title=big, names=names),
        *(
            roads_svg.derived_road(road, columns=2 * PLATE_COLUMNS, title=title, names=colours, shape=shape)
            for title, road, shape in shapes
        ),
    )


@lru_cache(maxsize=4096)
def _coup(cards: str) -> Coup | None:
    """Return the coup of these cards; None where they make none."""
    try:
        return deal([Card.parse(code) for code in cards.split()])
    except (CardError, TooFewCards):
        return None


def _clock(stored: str | None) -> Clock | None:
    return Clock.of(json.loads(stored)) if stored else None


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
