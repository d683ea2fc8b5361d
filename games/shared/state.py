"""The state of a shared table, and of a player at it, at one moment. Any connection may read the rows.

The server knows every card from the deal on. A page may show `State.turned` cards, by the
database's clock.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, NamedTuple
from uuid import UUID

from games.beacon import is_beacon
from games.betting.limits import Limits, StoredLimits
from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Coup, TooFewCards, deal
from games.models import OPEN_PHASES, Phase, Result, Ruling, VoidReason
from games.tables.clock import Clock
from games.variants import VARIANTS
from wallet import house_stop
from wallet.models import Mode

LAPSED: Final = timedelta(seconds=5)
"""A betting time that has passed by this much waits for somebody to come: a tick comes every second."""

LATE: Final = timedelta(seconds=3)
"""Cards, or the next round, that are due for longer than this are late, and the page says so."""

READ_CUT: Final = """shoe.entropy AS entropy, CASE WHEN shoe.entropy <> '' THEN games_chances(shoe.id) END AS chances,
    cut.shoe_id AS cut_shoe, cut.commitment AS cut_commitment, cut.begun_at AS cut_begun_at,
    cut.bound_until AS bound_until, cut.open_until AS open_until,
    (SELECT b.round FROM games_shoebeacon AS b WHERE b.shoe_id = shoe.id) AS beacon_round,
    (SELECT b.round FROM games_shoebeacon AS b WHERE b.shoe_id = cut.shoe_id) AS cut_beacon_round,
    (SELECT b.wait_until FROM games_shoebeacon AS b WHERE b.shoe_id = cut.shoe_id AND b.signature = '') AS wait_until"""
"""The columns of what players have added to a shoe, and of the one that they are cutting."""

# Parameter: the live table. The version is that of the round, where there is one, because a round
# is played to its end under it. A result is included once its round is settled, not when its cards
# are drawn; void rounds are left out. Winners are counted over all who had bet, and only during the
# pause that shows the count: one pass over an index of that round's participations.
READ_PUBLIC = f"""
SELECT clock_timestamp() AS now, live.id AS live_table, live.mode AS mode, game_table.slug AS slug,
    game_table.name AS name, game_table.variant AS variant,
    live.mode = ANY (current.modes) AND game_table.status = 'open' AND NOT {house_stop.IS_STOPPED} AS is_open,
    live.mode = ANY (current.modes) AND (game_table.status = 'paused' OR game_table.status = 'open' AND
    {house_stop.IS_STOPPED}) AS is_paused, live.stopped_by_id IS NOT NULL AS is_stopped, {house_stop.IS_STOPPED} AS
    is_house_stopped, version.number AS table_version, version.rules_digest AS rules_digest, version.limits::text AS
    limits, version.clock::text AS clock, shoe.id AS shoe, shoe.number AS shoe_number, shoe.commitment AS commitment,
    shoe.root AS root, shoe.ended_at IS NOT NULL AS shoe_is_spent, {READ_CUT},
    round.id AS round, round.number AS round_number, round.is_last AS is_last, round.code AS code,
    round.phase AS phase, round.deadline AS deadline, round.dealt_at AS dealt_at,
    round.cards AS cards, coalesce(void.reason, '') AS voided, (SELECT string_agg(past.cards, ',' ORDER BY
    past.number) FROM games_liveround AS past WHERE past.shoe_id = shoe.id AND past.phase = '{Phase.SETTLED}' AND NOT
    EXISTS (SELECT FROM games_void AS undone WHERE undone.round_id = past.id)) AS results, CASE WHEN round.phase =
    '{Phase.SETTLED}' AND void.round_id IS NULL THEN ( SELECT ARRAY[count(*) FILTER (WHERE part.result = {Result.WON}),
    count(*) FILTER (WHERE part.result = {Result.EVEN}), count(*) FILTER (WHERE part.result = {Result.LOST})] FROM
    games_participation AS part WHERE part.round_id = round.id ) END AS counts, EXISTS (SELECT FROM games_incident AS
    incident JOIN games_incidentruling AS ruling ON ruling.incident_id = incident.id AND ruling.ruling =
    '{Ruling.CONFIRMED}' WHERE incident.live_round_id = round.id) AS is_confirmed, spent.id AS spent_shoe,
    spent.number AS spent_number
