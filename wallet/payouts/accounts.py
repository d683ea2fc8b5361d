"""Players' bank accounts for payouts, identified by IBAN and stored encrypted, and their history.

Error messages are sentences in the active language.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Max
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from stdnum import iban as standard
from stdnum.exceptions import ValidationError

from audit import log
from players.encryption import Purpose, fingerprints, resealed, seal, unseal
from players.identity import duplicates, normalise
from players.models import Ground, Player
from wallet.models import PayoutAccount, WithdrawalStatus, WithdrawalStep
from wallet.withdrawals import bank_reason

EXAMPLES = {  # by jurisdiction: example numbers of the IBAN registry
    "SE": "SE45 5000 0000 0583 9825 7466",
    "DK": "DK50 0040 0440 1162 43",
    "RO": "RO49 AAAA 1B31 0075 9384 0000",
    "DE": "DE89 3704 0044 0532 0130 00",
    "GB": "GB29 NWBK 6016 1331 9268 19",
}
LONGEST = 42  # characters: the longest IBAN has 34, plus a space after every four
# Countries of the Single Euro Payments Area (EPC409-09): first the EEA, then the others.
SEPA = (
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK"
    " AD AL CH GB GI MC MD ME MK RS SM VA"
)


class IbanError(ValueError):
    """The typed text is not an account that the house can pay to."""


def read_iban(text: str, jurisdiction: str) -> str:
    """Return the IBAN without spaces, in capitals.

    Raises IbanError, with an example from the jurisdiction.
    """
    try:
        number: str = standard.validate(text[: LONGEST + 1])
    except ValidationError as error:
        example = {"example": EXAMPLES[jurisdiction].replace(" ", "\u00a0")}
        raise IbanError(_("This is not a valid IBAN. Enter it like this: %(example)s.") % example) from error
    if number[:2] not in SEPA.split():
        raise IbanError(_("We pay only to bank accounts in the Single Euro Payments Area (SEPA)."))
    return number


def keep(*, player: Player, iban: str) -> PayoutAccount:
    """Return the player's account with this IBAN; store it if it is new.

    Runs in the caller's transaction. A new one is compared with the accounts of other players: two
    players with one account may be one person.
    """
    digests = fingerprints("iban", iban.encode())
    known = PayoutAccount.objects.filter(player=player, fingerprint__in=digests).first()
    if known is not None:
        return known
    identifier = uuid4()
    try:
        with transaction.atomic():
            account = PayoutAccount.objects.create(
                id=identifier,
                player=player,
                country=iban[:2],
                last_four=iban[-4:],
                sealed=seal(Purpose.PAYOUT_ACCOUNT, player.pk, identifier, iban.encode()),
                fingerprint=digests[0],
            )
    except IntegrityError:  # a concurrent request with the same form has stored it
        return PayoutAccount.objects.get(player=player, fingerprint=digests[0])
    # Do not log the IBAN, not even as a personal value: those are stored unencrypted next to the
    # log.
    log.record("payout_account.added", by=str(player), on=str(player), data={"account": str(account.pk)})
    duplicates.note(player=player, ground=Ground.PAYOUT, value=iban)
    return account


def forget(player: Player) -> int:
    """Erase the numbers of a player's bank accounts and return how many there were.

    The database refuses unless the player has been erased.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_forget_accounts(%s)", [player.pk])
        (forgotten,) = cursor.fetchone()
    return int(forgotten)


def reseal(account: PayoutAccount) -> bool:
    """Re-encrypt and re-hash an account's number with the first key.

    Returns whether anything changed.

    It writes through the database connection that read *account*; only the owner role may do so.
    Raises cryptography's InvalidTag.
    """
    new = resealed(Purpose.PAYOUT_ACCOUNT, account.player_id, account.pk, bytes(account.sealed))
    if new is None:
        return False
    owner = account._state.db
    same = PayoutAccount.objects.using(owner).filter(pk=account.pk, sealed=account.sealed)
    digest = fingerprints("iban", reveal(account).encode())[0]
    # During a key change, two processes with different first keys may have stored one number twice
    # at the same time.
    again = fingerprints("iban again", account.pk.bytes)[0]
    for each in (digest, again):
        with suppress(IntegrityError), transaction.atomic(using=owner):
            return bool(same.update(sealed=new, fingerprint=each))
    return False


def traits(ibans: Iterable[str]) -> list[tuple[Ground, bytes]]:
    """Return the traits by which these accounts are compared with those of other players."""
    return [(Ground.PAYOUT, normalise.number(iban).encode()) for iban in ibans]


def reveal(account: PayoutAccount) -> str:
    """Return the decrypted IBAN, for the bank.

    Raises cryptography's InvalidTag if key and account do not match.
    """
    return unseal(Purpose.PAYOUT_ACCOUNT, account.player_id, account.pk, bytes(account.sealed)).decode()


DEAD: Final = ("account_closed", "account_unknown")  # bank reasons after which no payout can succeed


@dataclass(frozen=True)
class History:
    """Payouts to an account: counts of *paid* and *returned*, and the step of the last return.

    *is_returned_last* tells whether the latest payout was returned.
    """

    paid: int = 0
    returned: int = 0
    last_return: WithdrawalStep | None = None
    is_returned_last: bool = False

    @property
    def is_dead(self) -> bool:
        """True if the bank reported at the latest payout that the account is closed or unknown."""
        step = self.last_return
        return self.is_returned_last and step is not None and step.reason in DEAD

    @property
    def why(self) -> Promise | None:
        """The bank's reason for the last return, as a sentence."""
        return bank_reason(self.last_return.reason) if self.last_return else None


def histories(accounts: Collection[PayoutAccount]) -> Mapping[UUID, History]:
    """Return the payout history of each of these accounts."""
    ended = WithdrawalStep.objects.filter(
        withdrawal__player__in={account.player_id for account in accounts},
        withdrawal__account__in=accounts,
        after__in=(WithdrawalStatus.PAID, WithdrawalStatus.RETURNED),
    )
    rows = ended.values("withdrawal__account", "after").annotate(times=Count("pk"), last=Max("pk"))
    of = {(row["withdrawal__account"], row["after"]): (row["times"], row["last"]) for row in rows}
    lasts = [last for (_account, after), (_times, last) in of.items() if after == WithdrawalStatus.RETURNED]
    steps = WithdrawalStep.objects.select_related("withdrawal").in_bulk(lasts)
    found = {}
    for account in accounts:
        paid, last_paid = of.get((account.pk, WithdrawalStatus.PAID), (0, 0))
        returned, last_returned = of.get((account.pk, WithdrawalStatus.RETURNED), (0, 0))
        found[account.pk] = History(paid, returned, steps.get(last_returned), last_returned > last_paid)
    return found
