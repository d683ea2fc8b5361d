"""Models of shared tables in play: shoe, round in progress, seats and bets.

Only functions of the database write these tables. Rounds move only forward: no phase goes back, and
no commitment or drawn card changes (``games/sql/functions/live_rounds.sql``, ``shoes.sql``). Bets are
placed by ``live_bets.sql``. A finished round becomes a `Round`, which never changes.
"""

from datetime import timedelta
from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy

from games.models.tables import Table, TableVersion
from players.models import Player
from wallet.models import Mode


class LiveTable(models.Model):
    """A shared table for one kind of money. Real and free money are separate, each with its own shoe and clock."""

    table = models.ForeignKey(Table, models.PROTECT, related_name="live", db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    shoe = models.ForeignKey("Shoe", models.PROTECT, null=True, related_name="+", db_index=False)
    round = models.ForeignKey("LiveRound", models.PROTECT, null=True, related_name="+", db_index=False)  # the latest
    stopped_by = models.ForeignKey("Incident", models.PROTECT, null=True, related_name="+", db_index=False)
    lock_only = models.BooleanField(db_default=False)  # unused value: the UPDATE privilege on it allows row locks

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["table", "mode"], name="games_livetable_once")]


class ShoeEnding(models.TextChoices):
    """Reason for which a shoe ended."""

    CUT_CARD = "cut_card", gettext_lazy("dealt to the cut card")
    RETIRED = "retired", gettext_lazy("retired after a voided round")


class Shoe(models.Model):
    """Shuffled decks, committed to before the first bet.

    The dealer (`games.dealer.shoes`) has the seed until the shoe has ended. Then it is published; a
    retired shoe has none where the dealer has lost it. Cards are counted from 0 in dealing order.
    """

    SEED_ASKED_FOR: ClassVar = timedelta(days=1)
    """Time after its end for which the dealer is asked for the seed."""

    id = models.UUIDField(primary_key=True)
    live_table = models.ForeignKey(LiveTable, models.PROTECT, related_name="shoes", db_index=False)
    number = models.PositiveIntegerField()  # counts the shoes of the table
    decks = models.PositiveSmallIntegerField()
    rules_digest = models.CharField(max_length=64)  # of the rules that the commitment names
    commitment = models.CharField(max_length=64)  # of `games.engine.commitments`, in hex
    entropy = models.CharField(max_length=64, default="")  # what went into the shuffle in addition to the seed
    root = models.CharField(max_length=64)  # of its `ShoeLeaves`, in hex
    # the first card, face up: its value is how many cards are burned after it
    burn_card = models.CharField(max_length=2)
    burn_salt = models.BinaryField()
    burned = models.PositiveSmallIntegerField()  # including that card
    cut = models.PositiveSmallIntegerField()  # the cut card is in front of this card
    gone = models.PositiveSmallIntegerField()  # number of cards that have left the shoe, including burned ones
    dealer_key = models.CharField(max_length=64)  # the public key of the signature (Ed25519), in hex
    signature = models.BinaryField()  # the dealer's, of `ShoeStatement`
    opened_at = models.DateTimeField(db_default=Now())
    seed = models.BinaryField(null=True)
    ended_at = models.DateTimeField(null=True)
    ending = models.CharField(max_length=8, choices=ShoeEnding, default="", blank=True)
    lock_only = models.BooleanField(db_default=False)  # unused value: the UPDATE privilege on it allows row locks

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["live_table", "number"], name="games_shoe_number"),
            models.UniqueConstraint(fields=["commitment"], name="games_shoe_commitment"),
            models.CheckConstraint(
                condition=models.Q(seed__isnull=True, ended_at__isnull=True, ending="")
                | models.Q(ended_at__isnull=False, ending__in=[ShoeEnding.CUT_CARD, ShoeEnding.RETIRED]),
                name="games_shoe_seed_when_ended",
            ),
        ]