FROM games_livetable AS live
JOIN games_table AS game_table ON game_table.id = live.table_id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
LEFT JOIN games_tableversion AS version ON version.id = coalesce(round.version_id, game_table.version_id)
LEFT JOIN games_tableversion AS current ON current.id = game_table.version_id
LEFT JOIN games_shoe AS shoe ON shoe.id = coalesce(live.shoe_id, round.shoe_id)
LEFT JOIN games_shoe AS spent
    ON spent.live_table_id = live.id AND spent.ended_at IS NOT NULL
    AND spent.number = CASE WHEN shoe.ended_at IS NULL THEN shoe.number - 1 ELSE shoe.number END
LEFT JOIN games_void AS void ON void.round_id = round.id
LEFT JOIN games_shoecut AS cut ON cut.live_table_id = live.id
WHERE live.id = %s
"""  # noqa: S608  (nothing but names of our own)

# Parameters: the live table, its players. `part` belongs to the round of the slip: the round played
# last, until the player bets again. `funds` is the balance less what is held.
READ_OWN = """
WITH live AS MATERIALIZED (
    SELECT live.id, live.mode, live.round_id, (
        SELECT before.id FROM games_liveround AS latest
        JOIN games_shoe AS shoe ON shoe.id = latest.shoe_id
        JOIN games_shoe AS earlier
            ON earlier.live_table_id = live.id AND earlier.number = shoe.number - (latest.number = 1)::int
        JOIN games_liveround AS before
            ON before.shoe_id = earlier.id AND (latest.number = 1 OR before.number < latest.number)
        WHERE latest.id = live.round_id ORDER BY before.number DESC LIMIT 1
    ) AS round_before
    FROM games_livetable AS live WHERE live.id = %s
)
SELECT seat.player_id AS player, seat.version AS version, seat.currency AS currency, seat.round_id AS round,
    seat.stakes::text AS stakes,
    seat.undo <> '[]'::jsonb AS can_undo, seat.last_stakes::text AS last_stakes, seat.last_chip AS last_chip,
    (SELECT picked.chips::text FROM games_chipset AS picked WHERE picked.player_id = seat.player_id) AS chips,
    account.balance - account.held AS funds, law.time_zone AS zone,
    part.paid AS paid, played.code AS code, coalesce(void.reason, '') AS voided,
    coalesce(seat.round_id IN (live.round_id, live.round_before), false) AS is_recent,
    (SELECT jsonb_object_agg(wager.bet, jsonb_build_array(wager.stake, wager.payout, wager.result))::text
        FROM games_wager AS wager WHERE wager.participation_id = part.id) AS bets,
    (SELECT string_agg(squeeze.side, ' ' ORDER BY squeeze.side DESC) FROM games_squeeze AS squeeze
        WHERE squeeze.live_table_id = live.id AND squeeze.round_id = live.round_id
        AND squeeze.player_id = seat.player_id) AS squeezes,
    CASE live.mode WHEN 'R' THEN play_session.paid_real - play_session.staked_real
        ELSE play_session.paid_free - play_session.staked_free END AS net
