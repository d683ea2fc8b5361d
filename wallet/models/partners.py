"""Partners of the seamless wallet, and the transactions of studios' games (docs/seamless.md)."""

from django.db import models

from audit.models import Approval, Clock
from players.models import Player, Session, Staff
from wallet.models.ledger import Currency, Mode


class PartnerKind(models.TextChoices):
    """Which side of the seamless wallet a partner is on."""

    STUDIO = "studio"  # its games are played with our players' balances
    OPERATOR = "operator"  # our tables are played with its players' balances


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

    BET = "bet"
    WIN = "win"
    ROLLBACK = "rollback"
    BET_AND_WIN = "bet-and-win"


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
        ]

    def __str__(self) -> str:
        return f"studio-transaction:{self.pk}"
