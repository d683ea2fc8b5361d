"""Finders for the player search: by deposit, withdrawal, authorisation number or bank account."""

import re
from collections.abc import Sequence
from typing import Final

from stdnum import iban
from stdnum.exceptions import ValidationError

from players.models import Ground
from players.search import IDENTITY, SEE, Finder, Hit, by_trait, read_uuid, select
from wallet.models import Payment, Withdrawal
from wallet.money import format_money

PAYERS: Final = (IDENTITY, "wallet.approve_withdrawal", "wallet.see_withdrawals")
NUMBER: Final = re.compile(r"withdrawal[:\s]\s*([0-9]{1,18})", re.ASCII | re.IGNORECASE)

BY_ENDING: Final = """
SELECT DISTINCT player_id FROM wallet_payout_account WHERE last_four = %(ending)s AND player_id > %(after)s
ORDER BY player_id LIMIT %(limit)s
"""
BY_AUTHORISATION: Final = """
SELECT DISTINCT player_id FROM wallet_payment WHERE authorisation = %(number)s AND authorisation <> ''
AND player_id > %(after)s ORDER BY player_id LIMIT %(limit)s
"""


def _payout_account(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    try:
        return by_trait(Ground.PAYOUT, [iban.validate(typed)], after, limit)
    except ValidationError:
        pass
    ending = re.fullmatch(r"(?:…|\.\.\.|\*)?\s*([A-Z0-9]{4})", typed.upper(), re.ASCII)
    if not ending or not re.search(r"\d", ending[1]):
        return None
    asked = {"ending": ending[1], "after": after, "limit": limit}
    return [Hit(number, f"ends in {ending[1]}") for (number,) in select(BY_ENDING, asked)]


def _payment(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    payment_id = read_uuid(typed, "payment")
    if payment_id is None:
        return None
    known = Payment.objects.filter(pk=payment_id, player__gt=after)
    return [
        Hit(each.player_id, f"{format_money(each.amount, each.currency, 'en')}, {each.begun_at:%Y-%m-%d}")
        for each in known
    ]


def _authorisation(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    if not 4 <= len(typed) <= 255 or not re.search(r"\d", typed) or "@" in typed or " " in typed:
        return None
    return [Hit(*row) for row in select(BY_AUTHORISATION, {"number": typed, "after": after, "limit": limit})]


def _withdrawal(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    reference, number = read_uuid(typed, "withdrawal"), NUMBER.fullmatch(typed)
    if reference is None and number is None:
        return None
    found = Withdrawal.objects.filter(reference=reference) if reference else Withdrawal.objects.filter(pk=number[1])  # type: ignore[index]  # one of the two is there
    return [
        Hit(each.player_id, f"{each.pk}: {format_money(each.amount, each.currency, 'en')}, {each.at:%Y-%m-%d}")
        for each in found.filter(player__gt=after)
    ]


FINDERS: Final = (
    Finder("account", "bank account", PAYERS, _payout_account),
    Finder("payment", "deposit", (SEE,), _payment),
    Finder("authorisation", "deposit authorisation number", (SEE,), _authorisation),
    Finder("withdrawal", "withdrawal", (SEE,), _withdrawal),
)
