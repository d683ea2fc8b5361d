"""Models of the operator wallet: players, bets, and the queue of messages to operators.

SQL is in ``wallet/sql/functions/operator_wallet.sql``. Amounts are whole minor units.
"""

from uuid import uuid4

from django.db import models
from django.db.models import Q

from audit.models import Clock
from players.models import Player, Staff
from wallet.models.ledger import Currency
from wallet.models.partners import Partner


class OperatorPlayer(models.Model):
    """A player of an operator, with the operator's id for them."""

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True, related_name="operator_player")
    partner = models.ForeignKey(Partner, models.PROTECT, db_index=False, related_name="+")
    name = models.CharField(max_length=64)  # the operator's id for the player
    balance = models.BigIntegerField(default=0)  # last balance that the operator reported
    said_at = models.DateTimeField(null=True)  # when it was reported

    class Meta:
        db_table = "wallet_operator_player"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["partner", "name"], name="wallet_operator_player_once"),
            models.CheckConstraint(condition=Q(balance__gte=0), name="wallet_operator_player_balance"),
        ]


class OperatorLaunch(models.Model):
    """A launch announced by an operator: a one-time URL, and the token of its session."""

    operator_player = models.ForeignKey(OperatorPlayer, models.PROTECT, db_index=False, related_name="+")
    token = models.CharField(max_length=128)  # token of the operator's game session
    game = models.CharField(max_length=64)  # slug of a table
    language = models.CharField(max_length=2)
    digest = models.BinaryField(unique=True)  # SHA-256 of the code in the URL
    at = models.DateTimeField(db_default=Clock())
    ends_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    session = models.UUIDField(null=True, unique=True)  # the login session that it started

    class Meta:
        db_table = "wallet_operator_launch"
        default_permissions = ()
        indexes = [models.Index(fields=["operator_player", "-id"], name="wallet_operator_launch_of")]


class BetState(models.TextChoices):
    """State of a bet at an operator. It changes once, from `ASKED`."""

    ASKED = "asked", "asked"  # not known yet whether the operator took the money
    PLAYED = "played", "played"  # taken by the operator, posted here, and played in a round
    REFUSED = "refused", "refused"
    GIVEN_UP = "given_up", "cancelled"  # not played; a rollback is sent to the operator


class OperatorBet(models.Model):
    """A request to the operator for the stakes of one round.

    It is committed before the operator is asked.
    """

    id = models.UUIDField(primary_key=True, default=uuid4)  # operator's transaction id, our idempotency key
    launch = models.ForeignKey(OperatorLaunch, models.PROTECT, db_index=False, related_name="+")
    player = models.ForeignKey(Player, models.PROTECT, db_index=False, related_name="+")
    round_id = models.UUIDField()
    game = models.CharField(max_length=64)
    currency = models.CharField(max_length=3, choices=Currency)
    amount = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=BetState, default=BetState.ASKED)
    asked_at = models.DateTimeField(db_default=Clock())
    ended_at = models.DateTimeField(null=True)
    reference = models.CharField(max_length=64, blank=True)  # id in the operator's ledger
    why = models.CharField(max_length=64, blank=True)  # reason for refusal or giving up

    class Meta:
        db_table = "wallet_operator_bet"
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(amount__gte=1), name="wallet_operator_bet_amount"),
            models.CheckConstraint(condition=Q(state__in=BetState.values), name="wallet_operator_bet_state"),
            models.CheckConstraint(
                condition=Q(state="asked", ended_at=None) | ~Q(state="asked") & Q(ended_at__isnull=False),
                name="wallet_operator_bet_ended",
            ),
            models.UniqueConstraint(
                fields=["round_id"], condition=Q(state__in=["asked", "played"]), name="wallet_operator_bet_of_round"
            ),
        ]
        indexes = [
            models.Index(fields=["asked_at"], condition=Q(state="asked"), name="wallet_operator_bet_asked"),
            models.Index(fields=["player", "-asked_at"], name="wallet_operator_bet_of_player"),
        ]

    def __str__(self) -> str:
        return f"remote-bet:{self.pk}"


class MessageKind(models.TextChoices):
    """Kind of a message to an operator."""

    WIN = "win", "win"  # what is left after a round; 0 means that it is over and lost
    ROLLBACK = "rollback", "rollback"


class MessageState(models.TextChoices):
    """Delivery state of a message to an operator."""

    WAITING = "waiting", "waiting"
    TAKEN = "taken", "taken"
    DOUBT = "doubt", "refused"  # the operator refused it; staff decide
    SETTLED = "settled", "settled manually"


class OperatorMessage(models.Model):
    """A message to an operator, sent until it is accepted. Messages of one bet are sent in order."""

    bet = models.ForeignKey(OperatorBet, models.PROTECT, db_index=False, related_name="messages")
    transaction = models.UUIDField(unique=True, default=uuid4)  # for a win also our idempotency key
    kind = models.CharField(max_length=10, choices=MessageKind)
    amount = models.BigIntegerField()  # of a win; 0 for a rollback
    takes_back = models.UUIDField(null=True)  # for a rollback: the transaction to roll back
    state = models.CharField(max_length=10, choices=MessageState, default=MessageState.WAITING)
    at = models.DateTimeField(db_default=Clock())
    due_at = models.DateTimeField(db_default=Clock())
    tries = models.PositiveIntegerField(default=0)
    said = models.CharField(max_length=200, blank=True)  # last response that was not an acceptance
    reference = models.CharField(max_length=64, blank=True)
    alarmed_at = models.DateTimeField(null=True)  # when staff were alerted that the operator does not respond
    ended_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False, related_name="+")
    note = models.CharField(max_length=500, blank=True)

    class Meta:
        db_table = "wallet_operator_message"
        default_permissions = ()
        permissions = [("settle_remote", "Can settle refused operator messages")]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="win", takes_back=None, amount__gte=0)
                | Q(kind="rollback", takes_back__isnull=False, amount=0),
                name="wallet_operator_message_says",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "doubt"], ended_at=None, settled_by=None, note="")
                | Q(state="taken", ended_at__isnull=False, settled_by=None, note="")
                | Q(state="settled", ended_at__isnull=False, settled_by__isnull=False) & ~Q(note=""),
                name="wallet_operator_message_ended",
            ),
            models.UniqueConstraint(fields=["bet"], condition=Q(kind="win"), name="wallet_operator_message_one_win"),
            models.UniqueConstraint(
                fields=["takes_back"], condition=Q(takes_back__isnull=False), name="wallet_operator_message_one_back"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at", "id"], condition=Q(state="waiting"), name="wallet_operator_message_due"),
            models.Index(fields=["bet", "id"], name="wallet_operator_message_of"),
            models.Index(fields=["state", "-id"], name="wallet_operator_message_listed"),
        ]

    def __str__(self) -> str:
        return f"remote-message:{self.pk}"
