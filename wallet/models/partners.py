"""Partners: of the seamless wallet (docs/seamless.md), and operators whose players play with us.

SQL is in ``wallet/sql/functions/operator_wallet.sql``. Amounts are whole minor units.
"""

from uuid import uuid4

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy, pgettext_lazy

from audit.models import Approval, Clock
from players.models import Player, Session, Staff
from wallet.models.ledger import Currency, Mode

WEBHOOK_KINDS = (
    *("account.closed", "account.locked", "account.unlocked"),
    *("approval.asked", "approval.decided", "approval.expired", "approval.withdrawn"),
    *("complaint.closed", "complaint.opened"),
    *("deposit.held", "deposit.posted", "deposit.refused", "deposit.returned"),
    *("exclusion.lifted",),
    *("house.resumed", "house.stopped"),
    *("identity.refused", "identity.verified"),
    *("incident.opened", "incident.ruled"),
    *("log.altered", "log.refused"),
    *("player.excluded", "player.registered"),
    *("round.voided",),
    *("significant.found",),
    *("staff.disabled", "staff.employed", "staff.enabled", "staff.roles_changed", "staff.suspended"),
    *("table.closed", "table.opened", "table.paused", "table.reopened", "table.version", "table.went_on"),
    *(
        "withdrawal.approved",
        "withdrawal.cancelled",
        "withdrawal.paid",
        "withdrawal.refused",
        "withdrawal.requested",
        "withdrawal.returned",
    ),
)
"""Kinds of events that a webhook can announce. Each is about a row that its subject names by number, and never about
an e-mail address or a name.
"""
OWN_MACHINE = r"^(https://|http://(127\.0\.0\.1|localhost|\[::1\])(:|/|$))"  # http only for a demo house


class PartnerKind(models.TextChoices):
    """Side of the seamless wallet that a partner is on."""

    STUDIO = "studio", pgettext_lazy("partner kind", "Studio")  # its games are played with our players' balances
    OPERATOR = "operator", pgettext_lazy("partner kind", "Operator")  # our tables are played with its players' balances


class Partner(models.Model):
    """Another gambling operator or a game studio. Two people approve each partner."""

    code = models.SlugField(max_length=32, unique=True)  # permanent identifier in APIs
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=10, choices=PartnerKind)
    address = models.URLField(max_length=200)  # studio: URL of its games; operator: base URL of its wallet
    per_minute = models.PositiveIntegerField()  # request limit per minute
    approval = models.OneToOneField(Approval, models.PROTECT, related_name="+")
    made_at = models.DateTimeField(db_default=Clock())
    off_at = models.DateTimeField(null=True)  # when it was switched off, permanently
    off_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False, related_name="+")

    class Meta:
        default_permissions = ()
        permissions = [
            ("view_partners", "Can view partners"),
            ("ask_partner", "Can request partners and keys, and deactivate partners"),
            ("decide_partner", "Can decide requests for partners and keys"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(off_at=None, off_by=None) | models.Q(off_at__isnull=False, off_by__isnull=False),
                name="wallet_partner_off",
            ),
        ]

    def __str__(self) -> str:
        return f"partner:{self.code}"


class PartnerKey(models.Model):
    """A named secret shared with a partner. A partner has at most two active keys."""

    partner = models.ForeignKey(Partner, models.PROTECT, related_name="keys")
    name = models.CharField(max_length=24, unique=True)
    sealed = models.BinaryField()  # secret, encrypted with PARTNER_KEY (`wallet.seamless_wallet.signing`)
    approval = models.OneToOneField(Approval, models.PROTECT, related_name="+")
    made_at = models.DateTimeField(db_default=Clock())
    shown_at = models.DateTimeField(null=True)  # when it was shown to the staff member who asked for it, once
    used_at = models.DateTimeField(null=True)  # last use, at most `wallet.seamless_wallet.signing.LAG` behind
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "wallet_partner_key"
        default_permissions = ()

    def __str__(self) -> str:
        return f"partner-key:{self.name}"


class StudioPlayer(models.Model):
    """A player who has opened a game session with a studio, and their random id for that studio."""

    partner = models.ForeignKey(Partner, models.PROTECT, db_index=False, related_name="+")
    player = models.ForeignKey(Player, models.PROTECT, related_name="+")
    name = models.CharField(max_length=32)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "wallet_studio_player"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["partner", "player"], name="wallet_studio_player_once"),
            models.UniqueConstraint(fields=["partner", "name"], name="wallet_studio_player_name"),
        ]


