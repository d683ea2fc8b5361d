"""Significant events of play (GLI-19 v3.0, 2.8.8).

They are incidents, voided rounds, stopped or changed tables, and large wins and wagers.
"""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.utils.translation import get_language, gettext_noop

from audit import log
from audit.models import Category, Event, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves
from audit.staff_text import sentence
from games.models import IncidentKind, Participation, VoidPart
from games.reports import reconciliation
from wallet.models import Mode
from wallet.money import format_money
from wallet.significant import Movement, What, large

KINDS: Final[dict[str, detection.Significance]] = {
    reconciliation.DIFFERS: (Category.ERROR, Weight.ALERT, gettext_noop("Ledger differs from rounds and payments")),
    "round.missing": (Category.ERROR, Weight.ALERT, gettext_noop("Finished round missing")),
    "round.unreadable": (Category.ERROR, Weight.ALERT, gettext_noop("Round cannot be verified")),
    "round.voided": (Category.CORRECTION, Weight.NOTICE, gettext_noop("Round voided")),
    "round.cancelled": (Category.CORRECTION, Weight.NOTICE, gettext_noop("Round cancelled before the deal")),
    "incident.ruled": (Category.CORRECTION, Weight.NOTICE, gettext_noop("Ruling on an incident")),
    "table.broken_up": (Category.CORRECTION, Weight.NOTICE, gettext_noop("Chemin de Fer table broken up")),
    "table.reopened": (Category.STANDSTILL, Weight.NOTICE, gettext_noop("Table resumed after a stop")),
    "table.opened": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Table opened")),
    "table.paused": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Table paused")),
    "table.went_on": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Table resumed after a pause")),
    "table.closed": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Table closed")),
    "table.version": (Category.PARAMETER, Weight.NOTICE, gettext_noop("New rules and limits of a table in force")),
    "table.scheduled": (Category.PARAMETER, Weight.NOTICE, gettext_noop("New rules or limits of a table scheduled")),
    "table.schedule_withdrawn": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Scheduled table version withdrawn")),
    "table.schedule_failed": (Category.PARAMETER, Weight.ALERT, gettext_noop("Scheduled table version failed")),
    "rules.stored": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Game rules changed with a release")),
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
    "chat.retained",
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
    "bets.sealed",
    "coup.opened",
    "dealer.started",
    "seat.away",
    "seat.back",
    "seat.taken",
    "seat.left",
    "play.refused",
    "round.dealt",
    "round.refused",
    "rounds.verified",
    "seat.committed",
    "shoe.committed",
    "shoe.ended",
    "shoe.opened",
    "shoe.published",
)
STOOD_STILL: Final = (IncidentKind.OVERDUE, IncidentKind.PHASE_RAISED)
WAGER: Final = What("wager", Category.LARGE_WAGER, gettext_noop("Large wager"), gettext_noop("Large wagers in total"))
WIN: Final = What("win", Category.LARGE_WIN, gettext_noop("Large win"), gettext_noop("Large wins in total"))


def register() -> None:
    """Register the event kinds and the functions that find significant events."""
    detection.register_kinds(KINDS)
    detection.register_ordinary(ORDINARY)
    detection.register_set_up(["rules.stored", "table.opened", "table.version"])
    detection.register("incidents", incidents)
    detection.register("adjustments", adjustments)
    detection.register("large rounds", large_rounds)


DONE: Final = gettext_noop("Action taken")


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
            title=str(kind.label),
            happened_at=event.at,
            event=event.pk,
            because=sentence(
                gettext_noop(
                    "A round of this table has an error. A shared table remains stopped until the "
                    "supervisor rules on the incident."
                )
            ),
            rows=[
                {detection.WHAT: gettext_noop("Round"), detection.VALUE: f"round:{said['round']}"},
                {detection.WHAT: gettext_noop("Incident"), detection.VALUE: str(said["incident"])},
                {detection.WHAT: gettext_noop("Cause"), detection.VALUE: str(said["cause"]) or "—"},
                *(
                    {detection.WHAT: gettext_noop("Action taken"), detection.VALUE: str(done)}
                    for done in _list(said["done"])
                ),
            ],
        )


def adjustments(leaves: Leaves) -> Iterable[Found]:
    """Find balances that the house covered because the winnings of a voided round had been
    spent.
    """
    voided = {UUID(event.on.removeprefix("round:")): event for event in detection.events(leaves, VOIDED)}
    for part in VoidPart.objects.filter(void__in=voided, shortfall__gt=0).order_by("pk"):
        event, player = voided[part.void_id], f"player:{part.player_id}"
        amount = format_money(part.shortfall, part.currency, get_language() or "en")
        yield Found(
            key=f"shortfall:{event.on}:{player}",
            category=Category.ADJUSTMENT,
            weight=Weight.ALERT,
            on=player,
            title=gettext_noop("Shortfall covered by the house"),
            happened_at=event.at,
            event=event.pk,
            currency=part.currency,
            amount=part.shortfall,
            because=sentence(
                gettext_noop(
                    "A round was voided after its winnings had been spent. The house credited this amount so that the "
                    "round could be reversed without a negative balance."
                )
            ),
            rows=[{gettext_noop("Round"): event.on, gettext_noop("Player"): player, gettext_noop("Amount"): amount}],
        )


def large_rounds(leaves: Leaves) -> Iterable[Found]:
    """Find large wagers and wins: one player's stakes in one round, and the payout beyond them."""
    settled = {UUID(event.on.removeprefix("round:")): event for event in detection.events(leaves, SETTLED)}
    parts = Participation.objects.filter(round__in=settled, mode=Mode.REAL).order_by("round", "player")
    movement = [(part, settled[part.round_id]) for part in parts]
    movement.sort(key=lambda each: each[1].pk)
    yield from large(WAGER, [_movement_of(part, event, part.staked) for part, event in movement])
    yield from large(WIN, [_movement_of(part, event, part.paid - part.staked) for part, event in movement])


def _movement_of(part: Participation, event: Event, amount: int) -> Movement:
    return Movement(
        player=f"player:{part.player_id}",
        currency=part.currency,
        amount=amount,
        at=event.at,
        event=event.pk,
        about=event.on,
    )


def _list(value: log.Json) -> list[log.Json]:
    return list(value) if isinstance(value, list) else []