FROM live JOIN games_liveseat AS seat ON seat.live_table_id = live.id
JOIN wallet_account AS account ON account.id = seat.account_id
JOIN players_player AS whose ON whose.id = seat.player_id
JOIN players_jurisdiction AS law ON law.code = whose.jurisdiction_id
LEFT JOIN players_playsession AS play_session ON play_session.session = seat.session
LEFT JOIN games_participation AS part ON part.round_id = seat.round_id AND part.player_id = seat.player_id
LEFT JOIN games_round AS played ON played.id = part.round_id
LEFT JOIN games_void AS void ON void.round_id = part.round_id
WHERE seat.player_id = ANY (%s)
"""


# Parameter: the live table. The hands of its round whose cards are turned by a player who has said so: `card` is the
# one that is held, lifted by `share` percent, and `turned` are those that are face up.
READ_SQUEEZES: Final = """
SELECT squeeze.round_id AS round, squeeze.side AS side, squeeze.card AS card, squeeze.share AS share,
    squeeze.turned AS turned
FROM games_livetable AS live JOIN games_squeeze AS squeeze ON squeeze.live_table_id = live.id
WHERE live.id = %s AND squeeze.round_id = live.round_id AND squeeze.at IS NOT NULL ORDER BY squeeze.side
"""


@dataclass(frozen=True)
class Shoe:
    """The shoe on the table."""

    id: UUID
    number: int
    commitment: str
    root: str  # over all its cards
    is_spent: bool
    entropy: str = ""  # what went into the shuffle in addition to the seed
    chances: tuple[str, ...] = ()  # what players have added, each as "digest value", and a line of a beacon
    beacon_round: int | None = None  # of the beacon, where one was chosen for the shoe

    @property
    def players(self) -> int:
        """Return how many players have added to it."""
        return sum(1 for line in self.chances if not is_beacon(line))

    @property
    def has_beacon(self) -> bool:
        """Return whether the round of the beacon came in time."""
        return any(map(is_beacon, self.chances))


@dataclass(frozen=True)
class Cut:
    """A shoe that players are cutting: they bind themselves to a value first, and open it then."""

    shoe: UUID
    commitment: str
    begun_at: datetime
    bound_until: datetime
    open_until: datetime
    beacon_round: int | None = None  # of a beacon, that goes in as well
    wait_until: datetime | None = None  # for that round, while it has not come

    @property
    def ends_at(self) -> datetime:
        """Return when the shoe is put on the table at the latest."""
        return self.wait_until or self.open_until


class Counts(NamedTuple):
    """Numbers of bettors of a round who won, came out even and lost, in all currencies."""

    won: int
    even: int
    lost: int

    @property
    def players(self) -> int:
        """Return how many players had bet."""
        return sum(self)


@dataclass(frozen=True)
class Coming:
    """The round in progress, or the last one played."""

    id: UUID
    number: int  # in its shoe
    is_last: bool
    code: str
    phase: Phase
    deadline: datetime
    dealt_at: datetime | None
    cards: tuple[Card, ...]  # all drawn cards, face up or face down
    voided: VoidReason | None
    is_confirmed: bool  # an incident about the round was ruled to let it stand
    counts: Counts | None  # set once the round is settled

    @property
    def is_void(self) -> bool:
        """Return whether the round was voided with bets on it."""
        return self.voided is not None


@dataclass(frozen=True)
class State:
    """A shared table at the moment *now* of the database's clock, the same for everybody."""

    now: datetime
    live_table: int
    mode: Mode
    slug: str
    name: str
    variant: Variant
    is_open: bool  # and this version of the code has the table's rules
    is_paused: bool  # and the table would otherwise be open
    is_stopped: bool
    is_house_stopped: bool
    table_version: int
    stored_limits: StoredLimits
    clock: Clock | None
    shoe: Shoe | None
    spent_shoe: UUID | None  # the latest shoe, this or the one before, whose seed is public
    spent_number: int | None
    round: Coming | None
    cut: Cut | None  # the next shoe, before it is on the table
    results: str  # cards of the shoe's settled rounds in order, separated by commas: see `pages.scoreboard`

    def at(self, moment: datetime) -> "State":
        """Return the state at a later moment, if nothing else has changed."""
        return replace(self, now=moment)

    def limits(self, currency: str) -> Limits:
        """Return the limits of the round in one currency. Raises UnknownCurrency."""
        return Limits.of(self.stored_limits, currency)

    @property
    def takes_bets(self) -> bool:
        """Return whether a bet may be placed. The deadline itself is checked when the bet arrives."""
        return self.lets_bets_go and not self.is_house_stopped

    @property
    def has_lapsed(self) -> bool:
        """Return whether the betting time passed some time ago, which happens while nobody watches a table."""
        due = self.round.deadline + LAPSED if self.round and self.takes_bets and self.is_open else None
        return due is not None and due < self.now

    @property
    def lets_bets_go(self) -> bool:
        """Return whether bets may be taken off."""
        return self.round is not None and self.round.phase == Phase.BETTING and not self.is_stopped

    @property
    def is_playing(self) -> bool:
        """Return whether a round is in progress."""
        return self.round is not None and self.round.phase in OPEN_PHASES

    @property
    def waits(self) -> bool:
        """Return whether no round is in progress because the table is paused."""
        return self.is_paused and not self.is_playing

    @property
    def is_cutting(self) -> bool:
        """Return whether players are cutting the next shoe."""
        return self.cut is not None and self.is_open and not self.is_playing and not self.is_stopped

    @property
    def is_halted(self) -> bool:
        """Return whether only a house stop keeps the table from taking bets now or soon."""
        return self.is_house_stopped and not self.is_stopped and (self.lets_bets_go or self.waits)

    @property
    def turned(self) -> int:
        """Return how many cards of the round are face up by now."""
        played = self.round
        if played is None or played.dealt_at is None:
            return 0
        if played.phase != Phase.DEALT or self.clock is None:
            return len(played.cards)
        return min(self.clock.turned(self.now - played.dealt_at), len(played.cards))

    @cached_property
    def coup(self) -> Coup | None:
        """Return the whole coup, including face-down cards; None where no card is drawn."""
        return deal(self.round.cards) if self.round and self.round.cards else None

    @property
    def is_announced(self) -> bool:
        """Return whether every card is face up."""
        return self.coup is not None and self.round is not None and self.turned == len(self.round.cards)

    @property
    def late_from(self) -> datetime | None:
        """Return when the table is late unless something happens; None where only players are waited for."""
        played = self.round
        if self.cut is not None and self.is_cutting:
            return self.cut.ends_at + LATE
        if played is None or self.is_stopped:
            return None
        is_due = played.phase == Phase.CLOSED or (not self.is_playing and self.is_open)
        return played.deadline + LATE if is_due else None

    @property
    def is_late(self) -> bool:
        """Return whether cards, or the next round, do not come: the dealer does not answer, or no worker moves on."""
        return self.late_from is not None and self.late_from < self.now

    def next_change(self, now: datetime) -> float | None:
        """Return the seconds from *now* until the next card is turned up or the table is late, or None.

        No row is written for these changes.
        """
        later = self.at(now)
        played = self.round
        if self.late_from is not None and not later.is_late:
            return max(0.0, (self.late_from - now).total_seconds())
        if played is None or played.dealt_at is None or self.clock is None or later.turned >= len(played.cards):
            return None
        due = played.dealt_at + self.clock.dealing(later.turned)
        return max(0.0, (due - now).total_seconds())