class GameSession(models.Model):
    """A session that lets a studio take a player's bets.

    It ends at *ends_at* or with the login session.
    """

    studio_player = models.ForeignKey(StudioPlayer, models.PROTECT, db_index=False, related_name="+")
    mode = models.CharField(max_length=1, choices=Mode)
    digest = models.BinaryField(unique=True)  # SHA-256 of the token
    session = models.ForeignKey(Session, models.PROTECT, db_index=False, related_name="+")
    opened_at = models.DateTimeField(db_default=Clock())
    ends_at = models.DateTimeField()

    class Meta:
        db_table = "wallet_game_session"
        default_permissions = ()
        indexes = [models.Index(fields=["studio_player", "-id"], name="wallet_game_session_of")]


class Operation(models.TextChoices):
    """Operation of a studio transaction."""

    BET = "bet", pgettext_lazy("operation", "Bet")
    WIN = "win", pgettext_lazy("operation", "Win")
    ROLLBACK = "rollback", pgettext_lazy("operation", "Rollback")
    BET_AND_WIN = "bet-and-win", gettext_lazy("Bet And Win")


class StudioTransaction(models.Model):
    """An operation of a studio on a player's balance, executed once, and its response.

    Its journals have the keys `bet_key` and `win_key`. The journals of a rollback reverse those of
    the transaction that it rolls back. Amounts in minor units.
    """

    partner = models.ForeignKey(Partner, models.PROTECT, db_index=False, related_name="+")
    transaction = models.CharField(max_length=64)  # the studio's id of the transaction
    operation = models.CharField(max_length=12, choices=Operation)
    studio_player = models.ForeignKey(StudioPlayer, models.PROTECT, db_index=False, related_name="+")
    game_session = models.ForeignKey(GameSession, models.PROTECT, null=True, db_index=False, related_name="+")
    game = models.CharField(max_length=64)
    round = models.CharField(max_length=64)
    currency = models.CharField(max_length=3, choices=Currency)
    mode = models.CharField(max_length=1, choices=Mode)
    bet = models.BigIntegerField()  # 0 if there is no bet
    win = models.BigIntegerField()
    takes_back = models.CharField(max_length=64, blank=True)  # what a rollback reverses, otherwise ""
    bet_key = models.UUIDField(unique=True)  # for a rollback: key of the journal that reverses the bet
    win_key = models.UUIDField(unique=True)
    request_hash = models.BinaryField()  # SHA-256 of the request without the session
    balance = models.BigIntegerField()  # available balance right after it
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "wallet_studio_transaction"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["partner", "transaction"], name="wallet_studio_transaction_once"),
            models.UniqueConstraint(
                fields=["partner", "takes_back"],
                condition=~models.Q(takes_back=""),
                name="wallet_studio_transaction_back",
            ),
            models.CheckConstraint(
                condition=models.Q(operation="bet", bet__gte=1, win=0, takes_back="")
                | models.Q(operation="win", bet=0, win__gte=0, takes_back="")
                | models.Q(operation="bet-and-win", bet__gte=1, win__gte=0, takes_back="")
                | (models.Q(operation="rollback", bet=0, win=0) & ~models.Q(takes_back="")),
                name="wallet_studio_transaction_moves",
            ),
        ]
        indexes = [
            models.Index(fields=["studio_player", "game", "round"], name="wallet_studio_round"),
            models.Index(fields=["partner", "-id"], name="wallet_studio_newest"),
            models.Index(  # bets that may still be open
                fields=["game_session"], name="wallet_studio_bets", condition=models.Q(operation="bet")
            ),
        ]

    def __str__(self) -> str:
        return f"studio-transaction:{self.pk}"


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

    ASKED = "asked", pgettext_lazy("bet state", "asked")  # not known yet whether the operator took the money
    PLAYED = "played", pgettext_lazy("bet state", "played")  # taken by the operator, posted here, and played in a round
    REFUSED = "refused", pgettext_lazy("bet state", "refused")
    GIVEN_UP = "given_up", pgettext_lazy("bet state", "cancelled")  # not played; a rollback is sent to the operator


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
        return f"operator-bet:{self.pk}"


class MessageKind(models.TextChoices):
    """Kind of a message to an operator."""

    WIN = "win", pgettext_lazy("message kind", "win")  # what is left after a round; 0 means that it is over and lost
    ROLLBACK = "rollback", pgettext_lazy("message kind", "rollback")


