"""A round with thousands of players is voided quickly in one transaction, which locks all their
accounts.
"""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from wallet.ledger import round_reversal
from wallet.models import Account, AccountKind, Mode

MANY = 500


class Read(dict[int, Account]):
    """Accounts, with a count of reads."""

    reads = 0

    def __getitem__(self, key: int) -> Account:
        self.reads += 1
        return super().__getitem__(key)

    def values(self) -> Iterator[Account]:  # type: ignore[override]
        for each in super().values():
            self.reads += 1
            yield each


def test_each_account_is_read_a_fixed_number_of_times():
    accounts = Read()
    for owner in range(MANY):
        for number, kind in enumerate((AccountKind.CASH, AccountKind.PURSE)):
            pk = 2 * owner + number
            accounts[pk] = Account(pk=pk, owner_id=owner, kind=kind, currency="SEK", mode=Mode.REAL, balance=100)
    lost = {2 * owner: -50 for owner in range(MANY)}
    assert list(round_reversal._covers(uuid4(), lost, accounts)) == []
    assert accounts.reads <= 2 * len(accounts)


@pytest.mark.parametrize("missing", [0, 30, 100])
def test_a_shortfall_is_covered_from_the_player_s_own_other_account_only(missing):
    cash, purse, theirs = (
        Account(pk=pk, owner_id=owner, currency="SEK", mode=Mode.REAL, balance=100)
        for pk, owner in ((1, 1), (2, 1), (3, 2))
    )
    covers = list(round_reversal._covers(uuid4(), {1: 100 + missing}, {1: cash, 2: purse, 3: theirs}))
    assert [line.amount for cover in covers for line in cover.lines if line.account_id == 1] == [missing] * bool(
        missing
    )
    assert {line.account_id for cover in covers for line in cover.lines} <= {1, 2}