@dataclass(frozen=True)
class Settled:
    """A settled bet of a round. Minor units."""

    stake: int
    payout: int
    result: str


@dataclass(frozen=True)
class Own:
    """A player at the table. Minor units of *currency*."""

    player: int
    version: int  # counts changes of the slip
    currency: str
    round: UUID | None  # of the slip
    stakes: Mapping[str, int]
    can_undo: bool
    last_stakes: Mapping[str, int]
    last_chip: int | None
    chips: tuple[int, ...]  # the player's chip choice, for all tables
    funds: int
    zone: str
    paid: int
    code: str  # of the last round played, once it is over
    voided: VoidReason | None  # of that round
    bets: Mapping[str, Settled]  # of that round
    net: int | None
    is_recent: bool  # that round is the table's latest, or the one before
    squeezes: str  # the hands of the table's round whose cards are the player's to turn, separated by spaces

    @property
    def is_void(self) -> bool:
        """Return whether the last round played was voided."""
        return self.voided is not None


def public_state(row: Mapping[str, Any]) -> State:
    """Return the state of a row of `READ_PUBLIC`."""
    variant = VARIANTS[row["variant"]]
    return State(
        now=row["now"],
        live_table=row["live_table"],
        mode=Mode(row["mode"]),
        slug=row["slug"],
        name=row["name"],
        variant=variant,
        is_open=bool(row["is_open"]) and row["rules_digest"] == variant.digest,
        is_paused=bool(row["is_paused"]) and row["rules_digest"] == variant.digest,
        is_stopped=row["is_stopped"],
        is_house_stopped=row["is_house_stopped"],
        table_version=row["table_version"] or 0,
        stored_limits=json.loads(row["limits"] or "{}"),
        clock=Clock.of(json.loads(row["clock"])) if row["clock"] else None,
        shoe=shoe_of(row),
        spent_shoe=row["spent_shoe"],
        spent_number=row["spent_number"],
        round=_coming(row) if row["round"] else None,
        cut=cut_of(row),
        results=row["results"] or "",
    )


