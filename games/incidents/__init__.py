"""Incidents: malfunctions of rounds, stored as they were found, for staff to investigate, and the
participants of their rounds: what they staked, were paid, and got back.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db.models import Count, Prefetch, Q, QuerySet, Sum
from django.utils.functional import cached_property
from django.utils.translation import get_language, gettext, pgettext

from audit import approvals, log
from audit.log import Json
from audit.models import Approval
from games.chemin.pages.floor import Parts, parts_of
from games.models import (
    OPEN_PHASES,
    UNDEALT,
    Incident,
    IncidentKind,
    LiveRound,
    LiveSeat,
    Participation,
    Phase,
    Round,
    Void,
    VoidPart,
    VoidReason,
)
from games.rounds.redeal import Finding
from games.shared.round_status import how_far, lying_open
from games.tables import clock
from players.models import Player
from wallet.money import format_money


@dataclass(frozen=True)
class Line:
    """A player's part in a finished round, and the effect of a void (None: the round is not void)."""

    part: Participation
    back: VoidPart | None

    @cached_property
    def words(self) -> str:
        """The effect of the void as text; "" where there was none."""
        return refund_text(self.back) if self.back else ""


def lines(parts: Iterable[Participation]) -> list[Line]:
    """Return parts, read with their rounds' voids, each with the effect of the void.

    One query for all of them, and none where no round is void.
    """
    parts = list(parts)
    void = [part for part in parts if hasattr(part.round, "void")]
    if not void:
        return [Line(part, None) for part in parts]
    found = VoidPart.objects.filter(
        void_id__in={part.round_id for part in void}, player_id__in={part.player_id for part in void}
    )
    back = {(each.void_id, each.player_id): each for each in found}
    return [Line(part, back.get((part.round_id, part.player_id))) for part in parts]


def refund_text(back: VoidPart) -> str:
    """Return the effect of a void on one player, and what of it the house bears.

    Examples: "SEK 50.00 returned", "SEK 20.00 taken back", "no refund".
    """

    def money(minor: int) -> str:
        return format_money(minor, back.currency, get_language() or "en")

    said = gettext("no refund")
    if back.returned > 0:
        said = pgettext("finding", "%(amount)s returned") % {"amount": money(back.returned)}
    elif back.returned:
        said = pgettext("finding", "%(amount)s taken back") % {"amount": money(-back.returned)}
    return (
        (gettext("%(said)s, %(shortfall)s covered by the house") % {"said": said, "shortfall": money(back.shortfall)})
        if back.shortfall
        else said
    )


@dataclass(frozen=True)
class Concerned:
    """A player in a round. Amounts in minor units of *currency*; None where not known yet."""

    player: Player
    currency: str
    staked: int
    paid: int | None  # None: the round is not over
    returned: int | None = None  # by the void: stakes less payouts taken back
    shortfall: int = 0  # part of it that the house bore
    void_effect: str = ""  # effect of the void, as text for staff

    @property
    def language(self) -> str:
        """The player's language."""
        return self.player.user.language

    @property
    def is_erased(self) -> bool:
        """True if the account was erased, so that the player cannot be reached."""
        return self.player.user.email.endswith("@erased.invalid")


def concerned(round_id: UUID, parts: Parts | None = None) -> tuple[Concerned, ...]:
    """Return all players of a round, by id.

    *parts* are the bank and stakes of a coup in progress, which no other row contains.
    """
    back = {part.player_id: part for part in VoidPart.objects.filter(void_id=round_id)}
    played = Participation.objects.filter(round_id=round_id).select_related("player__user", "player__jurisdiction")
    found = [
        Concerned(
            part.player,
            part.currency,
            part.staked,
            part.paid,
            back[part.player_id].returned if part.player_id in back else None,
            back[part.player_id].shortfall if part.player_id in back else 0,
            refund_text(back[part.player_id]) if part.player_id in back else "",
        )
        for part in played.order_by("player_id")
    ]
    if found:
        return tuple(found)
    laid = dict(_on_seats(round_id)) or dict(_of_chemin(parts))
    players = Player.objects.filter(pk__in=laid).select_related("user", "jurisdiction").order_by("pk")
    return tuple(Concerned(player, laid[player.pk][0], laid[player.pk][1], None) for player in players)


def _on_seats(round_id: UUID) -> Iterator[tuple[int, tuple[str, int]]]:
    for seat in LiveSeat.objects.filter(round_id=round_id).exclude(stakes={}):
        yield seat.player_id, (seat.currency, sum(seat.stakes.values()))


