"""Balance adjustments approved by two people (``wallet/sql/functions/adjustments.sql``)."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models import Approval
from wallet.models.ledger import Account


class Why(models.TextChoices):
    """Reason of an adjustment, as the player reads it."""

    DEPOSIT = "deposit", _("A deposit of yours had not been booked as it was paid.")
    WITHDRAWAL = "withdrawal", _("A withdrawal of yours had not been booked as it was paid out.")
    ROUND = "round", _("A round had been booked with an error.")
    TWICE = "twice", _("An amount had been booked twice.")
    GOODWILL = "goodwill", _("The house is putting right a mistake of its own.")
    RULING = "ruling", _("This is how your complaint was decided.")


class Adjustment(models.Model):
    """An executed approval: the change of a player's cash account in minor units, negative for a debit.

    Its journal has the same key. Only the function ``wallet_adjust`` inserts rows.
    """

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True, related_name="adjustment")
    key = models.UUIDField(unique=True)
    account = models.ForeignKey(Account, models.PROTECT)
    amount = models.BigIntegerField()
    why = models.CharField(max_length=10, choices=Why)

    class Meta:
        default_permissions = ()
        permissions = [
            ("ask_adjustment", "Can ask for balances to be adjusted"),
            ("decide_adjustment", "Can decide adjustments of balances"),
        ]
        constraints = [models.CheckConstraint(condition=~models.Q(amount=0), name="wallet_adjustment_something")]
