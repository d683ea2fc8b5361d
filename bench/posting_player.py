"""Someone whose money moves: `python -m bench.posting_player PERSON WAY`, where PERSON is JSON of `bench.people`.

Every movement is one journal of two lines, a stake of real money; the ways are those of `WAYS`.
"""

import json
import sys
from collections.abc import Callable
from uuid import uuid4

import django

django.setup()

from django.db import transaction  # noqa: E402  (models need the set-up)

from audit import log  # noqa: E402
from bench.playing import play_when_told  # noqa: E402
from players.models import Player  # noqa: E402
from wallet import ledger  # noqa: E402
from wallet.ledger import accounts  # noqa: E402
from wallet.models import AccountKind, Mode  # noqa: E402

STAKE = 1000  # minor units


class Mover:
    """A player with money, and the account that their stakes go to."""

    def __init__(self, player_id: int) -> None:
        self._player = Player.objects.get(pk=player_id)
        currency = self._player.currency
        self._lines = (
            ledger.Line(accounts.player_account(player_id, Mode.REAL), currency, Mode.REAL, -STAKE),
            ledger.Line(accounts.house_account(AccountKind.ESCROW, currency, Mode.REAL), currency, Mode.REAL, STAKE),
        )

    def post(self) -> None:
        """Post a journal and commit."""
        ledger.post(ledger.Journal(uuid4(), "stake", self._lines))

    def post_in_transaction(self) -> None:
        """Post a journal in a transaction that could do more."""
        with transaction.atomic():
            self.post()

    def post_and_record(self) -> None:
        """Post a journal and write an event about it, in one transaction."""
        with transaction.atomic():
            self.post()
            who = str(self._player)
            log.record("stake.posted", by=who, on=who, data={"amount": STAKE, "currency": self._player.currency})


WAYS: dict[str, Callable[[Mover], None]] = {
    "alone": Mover.post,
    "unaudited": Mover.post_in_transaction,
    "audited": Mover.post_and_record,
}


def main() -> None:
    """Move money when told to."""
    mover, way = Mover(json.loads(sys.argv[1])["player"]), WAYS[sys.argv[2]]
    play_when_told(lambda: way(mover))


if __name__ == "__main__":
    main()
