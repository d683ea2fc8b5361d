"""Incidents: what should not have happened at a table, kept as it was found, for staff to look into."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db.models import Count, Prefetch, Q, QuerySet, Sum

from audit import approvals, log
from audit.log import Json
from audit.models import Approval
from games.chemin.floor import Parts, parts_of
from games.incidents.refund_summary import in_words
from games.models import (
    OPEN_PHASES,
    UNDEALT,
    Incident,
    IncidentKind,
    LiveRound,
    Participation,
    Phase,
    Round,
    Void,
    VoidPart,
    VoidReason,
)
from games.rounds.redeal import Finding
from games.shared.open_cards import lying_open
from games.shared.round_status import how_far
from games.tables import clock

PAGE = 20


@dataclass(frozen=True)
class InAll:
    """Everybody in a round who played it in one currency."""

    players: int
    staked: int  # minor units
    currency: str


@dataclass(frozen=True)
class Case:
    """An incident with what belongs to it."""

    incident: Incident
    finished: Round | None  # the round as it is kept, where it has ended
    asked: Approval | None  # that the round be annulled, waiting for a second person
    cards: str = ""  # as they were found, in dealing order; of a deal in progress those that lie open
    parts: Parts | None = None  # of the guests in it, where they play each other
    in_all: Sequence[InAll] = ()  # of those who were in it once it was over

    @property
    def round_id(self) -> UUID:
        """The round that it is about."""
        round_id = self.incident.round_id or self.incident.live_round_id
        assert round_id  # noqa: S101  (an incident is about a round)
        return round_id

    @property
    def code(self) -> str:
        """What its round is called."""
        live = self.incident.live_round
        return self.finished.code if self.finished else live.code if live else ""

    @property
    def state(self) -> str:
        """How it stands, in words."""
        if self.awaits_ruling:
            return "annulment asked for" if self.asked else "awaits the supervisor"
        if self.incident.live_round_id is None:
            return "round annulled" if self.is_annulled else "closed by the program"
        return self.ruled

    @property
    def ruled(self) -> str:
        """What the supervisor decided, in words; "" before that."""
        if not hasattr(self.incident, "ruling"):
            return ""
        if self.void and self.void.reason == VoidReason.CANCELLED:
            return "the round was cancelled"
        return "the round ended without a bet" if self.is_empty else str(self.incident.ruling.get_ruling_display())

    @property
    def phase(self) -> str:
        """How far the round of a live table has come; "" at a solo table."""
        live = self.incident.live_round
        if live is None:
            return ""
        is_held = self.awaits_ruling or live.live_table.stopped_by_id is not None
        return how_far(live, is_annulled=hasattr(self.finished, "void"), is_held=is_held)

    @property
    def void(self) -> Void | None:
        """The annulment of the round, as it is kept; None where it was not annulled, or nobody had bet on it."""
        return getattr(self.finished, "void", None)

    @property
    def is_empty(self) -> bool:
        """Whether the round ended without a bet: there is nothing to pay, and nothing to give back."""
        live = self.incident.live_round
        return bool(live and live.phase == Phase.VOID) and self.finished is None

    @property
    def awaits_ruling(self) -> bool:
        """Whether the supervisor has to decide; nobody does at a solo table."""
        return self.incident.live_round_id is not None and not hasattr(self.incident, "ruling")

    @property
    def is_over(self) -> bool:
        """Whether its round is: paid, annulled, or ended without a bet."""
        live = self.incident.live_round
        return self.finished is not None or (live is not None and live.phase not in OPEN_PHASES)

    @property
    def still_stops(self) -> str:
        """The name by which the floor knows its table, where that stands still after the ruling; "" else."""
        live = self.incident.live_round
        if live is None or self.awaits_ruling or live.live_table.stopped_by_id is None:
            return ""
        return f"live-{live.live_table_id}"

    @property
    def is_annulled(self) -> bool:
        """Whether the round has been annulled, or has ended without a bet."""
        live = self.incident.live_round
        return bool(live and live.phase == Phase.VOID) or hasattr(self.finished, "void")

    @property
    def moved_back(self) -> Sequence[tuple[int, str]]:
        """Whom the annulment of the round moved money back to, by number, and what, in words."""
        return [(part.player_id, in_words(part)) for part in self.void.parts.all()] if self.void else ()

    @property
    def may_be_cancelled(self) -> bool:
        """Whether the round is in progress and its cards are not drawn."""
        live = self.incident.live_round
        return live is not None and live.phase in UNDEALT


@dataclass(frozen=True)
class IncidentPage:
    """Some incidents, and the mark to ask for older ones with (None: there are none). Those that await their ruling
    stand by themselves on the first page, oldest first, and nowhere else.
    """

    cases: tuple[Case, ...]
    older: int | None
    waiting: tuple[Case, ...] = ()
    more_waiting: bool = False  # than are here


def open_incident(
    *, kind: IncidentKind, table_id: int, round_id: UUID, found: Iterable[Finding], done: Sequence[str], by: str
) -> Incident:
    """Keep what is the matter with a round of a solo table and what was done about it. One round has one incident of a
    kind: a second call returns the first one's.
    """
    findings = [asdict(finding) for finding in found]
    incident, is_new = Incident.objects.get_or_create(
        kind=kind, round_id=round_id, defaults={"table_id": table_id, "findings": findings, "done": list(done)}
    )
    if is_new:
        _record(incident, round_id, by)
    return incident


def open_live_incident(
    *, kind: IncidentKind, live: LiveRound, cause: str, found: Iterable[Finding], done: Sequence[str], by: str
) -> Incident:
    """Keep what is the matter with a round of a live table, with the cards so far; of a coup between guests, whose
    cards no row has, with those that lie open. Whoever calls has locked the round, and knows that no incident of this
    kind awaits its ruling there.
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
    """Return the incidents of live tables that await the supervisor, oldest first."""
    return Incident.objects.filter(live_round__isnull=False, ruling=None).order_by("pk")


