"""Receipts of players: what the house has taken, signed by the dealer, and where the log has it.

The database writes the text of a receipt from committed rows (``games/sql/functions/receipts.sql``),
and the dealer signs it; web has neither key. A receipt is a C2SP signed note. Anybody can hold it
against a copy of the public log: `docs/audit.md` names its lines and what they promise.
"""

import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from audit.raw_rows import fetch_all, fetch_one
from audit.sealing import witnesses
from audit.tree import NotSealed, proof_text
from audit.verification.verify import LOG, Key
from games.deals import sign_receipt
from games.engine import card_tree
from games.errors import DealerAway, ShoeRefused

logger = logging.getLogger(__name__)

NAME: Final = "sabot.dealer"
"""The name of the dealer's key in notes."""

WRITE: Final = "SELECT said, ticket FROM games_receipt(%s::uuid, %s::bigint)"
WRITTEN = """
SELECT asked.id, receipt.said, receipt.ticket, placed.leaf
FROM unnest(%s::uuid[]) AS asked (id)
CROSS JOIN LATERAL games_receipt(asked.id, %s::bigint) AS receipt
LEFT JOIN LATERAL (
    SELECT leaf.leaf FROM (
        SELECT event.id FROM audit_event AS event
        WHERE event."on" = 'round:' || asked.id AND event.kind IN ('round.settled', 'round.voided')
        ORDER BY event.kind, event.id LIMIT 1
    ) AS ended JOIN audit_leaf AS leaf ON leaf.event_id = ended.id
) AS placed ON true
"""
SEALED = """
SELECT leaf.leaf, convert_from(event.body, 'UTF8')
FROM audit_event AS event JOIN audit_leaf AS leaf ON leaf.event_id = event.id
WHERE event."on" = 'round:' || %s::uuid AND event.kind = 'bets.sealed'
"""
LEAVES = "SELECT player, leaf FROM games_bet_leaves(%s::uuid)"


class Written(NamedTuple):
    """A receipt that the database has written and the dealer has not signed yet."""

    round_id: UUID
    said: str
    ticket: bytes  # the database's proof of it, for the dealer


@dataclass(frozen=True)
class Receipt:
    """A receipt as a signed note. *leaf*: of the event that ended the round, None before it is sealed."""

    round_id: UUID
    note: str
    key: str  # the dealer's public key, in hex
    leaf: int | None

    @property
    def as_json(self) -> dict[str, Any]:
        """The receipt as browsers and programs read it."""
        return {"round": str(self.round_id), "receipt": self.note, "dealer": self.key, "leaf": self.leaf}


@dataclass(frozen=True)
class SealedBets:
    """Position of a player's bets under the root that the log has of a round's bets (`bets.sealed`)."""

    leaf: int  # of the event
    entry: str  # of the public log
    place: int  # of the bets among those of all players
    path: Sequence[bytes]  # the nearest hash first

    @property
    def as_json(self) -> dict[str, Any]:
        """The place as browsers and programs read it."""
        path = [each.hex() for each in self.path]
        return {"leaf": self.leaf, "entry": self.entry, "place": self.place, "path": path}


def signed(written: Written, leaf: int | None = None) -> Receipt:
    """Have the dealer sign what the database has written. Raises DealerAway, ShoeRefused."""
    key, signature = sign_receipt(written.said, written.ticket)
    note = f"{written.said}\n{_key(key).line(signature)}\n"
    return Receipt(written.round_id, note, key, leaf)


def note_of(written: Written | None) -> str:
    """Return a receipt as a signed note, "" without one or while the dealer is away: the page asks for it later."""
    if written is None:
        return ""
    try:
        return signed(written).note
    except (DealerAway, ShoeRefused):
        return ""


def holder(player_id: int) -> str:
    """Return what a browser keeps a player's receipts under. It depends on no key, which could be replaced."""
    return hashlib.sha256(f"sabot receipts of player:{player_id}".encode()).hexdigest()[:16]


@cache
def _key(public: str) -> Key:
    return Key(NAME, LOG, bytes.fromhex(public))


def receipts(player_id: int, round_ids: Iterable[UUID]) -> list[Receipt]:
    """Return the receipts of these rounds, those of the player. Raises DealerAway, also if the dealer refuses one."""
    rows = fetch_all(WRITTEN, [f"{{{','.join(map(str, round_ids))}}}", player_id])
    try:
        return [signed(Written(round_id, said, bytes(ticket)), leaf) for round_id, said, ticket, leaf in rows]
    except ShoeRefused as error:
        logger.exception("the dealer signs no receipt of player:%s", player_id)
        raise DealerAway from error


def receipt(player_id: int, round_id: UUID) -> Receipt | None:
    """Return the receipt of what a player has in a round, None without anything. Raises DealerAway."""
    return next(iter(receipts(player_id, [round_id])), None)


def sealed_bets(player_id: int, round_id: UUID) -> SealedBets | None:
    """Return where a player's bets at a shared table are in the log; None before, and at other tables."""
    row = fetch_one(SEALED, [round_id])
    if row is None:
        return None
    leaf, entry = row
    leaves = [(player, bytes(each)) for player, each in fetch_all(LEAVES, [round_id])]
    place = next((at for at, (player, _) in enumerate(leaves) if player == player_id), None)
    if place is None:
        return None
    return SealedBets(leaf, entry, place, card_tree.path([each for _, each in leaves], place))


def proof(player_id: int, round_id: UUID) -> str:
    """Return the proof that the end of a player's round is in the public log (C2SP tlog-proof).

    Its extra data is the receipt, which has what the leaf is made of. Raises NotSealed where the log
    that is shown does not have it yet, or the player has no such round; DealerAway.
    """
    found, published = receipt(player_id, round_id), witnesses.published()
    if found is None or found.leaf is None or published is None:
        raise NotSealed(f"round {round_id} is in no signed tree")
    checkpoint, note = published
    return proof_text(found.leaf, checkpoint.size, note, found.note.encode())
