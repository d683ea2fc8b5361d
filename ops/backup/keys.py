"""Check of the configured keys against restored data: backups contain no keys, so wrong ones may be configured."""

from collections.abc import Iterator

from allauth.mfa.models import Authenticator
from cryptography.exceptions import InvalidTag
from cryptography.fernet import InvalidToken

from games.chemin import shoes as guests_shoes
from games.models import Shape, Shoe
from games.rounds.integrity import Doubt
from games.shared import shoes
from ops.backup.errors import WrongKey
from players.encryption import unseal
from players.login.second_factor import MFAAdapter
from players.models import DocumentContent
from wallet.models import PartnerKey, PayoutAccount
from wallet.payouts import accounts
from wallet.seamless_wallet.keys import secret_of

FEW = 20  # rows to try: a single damaged one must not decide


def demand_right() -> list[str]:
    """Return sentences about which keys were tried. Raises WrongKey."""
    return [
        _sentence("SEED_KEY", "the secrets of second factors and the seeds of shoes", [*_factors(), *_shoes()]),
        _sentence("DOCUMENT_KEY", "players' documents and bank accounts", [*_documents(), *_accounts()]),
        _sentence("PARTNER_KEY", "the secrets shared with partners", [*_partners()]),
    ]


def _sentence(key: str, what: str, opened: list[bool]) -> str:
    if opened and not any(opened):
        raise WrongKey(
            f"{key} is not the key that this house used: it opens nothing of {what}. Set the right one and run"
            " manage.py after_restore. Nothing was changed, and the house does not open like this."
        )
    return f"{key} is the right one." if opened else f"{key} could not be tried: nothing in the copy needs it."


def _factors() -> Iterator[bool]:
    found = Authenticator.objects.filter(type=Authenticator.Type.TOTP).order_by("-pk")
    for secret in found.values_list("data", flat=True)[:FEW]:
        try:
            MFAAdapter().decrypt(secret["secret"])
        except InvalidToken:
            yield False
        else:
            yield True


def _shoes() -> Iterator[bool]:
    for shoe in Shoe.objects.filter(ended_at=None).select_related("live_table__table").order_by("-opened_at")[:FEW]:
        is_of_guests = shoe.live_table.table.shape == Shape.GUESTS
        try:
            (guests_shoes.demand_in_order if is_of_guests else shoes.dealt_otherwise)(shoe)
        except InvalidTag:
            yield False
        except Doubt:
            yield True  # it decrypts; something else is wrong
        else:
            yield True


def _documents() -> Iterator[bool]:
    for each in DocumentContent.objects.order_by("-pk")[:FEW]:
        try:
            unseal(each.pk, bytes(each.sealed))
        except InvalidTag:
            yield False
        else:
            yield True


def _accounts() -> Iterator[bool]:
    for each in PayoutAccount.objects.exclude(sealed=b"").order_by("-pk")[:FEW]:
        try:
            accounts.reveal(each)
        except InvalidTag:
            yield False
        else:
            yield True


def _partners() -> Iterator[bool]:
    for each in PartnerKey.objects.order_by("-pk")[:FEW]:
        try:
            secret_of(each)
        except InvalidTag:
            yield False
        else:
            yield True