class ShoeCut(models.Model):
    """A shoe that is being cut: the dealer has committed to its seed, and players add chance to the shuffle.

    They bind themselves to a value until `bound_until`, and open it until `open_until`.
    """

    live_table = models.OneToOneField(LiveTable, models.PROTECT, primary_key=True, related_name="cut")
    shoe_id = models.UUIDField()  # of the shoe that it becomes
    commitment = models.CharField(max_length=64)
    begun_at = models.DateTimeField()
    bound_until = models.DateTimeField()
    open_until = models.DateTimeField()

    class Meta:
        default_permissions = ()


class ShoeChance(models.Model):
    """A player's contribution to the shuffle of a shoe. Published with the shoe, without the player."""

    shoe_id = models.UUIDField()
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    digest = models.CharField(max_length=64)  # SHA-256 of the value, in hex
    value = models.CharField(max_length=32, default="")  # in hex; empty if it was not opened in time

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["shoe_id", "player"], name="games_shoechance_once")]


class ShoeBeacon(models.Model):
    """A round of a public beacon that goes into the shuffle of a shoe (`games.beacon`), chosen before it exists."""

    shoe_id = models.UUIDField(primary_key=True)
    chain = models.CharField(max_length=64)  # hash, in hex
    round = models.BigIntegerField()
    wait_until = models.DateTimeField()  # then the shoe goes without it
    signature = models.CharField(max_length=96, default="")  # in hex; empty if it did not come in time

    class Meta:
        default_permissions = ()


class ShoeLeaves(models.Model):
    """Commitments of a shoe to its cards: the leaves of `games.engine.card_tree`, 32 bytes each.

    A table of its own, because lists of rounds do not need the leaves.
    """

    shoe = models.OneToOneField(Shoe, models.PROTECT, primary_key=True, related_name="leaves")
    leaves = models.BinaryField()

    class Meta:
        default_permissions = ()


class DealtCards(models.Model):
    """Cards that the dealer dealt from a shoe: those of a round, or some of a coup of Chemin de Fer.

    Never changed. Read them with `of`: at Chemin de Fer, where some are face down until the coup is
    over, they are sealed here. Show them only as `games.engine.chemin.view` does.
    """

    shoe = models.ForeignKey(Shoe, models.PROTECT, related_name="dealt_cards", db_index=False)
    first_card = models.PositiveSmallIntegerField()  # number of cards that had left the shoe before
    round_id = models.UUIDField()
    cards = models.CharField(max_length=17)  # "9H 4D KS 2C"
    salts = models.BinaryField()  # 16 bytes for each card
    sealed = models.BinaryField(null=True)  # cards and salts, encrypted (``games_seal_cards``)
    stakes = models.CharField(max_length=64)  # digest of the stakes for which they were dealt
    dealer_key = models.CharField(max_length=64)  # the public key of the signature (Ed25519), in hex
    signature = models.BinaryField()  # the dealer's, of `CardsStatement`

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["shoe", "first_card"], name="games_dealtcards_once")]

    @classmethod
    def of(cls, shoe: Shoe) -> "list[DealtCards]":
        """Return what was dealt from a shoe, in order, with cards and salts in clear. One query."""
        return list(cls.objects.raw("SELECT * FROM games_dealt_cards(%s)", [shoe.pk]))


class Phase(models.TextChoices):
    """The phase of a shared round."""

    BETTING = "betting", gettext_lazy("betting open")
    CLOSED = "closed", gettext_lazy("no more bets")
    DEALT = "dealt", gettext_lazy("cards are drawn and revealed")
    SETTLED = "settled", gettext_lazy("paid; the next round opens after the deadline")
    VOID = "void", gettext_lazy("void, or ended without a bet; the next round opens after the deadline")


UNDEALT = (Phase.BETTING, Phase.CLOSED)
OPEN_PHASES = (*UNDEALT, Phase.DEALT)