def own_state(row: Mapping[str, Any]) -> Own:
    """Return the player's state of a row of `READ_OWN`."""
    bets = json.loads(row["bets"] or "{}")
    return Own(
        player=row["player"],
        version=row["version"],
        currency=row["currency"],
        round=row["round"],
        stakes=json.loads(row["stakes"]),
        can_undo=row["can_undo"],
        last_stakes=json.loads(row["last_stakes"]),
        last_chip=row["last_chip"],
        chips=tuple(json.loads(row["chips"] or "[]")),
        funds=row["funds"],
        zone=row["zone"],
        paid=row["paid"] or 0,
        code=row["code"] or "",
        voided=VoidReason(row["voided"]) if row["voided"] else None,
        bets={bet: Settled(*line) for bet, line in bets.items()},
        net=row["net"],
        is_recent=row["is_recent"],
        squeezes=row["squeezes"] or "",
    )


def shoe_of(row: Mapping[str, Any]) -> Shoe | None:
    """Return the shoe of a row with `READ_CUT`, or None."""
    if row["shoe"] is None:
        return None
    return Shoe(
        row["shoe"],
        row["shoe_number"],
        row["commitment"],
        row["root"],
        row["shoe_is_spent"],
        row["entropy"],
        tuple(row["chances"] or ()),
        row["beacon_round"],
    )


def cut_of(row: Mapping[str, Any]) -> Cut | None:
    """Return the shoe that is being cut, of a row with `READ_CUT`, or None."""
    if row["cut_shoe"] is None:
        return None
    return Cut(
        row["cut_shoe"],
        row["cut_commitment"],
        row["cut_begun_at"],
        row["bound_until"],
        row["open_until"],
        row["cut_beacon_round"],
        row["wait_until"],
    )


def _coming(row: Mapping[str, Any]) -> Coming:
    return Coming(
        id=row["round"],
        number=row["round_number"],
        is_last=row["is_last"],
        code=row["code"],
        phase=Phase(row["phase"]),
        deadline=row["deadline"],
        dealt_at=row["dealt_at"],
        cards=_drawn(row["cards"]),
        voided=VoidReason(row["voided"]) if row["voided"] else None,
        is_confirmed=row["is_confirmed"],
        counts=Counts(*row["counts"]) if row["counts"] else None,
    )


def _drawn(stored: str) -> tuple[Card, ...]:
    """Return the cards of a round; empty where they make no coup. Such a round is stopped, not shown."""
    try:
        cards = tuple(Card.parse(code) for code in stored.split())
        return deal(cards).cards if cards else ()
    except (CardError, TooFewCards):
        return ()