def _of_chemin(parts: Parts | None) -> Iterator[tuple[int, tuple[str, int]]]:
    if parts is None:
        return
    for laid in (*([parts.bank] if parts.bank else []), *parts.stakes):
        if laid.seated.player:
            yield laid.seated.player, (parts.currency, laid.amount)


def without_erased(people: Sequence[Concerned]) -> tuple[Concerned, ...]:
    """Return the players who can be reached."""
    return tuple(each for each in people if not each.is_erased)


@dataclass(frozen=True)
class InAll:
    """All players of a round in one currency."""

    players: int
    staked: int  # minor units
    currency: str


@dataclass(frozen=True)
class Case:
    """An incident with its related rows."""

    incident: Incident
    finished: Round | None  # the stored round, once it has ended
    asked: Approval | None  # a request to void the round that awaits a second person
    cards: str = ""  # as found, in dealing order; during a deal, the face-up ones
    parts: Parts | None = None  # bank and stakes, at Chemin de Fer
    in_all: Sequence[InAll] = ()  # totals of the finished round, by currency

    @property
    def round_id(self) -> UUID:
        """The id of its round."""
        round_id = self.incident.round_id or self.incident.live_round_id
        assert round_id  # noqa: S101  (an incident is about a round)
        return round_id

    @property
    def code(self) -> str:
        """The code of its round."""
        live = self.incident.live_round
        return self.finished.code if self.finished else live.code if live else ""

    @property
    def state(self) -> str:
        """The status of the incident, as text."""
        if self.awaits_ruling:
            return gettext("void requested") if self.asked else gettext("awaiting ruling")
        if self.incident.live_round_id is None:
            if self.incident.kind == IncidentKind.REPORTED and not self.is_void:
                return gettext("reported, no ruling needed")
            return gettext("round voided") if self.is_void else gettext("closed automatically")
        return self.ruled

    @property
    def ruled(self) -> str:
        """The supervisor's decision, as text; "" before it."""
        if not hasattr(self.incident, "ruling"):
            return ""
        if self.void and self.void.reason == VoidReason.CANCELLED:
            return gettext("the round was cancelled")
        return (
            gettext("the round ended without a bet")
            if self.is_empty
            else str(self.incident.ruling.get_ruling_display())
        )

    @property
    def phase(self) -> str:
        """The phase of a round of a live table, as text; "" at a solo table."""
        live = self.incident.live_round
        if live is None:
            return ""
        is_held = self.awaits_ruling or live.live_table.stopped_by_id is not None
        return how_far(live, is_void=hasattr(self.finished, "void"), is_held=is_held)

    @property
    def void(self) -> Void | None:
        """The void of the round; None where it was not voided, or had no bets."""
        return getattr(self.finished, "void", None)

    @property
    def is_empty(self) -> bool:
        """True if the round ended without a bet, so that nothing is paid or returned."""
        live = self.incident.live_round
        return bool(live and live.phase == Phase.VOID) and self.finished is None

    @property
    def awaits_ruling(self) -> bool:
        """True if the supervisor has to decide; never at a solo table."""
        return self.incident.live_round_id is not None and not hasattr(self.incident, "ruling")

    @property
    def is_over(self) -> bool:
        """True if the round is over: paid, void, or ended without a bet."""
        live = self.incident.live_round
        return self.finished is not None or (live is not None and live.phase not in OPEN_PHASES)

    @property
    def still_stops(self) -> str:
        """The row key of its table on the floor, if the table is still stopped after the ruling; else ""."""
        live = self.incident.live_round
        if live is None or self.awaits_ruling or live.live_table.stopped_by_id is None:
            return ""
        return f"live-{live.live_table_id}"

    @property
    def is_void(self) -> bool:
        """True if the round is void, or ended without a bet."""
        live = self.incident.live_round
        return bool(live and live.phase == Phase.VOID) or hasattr(self.finished, "void")

    @property
    def refunds(self) -> Sequence[tuple[int, str]]:
        """Players who received or lost money by the void, by id, with the amounts as text."""
        return [(part.player_id, refund_text(part)) for part in self.void.parts.all()] if self.void else ()

    @property
    def may_be_cancelled(self) -> bool:
        """True if the round is in progress and its cards are not drawn."""
        live = self.incident.live_round
        return live is not None and live.phase in UNDEALT


