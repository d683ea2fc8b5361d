"""Tables as staff handle them: made, put live under new limits, opened and closed."""

from fractions import Fraction
from typing import cast

from django.db import transaction

from audit import log
from audit.log import Json
from games.engine.odds import LIVE_MINIMUM, lowest_return
from games.limits import Limits, StoredLimits
from games.models import Table, TableVersion
from games.variants import VARIANTS


class TableError(Exception):
    """Something that may not be done to a table, in a sentence for staff."""


class ReturnTooLow(TableError):
    """A bet that returns under 75 % at some stake the limits allow (GLI-19 v3.0, 4.7.1)."""

    def __init__(self, bet: str, currency: str, stake: int, rtp: Fraction) -> None:
        super().__init__(
            f"{bet} returns {float(rtp):.2%} at a stake of {stake} minor units of {currency}; 75 % is the least."
        )


@transaction.atomic
def make_table(*, slug: str, name: str, variant: str, limits: StoredLimits, by: str) -> Table:
    """Make a closed table with its first version. Raises ReturnTooLow, KeyError for an unknown variant."""
    table = Table.objects.create(slug=slug, name=name, variant=variant)
    _put_live(table, number=1, limits=limits, by=by)
    return table


@transaction.atomic
def set_open(*, table_id: int, is_open: bool, reason: str, by: str) -> Table:
    """Open or close a table; what is in progress concludes (GLI-19 v3.0, 2.4.1). Doing it twice changes and records
    nothing.

    Raises TableError where no reason is given, Table.DoesNotExist.
    """
    if not reason.strip():
        raise TableError("Say why: the reason is kept in the log.")
    table = Table.objects.select_for_update().get(pk=table_id)
    if table.is_open != is_open:
        table.is_open = is_open
        table.save(update_fields=["is_open"])
        log.record(
            "table.opened" if is_open else "table.closed",
            by=by,
            on=f"table:{table.pk}",
            data={"reason": reason.strip()},
        )
    return table


def check_returns(variant_slug: str, limits: StoredLimits) -> None:
    """Refuse limits under which some allowed stake returns less than 75 %, rounding included. Raises ReturnTooLow."""
    variant = VARIANTS[variant_slug]
    for currency in limits:
        allowed = Limits.of(limits, currency)
        for bet, (low, high) in ((bet, (each.minimum, each.maximum)) for bet, each in allowed.bets.items()):
            rtp, stake = lowest_return(variant, bet, low, high, allowed.step)
            if rtp < LIVE_MINIMUM:
                raise ReturnTooLow(bet, currency, stake, rtp)


def _put_live(table: Table, *, number: int, limits: StoredLimits, by: str) -> None:
    check_returns(table.variant, limits)
    rules = VARIANTS[table.variant]
    table.version = TableVersion.objects.create(
        table=table, number=number, rules_version=rules.version, rules_digest=rules.digest, limits=limits
    )
    table.save(update_fields=["version"])
    log.record(
        "table.version",
        by=by,
        on=f"table:{table.pk}",
        data={
            "limits": cast("Json", limits),
            "number": number,
            "rules_digest": rules.digest,
            "rules_version": rules.version,
        },
    )
