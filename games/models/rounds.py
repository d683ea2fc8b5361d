"""Models of played rounds, and round codes, which a player reads out to customer service.

Rows are inserted once and never changed: the login role may not update or delete.
"""

from functools import lru_cache
from typing import Final
from uuid import UUID

from django.db import models
from django.db.models.functions import Now, Sign
from django.utils.translation import gettext_lazy, pgettext_lazy

from games.models.live import LiveRound, Shoe
from games.models.tables import Table, TableVersion
from players.models import Player
from wallet.models import Mode

# Crockford's base 32: without I, L, O and U, so that characters are not confused.
ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MISTAKEN: Final = str.maketrans("OIL", "011")
LETTERS: Final = 12


class Round(models.Model):
    """A finished round with its cards and everything needed to verify it."""

    id = models.UUIDField(primary_key=True)
    code = models.CharField(max_length=14)  # for people to quote: "7Q4K-0193-BD2M"
    table_version = models.ForeignKey(TableVersion, models.PROTECT, db_constraint=False, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    commitment = models.CharField(max_length=64)
    seed = models.BinaryField(null=True)  # of the round; at a shared table the shoe has it
    shoe = models.ForeignKey(Shoe, models.PROTECT, null=True, db_index=False)
    first_card = models.SmallIntegerField(null=True)  # number of cards that had left the shoe before its deal
    player_value = models.CharField(max_length=64)  # mixed into the shuffle: the browser's bytes, the player's text
    # in dealing order: "9H 4D KS 2C"; empty where it was voided before the deal
    cards = models.CharField(max_length=40)
    outcome = models.CharField(max_length=6)  # player, banker, tie; empty where there are no cards
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        # Not unique=True, which would add an index for searches by prefix.
        constraints = [models.UniqueConstraint(fields=["code"], name="games_round_code")]


class VerificationDue(models.Model):
    """A finished round that awaits verification; inserted with the round, deleted after verification.

    It is a queue, not a position, because rounds commit in another order than they begin.
    """

    round = models.OneToOneField(Round, models.PROTECT, primary_key=True, db_constraint=False)

    class Meta:
        default_permissions = ()


class Result(models.IntegerChoices):
    """The effect of a round on a player's balance."""

    LOST = -1
    EVEN = 0, pgettext_lazy("result", "Even")
    WON = 1, pgettext_lazy("result", "Won")


class Participation(models.Model):
    """One player's part in one round (GLI-19 v3.0, 2.8.2: kept per round and per player). Amounts in minor units.

    Only functions write it, with its round and wagers, for players whose seats refer to them. So it has no foreign
    keys in the database.
    """

    round = models.ForeignKey(Round, models.PROTECT, db_constraint=False, db_index=False)
    player = models.ForeignKey(Player, models.PROTECT, db_constraint=False, db_index=False)
    currency = models.CharField(max_length=3)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    balance_before = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    staked = models.BigIntegerField()
    paid = models.BigIntegerField()
    commission = models.BigIntegerField()
    session = models.UUIDField(null=True)
    # Copies of the round's time and table, for the search of the game history.
    at = models.DateTimeField(db_default=Now())
    table = models.ForeignKey(Table, models.PROTECT, db_constraint=False, db_index=False)
    result = models.GeneratedField(
        expression=Sign(models.F("paid") - models.F("staked")),
        output_field=models.SmallIntegerField(choices=Result),
        db_persist=True,
    )

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["round", "player"], name="games_participation_once")]
        indexes = [
            models.Index(fields=["player", "mode", "table", "result", "-at", "-id"], name="games_participation_search"),
            # For staff, who search rounds of all players.
            models.Index(fields=["table", "mode", "-at", "-id"], name="games_participation_by_table"),
            models.Index(fields=["currency", "staked"], name="games_participation_staked"),
            models.Index(fields=["currency", "paid"], name="games_participation_paid"),
        ]

    def keep_wagers(self, wagers: list["Wager"]) -> None:
        """Keep wagers that were read with others, so that ``wagers.all()`` asks for none."""
        vars(self)["_prefetched_objects_cache"] = {"wagers": wagers}