def open_incident(
    *,
    kind: IncidentKind,
    table_id: int,
    round_id: UUID,
    found: Iterable[Finding],
    done: Sequence[str],
    by: str,
    cause: str = "",
) -> tuple[Incident, bool]:
    """Store a finding about a round of a solo table and what was done about it.

    A round has one incident of each kind: a second call returns the first one. Returns the incident, and whether it
    is new.
    """
    findings = [asdict(finding) for finding in found]
    stored = {"table_id": table_id, "cause": cause, "findings": findings, "done": list(done)}
    incident, is_new = Incident.objects.get_or_create(kind=kind, round_id=round_id, defaults=stored)
    if is_new:
        _record(incident, round_id, by)
    return incident, is_new


def open_live_incident(
    *, kind: IncidentKind, live: LiveRound, cause: str, found: Iterable[Finding], done: Sequence[str], by: str
) -> Incident:
    """Store a finding about a round of a live table, with the cards so far.

    For a coup of Chemin de Fer, whose cards are in no row, these are the face-up cards. The caller
    has locked the round and has checked that no incident of this kind awaits a ruling.
    """
    incident = Incident.objects.create(
        kind=kind,
        table_id=live.live_table.table_id,
        live_round=live,
        cause=cause,
        cards=live.cards or lying_open(live, clock.now()),
        findings=[asdict(finding) for finding in found],
        done=list(done),
    )
    _record(incident, live.pk, by)
    return incident


def _record(incident: Incident, round_id: UUID, by: str) -> None:
    log.record(
        "incident.opened",
        by=by,
        on=f"table:{incident.table_id}",
        data={
            "cause": incident.cause,
            "done": incident.done,
            "findings": cast("Json", incident.findings),
            "incident": incident.pk,
            "kind": str(incident.kind),
            "round": str(round_id),
        },
    )


def unruled() -> QuerySet[Incident]:
    """Return the incidents of live tables that await a ruling, oldest first."""
    return Incident.objects.filter(live_round__isnull=False, ruling=None).order_by("pk")


def find(*, table_id: int | None = None, kind: str = "") -> QuerySet[Incident]:
    """Return the incidents of a table and of a kind, with the rows that `cases` needs."""
    found = Incident.objects.select_related(
        "table", "ruling", "live_round__live_table__table", "live_round__shoe", "live_round__version"
    )
    if table_id is not None:
        found = found.filter(table_id=table_id)
    return found.filter(kind=kind) if kind else found


def awaiting(found: QuerySet[Incident]) -> QuerySet[Incident]:
    """Return those of *found* that await a ruling."""
    return found.filter(live_round__isnull=False, ruling=None)


def concluded(found: QuerySet[Incident]) -> QuerySet[Incident]:
    """Return those of *found* that await none."""
    return found.filter(Q(live_round=None) | Q(ruling__isnull=False))


def case_of(incident_id: int) -> Case | None:
    """Return an incident with its related rows, or None."""
    return next(iter(cases(find().filter(pk=incident_id))), None)


def _in_all(round_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[InAll]]:
    """Return the number of players and the total stakes of each finished round, by currency."""
    rows = Participation.objects.filter(round_id__in=round_ids).values("round_id", "currency", "mode")
    summed = rows.annotate(players=Count("pk"), staked=Sum("staked")).order_by("round_id", "currency")
    by_round: dict[UUID, list[InAll]] = {}
    for row in summed:
        by_round.setdefault(row["round_id"], []).append(InAll(row["players"], row["staked"], row["currency"]))
    return by_round


def cases(rows: Iterable[Incident]) -> tuple[Case, ...]:
    """Return incidents with their related rows."""
    rows = tuple(rows)
    ids = [round_id for row in rows if (round_id := row.round_id or row.live_round_id)]
    parts = Prefetch("void__parts", VoidPart.objects.order_by("player_id"))
    finished = Round.objects.select_related("table_version", "void").prefetch_related(parts).in_bulk(ids)
    asked = {each.on: each for each in approvals.waiting().filter(on__in=[f"round:{each}" for each in ids])}
    in_all = _in_all(ids)
    parts_in = parts_of(row.live_round for row in rows if row.live_round)
    moment = clock.now()
    return tuple(
        Case(
            row,
            finished.get(round_id),
            asked.get(f"round:{round_id}"),
            _cards(row, moment),
            parts_in.get(round_id),
            tuple(in_all.get(round_id, ())),
        )
        for row in rows
        if (round_id := row.round_id or row.live_round_id)
    )


def _cards(incident: Incident, moment: datetime) -> str:
    live = incident.live_round
    return lying_open(live, moment) if live and live.phase == Phase.DEALT else incident.cards