class LiveRound(models.Model):
    """A round of a shared table from opening to end, under the version in force when it opened.

    All times are the database's.
    """

    id = models.UUIDField(primary_key=True)  # also the id of the Round it becomes
    live_table = models.ForeignKey(LiveTable, models.PROTECT, related_name="rounds", db_index=False)
    version = models.ForeignKey(TableVersion, models.PROTECT, db_index=False)
    shoe = models.ForeignKey(Shoe, models.PROTECT, related_name="live_rounds")
    number = models.PositiveSmallIntegerField()  # in its shoe
    is_last = models.BooleanField()  # of its shoe: the cut card came out in the round before
    code = models.CharField(max_length=14)
    phase = models.CharField(max_length=7, choices=Phase)
    deadline = models.DateTimeField()  # of the phase
    opened_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)
    dealt_at = models.DateTimeField(null=True)  # the first card is turned up then
    ended_at = models.DateTimeField(null=True)  # settled or void
    first_card = models.PositiveSmallIntegerField(null=True)  # number of cards that had left the shoe before its deal
    cards = models.CharField(max_length=40, default="")  # in dealing order, from the deal on
    salt = models.BinaryField(null=True)  # of the leaves of its bets (receipts.sql); secret
    lock_only = models.BooleanField(db_default=False)  # unused value: the UPDATE privilege on it allows row locks

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["live_table"], condition=models.Q(phase__in=OPEN_PHASES), name="games_liveround_one_open"
            ),
            models.UniqueConstraint(fields=["shoe", "number"], name="games_liveround_number"),
        ]
        # Indexes for the lists of staff. They are written once for each round, not for bets.
        indexes = [
            models.Index(fields=["-opened_at", "-id"], name="games_liveround_newest"),
            models.Index(fields=["live_table", "-opened_at", "-id"], name="games_liveround_table"),
            models.Index(fields=["-opened_at", "-id"], condition=models.Q(phase="void"), name="games_liveround_void"),
        ]


class LiveSeat(models.Model):
    """A player at a shared table, with the slip for one of its rounds, held while bets are open.

    One row for each player and table, so that every tab shows the same bets. Amounts in minor units
    of the player's currency. The slip belongs to `round_id`; if that is no longer the table's
    round, its stakes are what Rebet places.
    """

    shown: Any = None  # a `games.shared.seats.Shown`, read with the statement that stored the row

    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    account_id = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    round_id = models.UUIDField(null=True)
    stakes = models.JSONField(default=dict)  # bet -> minor units
    version = models.PositiveIntegerField(default=0)  # counts changes of the slip
    undo = models.JSONField(default=list)  # earlier slips of this round, latest last
    last_stakes = models.JSONField(default=dict)  # of the last round played here before this one
    last_chip = models.PositiveBigIntegerField(null=True)
    session = models.UUIDField(null=True)  # in which the slip was last changed
    # idempotency keys of the latest clicks: see `games.betting.idempotency`
    idempotency_keys = ArrayField(models.UUIDField(), null=True)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["live_table", "player"], name="games_liveseat_once")]
        indexes = [models.Index(fields=["round_id"], name="games_liveseat_round")]


class LiveTotal(models.Model):
    """The bets of all players on a round in one currency, used to limit the house's liability."""

    round = models.ForeignKey(LiveRound, models.PROTECT, db_index=False)
    currency = models.CharField(max_length=3)
    stakes = models.JSONField(default=dict)  # bet -> minor units

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["round", "currency"], name="games_livetotal_once")]


class Squeeze(models.Model):
    """State of a squeeze: who turns the cards of one hand in the latest round of a shared table, and how far.

    The player with the largest stake on that hand turns its cards (``games/sql/functions/squeezes.sql``). Everybody
    sees it. One row for each table and hand. A squeeze decides nothing and delays nothing.
    """

    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    side = models.CharField(max_length=6)  # player or banker
    round_id = models.UUIDField()
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    card = models.PositiveSmallIntegerField()  # of the hand, from 1; 0 before the first
    share = models.PositiveSmallIntegerField()  # percent of that card that is lifted
    turned = ArrayField(models.PositiveSmallIntegerField())  # cards of the hand that are turned over
    at = models.DateTimeField(null=True)  # of the latest move; None until the player says that they turn the cards

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["live_table", "side"], name="games_squeeze_once")]
