"""Significant events of play (GLI-19 v3.0, 2.8.8).

They are incidents, voided rounds, stopped or changed tables, and large wins and wagers.
"""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from audit import log
from audit.models import Category, Event, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves
from games.models import IncidentKind, Participation, VoidPart
from wallet.models import Mode
from wallet.money import format_money
from wallet.significant import Moved, What, large

KINDS: Final[dict[str, detection.Significance]] = {
    "round.missing": (Category.ERROR, Weight.ALERT, "A finished round is missing"),
    "round.unreadable": (Category.ERROR, Weight.ALERT, "A round cannot be dealt again"),
    "round.voided": (Category.CORRECTION, Weight.NOTICE, "A round was annulled"),
    "round.cancelled": (Category.CORRECTION, Weight.NOTICE, "A round was called off before its cards were drawn"),
    "incident.ruled": (Category.CORRECTION, Weight.NOTICE, "An incident was ruled on"),
    "table.broken_up": (Category.CORRECTION, Weight.NOTICE, "A table of guests was broken up"),
    "table.reopened": (Category.STANDSTILL, Weight.NOTICE, "A table that was stopped goes on"),
    "table.opened": (Category.PARAMETER, Weight.NOTICE, "A table was opened"),
    "table.paused": (Category.PARAMETER, Weight.NOTICE, "A table pauses"),
    "table.went_on": (Category.PARAMETER, Weight.NOTICE, "A table that paused goes on"),
    "table.closed": (Category.PARAMETER, Weight.NOTICE, "A table was closed"),
    "table.version": (Category.PARAMETER, Weight.NOTICE, "Rules and limits of a table came into force"),
    "table.scheduled": (Category.PARAMETER, Weight.NOTICE, "Rules or limits of a table were approved for later"),
    "table.schedule_withdrawn": (Category.PARAMETER, Weight.NOTICE, "A table’s approved version was withdrawn"),
    "table.schedule_failed": (Category.PARAMETER, Weight.ALERT, "A table’s approved version could not go live"),
    "rules.kept": (Category.PARAMETER, Weight.NOTICE, "The program has other rules of a game"),
}
SETTLED: Final = "round.settled"
OPENED: Final = "incident.opened"
VOIDED: Final = "round.voided"
ORDINARY: Final = (
    # Found by the functions of this module.
    SETTLED,
    OPENED,
    # Handled by staff in their own queues.
    "chat.reported",
    "play.reported",
    "play.report_decided",
    # Routine work of chat moderators.
    "chat.banned",
    "chat.ban_lifted",
    "chat.kept",
    "chat.named",
    "chat.name_taken",
    "chat.removed",
    "table.chat_language",
    # Additions to an incident, which was reported when it was found.
    "incident.noted",
    "incident.written",
    "incident.letter_ended",
    "incident.exported",
    # Normal play.
    "bank.ended",
    "bank.excess",
    "bank.taken",
    "bet.refused",
    "bets.closed",
    "coup.opened",
    "guest.away",
    "guest.back",
    "guest.joined",
    "guest.left",
    "play.refused",
    "round.dealt",
    "round.refused",
    "rounds.replayed",
    "shoe.ended",
    "shoe.opened",
)
STOOD_STILL: Final = (IncidentKind.OVERDUE, IncidentKind.PHASE_RAISED)
WAGER: Final = What("wager", Category.LARGE_WAGER, "A large wager", "Large wagers together")
WIN: Final = What("win", Category.LARGE_WIN, "A large win", "Large wins together")


def register() -> None:
    """Register the event kinds and the functions that find significant events."""
    detection.register_kinds(KINDS)
    detection.register_ordinary(ORDINARY)
    detection.register("incidents", incidents)
    detection.register("adjustments", adjustments)
    detection.register("large rounds", large_rounds)


def incidents(leaves: Leaves) -> Iterable[Found]:
    """Find incidents of rounds, and interruptions of play that they caused."""
    for event in detection.events(leaves, OPENED):
        said = detection.data(event)
        kind = IncidentKind(str(said["kind"]))
        stood = kind in STOOD_STILL
        yield Found(
            key=f"event:{event.pk}",
            category=Category.STANDSTILL if stood else Category.ERROR,
            weight=Weight.ALERT,
            on=event.on,
            title=f"Incident: {kind.label[0].lower()}{kind.label[1:]}",
            happened_at=event.at,
            event=event.pk,
            because="Rounds of this table are not what they should be. A shared table stands still until the "
            "supervisor has ruled on the incident.",
            rows=[
                {"What": "Round", "Value": f"round:{said['round']}"},
                {"What": "Incident", "Value": str(said["incident"])},
                {"What": "Cause", "Value": str(said["cause"]) or "—"},
                *({"What": "Done at once", "Value": str(done)} for done in _list(said["done"])),
            ],
        )


def adjustments(leaves: Leaves) -> Iterable[Found]:
    """Find balances that the house covered because the winnings of a voided round had been
    spent.
    """
    voided = {UUID(event.on.removeprefix("round:")): event for event in detection.events(leaves, VOIDED)}
    for part in VoidPart.objects.filter(void__in=voided, shortfall__gt=0).order_by("pk"):
        event, player = voided[part.void_id], f"player:{part.player_id}"
        amount = format_money(part.shortfall, part.currency, "en")
        yield Found(
            key=f"shortfall:{event.on}:{player}",
            category=Category.ADJUSTMENT,
            weight=Weight.ALERT,
            on=player,
            title="The house made up for a balance",
            happened_at=event.at,
            event=event.pk,
            currency=part.currency,
            amount=part.shortfall,
            because="A round was annulled whose winnings were spent. The house put this on the account, so that the "
            "round could be reversed and no balance fell below zero.",
            rows=[{"Round": event.on, "Player": player, "Amount": amount}],
        )


def large_rounds(leaves: Leaves) -> Iterable[Found]:
    """Find large wagers and wins: one player's stakes in one round, and the payout beyond them."""
    settled = {UUID(event.on.removeprefix("round:")): event for event in detection.events(leaves, SETTLED)}
    parts = Participation.objects.filter(round__in=settled, mode=Mode.REAL).order_by("round", "player")
    moved = [(part, settled[part.round_id]) for part in parts]
    moved.sort(key=lambda each: each[1].pk)
    yield from large(WAGER, [_moved(part, event, part.staked) for part, event in moved])
    yield from large(WIN, [_moved(part, event, part.paid - part.staked) for part, event in moved])


def _moved(part: Participation, event: Event, amount: int) -> Moved:
    return Moved(
        player=f"player:{part.player_id}",
        currency=part.currency,
        amount=amount,
        at=event.at,
        event=event.pk,
        about=event.on,
    )


def _list(value: log.Json) -> list[log.Json]:
    return list(value) if isinstance(value, list) else []