class MessageState(models.TextChoices):
    """Delivery state of a message to an operator."""

    WAITING = "waiting", pgettext_lazy("message state", "waiting")
    TAKEN = "taken", pgettext_lazy("message state", "taken")
    DOUBT = "doubt", pgettext_lazy("message state", "refused")  # the operator refused it; staff decide
    SETTLED = "settled", pgettext_lazy("message state", "settled manually")


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
        permissions = [("settle_operator_messages", "Can settle refused operator messages")]
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
        return f"operator-message:{self.pk}"


class Webhook(models.Model):
    """An address of the operator's own systems that is notified of events, without personal values.

    *on_since*: only later events are sent. *failing_since*: the first failed attempt after the last one
    that succeeded. A replaced secret signs next to the new one until *previous_until*.
    """

    name = models.CharField(max_length=80)
    address = models.URLField(max_length=200)
    kinds = ArrayField(models.CharField(max_length=40))
    key_name = models.CharField(max_length=24, unique=True)
    sealed = models.BinaryField()  # secret, encrypted with PARTNER_KEY (`wallet.webhooks`)
    previous_key_name = models.CharField(max_length=24, null=True)  # noqa: DJ001  (there is none)
    previous_sealed = models.BinaryField(null=True)
    previous_until = models.DateTimeField(null=True)
    made_at = models.DateTimeField(db_default=Clock())
    made_by = models.ForeignKey(Staff, models.PROTECT, db_index=False, related_name="+")
    on_since = models.DateTimeField(db_default=Clock())
    off_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        permissions = [("manage_webhooks", "Can manage webhooks"), ("see_webhooks", "Can view webhooks")]
        constraints = [
            models.CheckConstraint(
                condition=Q(kinds__contained_by=WEBHOOK_KINDS) & Q(kinds__len__gt=0), name="wallet_webhook_kinds"
            ),
            models.CheckConstraint(condition=Q(address__regex=OWN_MACHINE), name="wallet_webhook_https"),
            models.CheckConstraint(
                condition=Q(previous_key_name=None, previous_sealed=None, previous_until=None)
                | Q(
                    previous_key_name__isnull=False,
                    previous_sealed__isnull=False,
                    previous_until__isnull=False,
                ),
                name="wallet_webhook_previous",
            ),
        ]

    def __str__(self) -> str:
        return f"webhook:{self.pk}"


class DeliveryState(models.TextChoices):
    """State of the announcement of an event."""

    WAITING = "waiting", pgettext_lazy("webhook delivery", "waiting")
    DELIVERED = "delivered", pgettext_lazy("webhook delivery", "delivered")
    GIVEN_UP = "given_up", pgettext_lazy("webhook delivery", "given up")


class WebhookDelivery(models.Model):
    """An event to be announced at a webhook, at least once. The receiver recognises repetitions by its number."""

    webhook = models.ForeignKey(Webhook, models.PROTECT, db_index=False, related_name="deliveries")
    event_id = models.BigIntegerField()  # of `audit.models.Event`, whose month can be detached
    kind = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    at = models.DateTimeField(db_default=Clock())
    due_at = models.DateTimeField(db_default=Clock())
    tries = models.PositiveIntegerField(default=0)  # since it was last sent or resent
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "wallet_webhook_delivery"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="wallet_webhook_delivery_once"),
            models.CheckConstraint(
                condition=Q(state="waiting", ended_at=None)
                | Q(state__in=["delivered", "given_up"], ended_at__isnull=False),
                name="wallet_webhook_delivery_ended",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at", "id"], condition=Q(state="waiting"), name="wallet_webhook_delivery_due"),
            models.Index(fields=["webhook", "-id"], name="wallet_webhook_delivery_of"),
        ]

    def __str__(self) -> str:
        return f"webhook-delivery:{self.pk}"


class WebhookTry(models.Model):
    """One attempt of a delivery. *status* is the HTTP status, None without an answer; *said* is what went wrong."""

    delivery = models.ForeignKey(WebhookDelivery, models.PROTECT, related_name="attempts")
    at = models.DateTimeField(db_default=Clock())
    status = models.PositiveSmallIntegerField(null=True)
    milliseconds = models.PositiveIntegerField()
    said = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "wallet_webhook_try"
        default_permissions = ()