class Wager(models.Model):
    """One bet of one player in one round and its result. Amounts in minor units; payout includes the stake.

    A row of a view: the bets are stored in arrays of the participation (``games/migrations/0001_initial.sql``). A read
    finds them by their participation.
    """

    participation = models.ForeignKey(
        Participation, models.PROTECT, related_name="wagers", db_constraint=False, db_index=False
    )
    bet = models.CharField(max_length=20)
    stake = models.BigIntegerField()
    payout = models.BigIntegerField()
    commission = models.BigIntegerField()
    result = models.CharField(max_length=4)  # win, push, lose; void where the round was voided before it was settled

    class Meta:
        managed = False
        default_permissions = ()


class HighestOdds(models.Model):
    """The highest payout odds of a bet on an outcome: `win` units are won for each `per` units staked.

    ``manage.py migrate`` writes the rows (`games.rounds.reference_data`). The functions that finish rounds refuse a
    payout above them. A bet that always loses on the outcome has -1 to 1.
    """

    rules_digest = models.CharField(max_length=64)
    bet = models.CharField(max_length=20)
    outcome = models.CharField(max_length=6)
    win = models.IntegerField()
    per = models.PositiveIntegerField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["rules_digest", "outcome", "bet"], name="games_highestodds_once")
        ]


class BetCombinations(models.Model):
    """Bets that the rules allow together, their joint wins on the coups that cost the house most, and the decks.

    ``manage.py migrate`` writes the rows (`games.rounds.reference_data`). ``games_place_bets`` refuses other bets.
    """

    rules_digest = models.CharField(max_length=64, primary_key=True)
    exclusions = models.JSONField()  # [[bet, …], …]: a player may bet on at most one of each list
    needs = models.JSONField()  # side bet -> the main bets of which it needs one
    wins = models.JSONField()  # [{bet: [win, per]}, …]: odds of the bets that win together on a coup
    decks = models.PositiveSmallIntegerField(db_default=0)  # from which a round is dealt

    class Meta:
        default_permissions = ()


class DealerEpoch(models.Model):
    """A run of the dealer, from its start to its end, that has dealt a stored round, and its public key.

    Only the function that finishes a solo round writes it, with an event.
    """

    epoch = models.CharField(max_length=32, primary_key=True)
    key = models.CharField(max_length=64)  # Ed25519, in hex
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class VoidReason(models.TextChoices):
    """Reason for voiding a round. A solo round can only be voided for the first reason, and not by a person."""

    NOT_REPRODUCED = "not_reproduced", gettext_lazy("seed does not reproduce the round")
    OVERDUE = "overdue", gettext_lazy("not dealt in time")
    CANCELLED = "cancelled", gettext_lazy("cancelled before the deal")
    DECIDED = "decided", gettext_lazy("decided by two people after an incident")

    @property
    def is_of_people(self) -> bool:
        """True if people voided the round; the player is then not informed of a technical fault."""
        return self in (VoidReason.CANCELLED, VoidReason.DECIDED)


class Void(models.Model):
    """A voided round: its postings were reversed. A row of its own, since a finished round never changes."""

    round = models.OneToOneField(Round, models.PROTECT, primary_key=True)
    reason = models.CharField(max_length=20, choices=VoidReason)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class VoidPart(models.Model):
    """The effect of a void on one player, in minor units of *currency*."""

    void = models.ForeignKey(Void, models.PROTECT, related_name="parts")
    player = models.ForeignKey(Player, models.PROTECT)
    currency = models.CharField(max_length=3)
    returned = models.BigIntegerField()  # stakes returned less payouts taken back; negative where the player had won
    shortfall = models.BigIntegerField()  # what the house added, because the winnings had been spent

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["void", "player"], name="games_voidpart_once")]