def incidents(
    *, before: int | None = None, awaiting: bool = False, table_id: int | None = None, kind: str = ""
) -> IncidentPage:
    """Return a page of incidents that are older than the mark *before*, newest first, with what was decided and who was
    in their rounds, below those that await their ruling; only those *awaiting* it, at a table, of a kind, where that is
    asked for.
    """
    found = _found()
    if table_id is not None:
        found = found.filter(table_id=table_id)
    if kind:
        found = found.filter(kind=kind)
    unruled_of = found.filter(live_round__isnull=False, ruling=None)
    rest = unruled_of if awaiting else found.filter(Q(live_round=None) | Q(ruling__isnull=False))
    if before is not None:
        rest = rest.filter(pk__lt=before)
    rows = tuple(rest.order_by("-pk")[: PAGE + 1])
    first = tuple(unruled_of.order_by("pk")[: PAGE + 1]) if before is None and not awaiting else ()
    return IncidentPage(
        _cases(rows[:PAGE]),
        rows[PAGE - 1].pk if len(rows) > PAGE else None,
        _cases(first[:PAGE]),
        len(first) > PAGE,
    )


def case_of(incident_id: int) -> Case | None:
    """Return an incident with all that belongs to it; None where there is no such one."""
    return next(iter(_cases(_found().filter(pk=incident_id))), None)


def _found() -> QuerySet[Incident]:
    return Incident.objects.select_related(
        "table", "ruling", "live_round__live_table__table", "live_round__shoe", "live_round__version"
    )


def _in_all(round_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[InAll]]:
    """Return how many were in each finished round, and with how much, by currency."""
    rows = Participation.objects.filter(round_id__in=round_ids).values("round_id", "currency", "mode")
    summed = rows.annotate(players=Count("pk"), staked=Sum("staked")).order_by("round_id", "currency")
    by_round: dict[UUID, list[InAll]] = {}
    for row in summed:
        by_round.setdefault(row["round_id"], []).append(InAll(row["players"], row["staked"], row["currency"]))
    return by_round


def _cases(rows: Iterable[Incident]) -> tuple[Case, ...]:
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