class VoidNotice(models.Model):
    """Notice of a void that the player has seen on the page of its table."""

    part = models.OneToOneField(VoidPart, models.PROTECT, primary_key=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class IncidentKind(models.TextChoices):
    """The kind of an incident. The verification of finished rounds finds the first three."""

    NOT_REPRODUCED = "not_reproduced", gettext_lazy("Seed does not reproduce the round")
    RULES_UNKNOWN = "rules_unknown", gettext_lazy("Rules of the round are not installed")
    LEDGER_REFUSES = (
        "ledger_refuses",
        gettext_lazy("Seed does not reproduce the round, and the ledger cannot reverse it"),
    )
    PHASE_RAISED = "phase_raised", gettext_lazy("Round could not continue")
    OVERDUE = "overdue", gettext_lazy("Round exceeded its deadline")
    WRONG_CARD = "wrong_card", gettext_lazy("Shoe differs from the shuffle")
    NOT_RECOMPUTED = "not_recomputed", gettext_lazy("Settlement cannot be reproduced")
    NOT_DEALT = "not_dealt", gettext_lazy("No proof that the dealer dealt the round")
    REPORTED = "reported", gettext_lazy("Reported by staff")


class Incident(models.Model):
    """A malfunction at a table, and what was done at once.

    *round* is a round of a solo table, which has at most one incident of each kind. *live_round* is
    a round of a shared table, finished or not; it may have another incident of a kind after the
    ruling on the first.
    """

    kind = models.CharField(max_length=20, choices=IncidentKind)
    table = models.ForeignKey(Table, models.PROTECT)
    round = models.ForeignKey(Round, models.PROTECT, null=True)
    live_round = models.ForeignKey(LiveRound, models.PROTECT, null=True)
    cause = models.TextField(db_default="", default="")  # a sentence for staff
    cards = models.CharField(max_length=40, db_default="", default="")  # so far, in dealing order
    findings = models.JSONField()  # [{"what": …, "stored": …, "recomputed": …}, …]
    done = models.JSONField()  # sentences for staff
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        permissions = [("supervise_table", "Can rule on incidents and void rounds of shared tables")]
        constraints = [
            models.UniqueConstraint(fields=["round", "kind"], name="games_incident_once"),
        ]
        indexes = [models.Index(fields=["kind", "-id"], name="games_incident_kind")]


class Ruling(models.TextChoices):
    """The supervisor's decision on a round with an incident."""

    CONFIRMED = "stands", gettext_lazy("the round stands")
    VOID = "void", gettext_lazy("the round is void")


class IncidentRuling(models.Model):
    """The supervisor's ruling on an incident at a shared table. Voiding a dealt round takes two people."""

    incident = models.OneToOneField(Incident, models.PROTECT, primary_key=True, related_name="ruling")
    ruling = models.CharField(max_length=6, choices=Ruling)
    by = models.CharField(max_length=40)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


@lru_cache(maxsize=64)
def round_code(round_id: UUID) -> str:
    """Return the last 60 bits of a round id as three groups of four characters.

    All of these bits are random in a version 4 UUID.
    """
    bits = round_id.int & (1 << 60) - 1
    return _in_groups("".join(ALPHABET[bits >> shift & 31] for shift in range(55, -1, -5)))


def read_code(text: str) -> str | None:
    """Normalise a typed code to its stored form; None if it is not a code.

    Accepts any case, with or without hyphens, O for zero and I or L for one (as Crockford's base 32
    does).
    """
    letters = "".join(text.split()).replace("-", "").upper().translate(MISTAKEN)
    if len(letters) != LETTERS or not set(letters) <= set(ALPHABET):
        return None
    return _in_groups(letters)


def _in_groups(letters: str) -> str:
    return "-".join(letters[start : start + 4] for start in range(0, LETTERS, 4))


def code_of_name(name: str) -> str:
    """Return the code of a round from its id or its name in events (``round:<uuid>``), "" for anything else."""
    try:
        return round_code(UUID(name.removeprefix("round:")))
    except ValueError:
        return ""
