"""The dealer itself: commits to seeds, and deals each of them once.

From its start to its end it is one *epoch*, which has a random name. The key under which it
encrypts seeds exists only in its memory, so what it committed to in one epoch can be dealt in no
other. A sealed seed is: the epoch (16 bytes), the number of the commitment (12 bytes, big-endian,
which is the nonce), and the seed in AES-256-GCM with epoch and binding as associated data.

The dealer deals a commitment for one request: the player's value and the stakes. It answers the
same request again with the same deal, and refuses any other one. So nobody can look at the cards
first and then decide on the bets. The shoes of shared tables are `games.dealer.shoes`.
"""

import hashlib
import hmac
import secrets
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from games.dealer import DealtOtherwise, Expired, Foreign, Refusal
from games.dealer.keys import Keys
from games.dealer.shoes import Shoe, Shoes, Ticket
from games.engine import card_tree
from games.engine.commitments import (
    RECEIPT,
    Binding,
    CardsStatement,
    Purpose,
    ShoeStatement,
    Statement,
    coup_text,
    digest_of_entropy,
    epoch_text,
    refusal_text,
)
from games.engine.coup import deal as deal_coup
from games.engine.shoe import SEED_BYTES, shuffle

DIGEST_BYTES: Final = 20  # of a request; nobody finds two requests with the same one
KEPT: Final = 4_000_000  # commitments: at most 112 MB


class Forgotten(Exception):
    """The commitment is older than those that are remembered."""


class Memory:
    """The last commitments of an epoch: which were dealt, as which deal, for what request.

    Commitments are numbered in the order in which they were made. The memory has a fixed number of
    bytes for each, and forgets the oldest.
    """

    def __init__(self, capacity: int = KEPT) -> None:
        self._capacity = max(capacity, 4)
        self._first = 0  # number of the oldest commitment that is remembered
        self._deals = array("Q")  # number of the deal; 0: not dealt yet
        self._digests = bytearray()

    def add(self) -> int:
        """Remember one more commitment and return its number."""
        if len(self._deals) >= self._capacity:
            self._forget(self._capacity // 4)
        self._deals.append(0)
        self._digests.extend(bytes(DIGEST_BYTES))
        return self._first + len(self._deals) - 1

    def dealt(self, number: int) -> tuple[int, bytes] | None:
        """Return the deal of a commitment and the digest of its request; None if it was not dealt.

        Raises Forgotten, and LookupError for a number that no commitment has.
        """
        place = self._place(number)
        deal = self._deals[place]
        return (deal, bytes(self._digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES])) if deal else None

    def note(self, number: int, deal: int, digest: bytes) -> None:
        """Remember that a commitment was dealt. Raises as `dealt` does."""
        place = self._place(number)
        self._deals[place] = deal
        self._digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES] = digest[:DIGEST_BYTES]

    def _place(self, number: int) -> int:
        if number < self._first:
            raise Forgotten
        if number >= self._first + len(self._deals):
            raise LookupError(number)
        return number - self._first

    def _forget(self, oldest: int) -> None:
        del self._deals[:oldest]
        del self._digests[: oldest * DIGEST_BYTES]
        self._first += oldest


EPOCH_BYTES: Final = 16
NONCE_BYTES: Final = 12
S = TypeVar("S", ShoeStatement, CardsStatement)


@dataclass(frozen=True)
class Committed:
    """A commitment, and the encrypted seed."""

    commitment: str
    sealed: bytes


@dataclass(frozen=True)
class Dealt:
    """A deal, with its seed, the dealer's signature, and the proof for the database."""

    statement: Statement
    seed: bytes
    signature: bytes
    proof: bytes


@dataclass(frozen=True)
class Said(Generic[S]):
    """A statement with the dealer's signature and the proof for the database."""

    statement: S
    signature: bytes
    proof: bytes


class Dealer:
    """One epoch of the dealer. *folder*: where it keeps its shoes, which outlive the epoch."""

    def __init__(
        self, keys: Keys, folder: Path, *, capacity: int = KEPT, draw: Callable[[int], bytes] = secrets.token_bytes
    ) -> None:
        self._keys, self.draw = keys, draw
        self.shoes = Shoes(folder, keys.proof, lambda count: self.draw(count))  # noqa: PLW0108  (it may be replaced)
        self._cipher = AESGCM(AESGCM.generate_key(256))
        self._memory = Memory(capacity)
        self._counts = dict.fromkeys((Purpose.SOLO, Purpose.DEMO), 0)
        self._epoch = secrets.token_bytes(EPOCH_BYTES)
        self.key = keys.public

    @property
    def epoch(self) -> str:
        """The name of the epoch, in hex."""
        return self._epoch.hex()

    @property
    def proof(self) -> bytes:
        """A proof that this dealer has the key of the proofs, for `epoch_text`."""
        return self._prove(epoch_text(self.key, self.epoch))

    @property
    def deals(self) -> int:
        """The number of solo rounds that were dealt in this epoch."""
        return self._counts[Purpose.SOLO]

    def commit(self, binding: Binding) -> Committed:
        """Draw a seed for a round and commit to it."""
        seed = self.draw(SEED_BYTES)
        nonce = self._memory.add().to_bytes(NONCE_BYTES, "big")
        sealed = self._cipher.encrypt(nonce, seed, self._associated(binding))
        return Committed(binding.commitment(seed), self._epoch + nonce + sealed)

    def deal(self, binding: Binding, *, commitment: str, sealed: bytes, player_value: str, stakes: str) -> Dealt:
        """Deal a round. *stakes*: their digest.

        Raises Expired, DealtOtherwise, Foreign, each with a proof.
        """
        try:
            return self._deal(binding, commitment, sealed, player_value, stakes)
        except Refusal as refusal:
            refusal.proof = self._prove(refusal_text(refusal.reason, binding, commitment, sealed))
            raise

    def open_shoe(self, binding: Binding) -> str:
        """Commit to a shoe and return the commitment. Raises Expired where its file is damaged, Foreign, OSError."""
        return binding.commitment(self.shoes.open(binding).seed)

    def cut_shoe(self, binding: Binding, value: str) -> tuple[Shoe, Said[ShoeStatement]]:
        """Shuffle a shoe and say how it begins. Raises Expired, Foreign, DealtOtherwise."""
        shoe = self.shoes.cut(binding, value)
        statement = ShoeStatement(
            key=self.key,
            binding=binding,
            commitment=binding.commitment(shoe.seed),
            entropy=digest_of_entropy(value),
            root=card_tree.root(shoe.leaves).hex(),
            burn_card=shoe.burn_card,
            burned=shoe.burned,
            cut=shoe.cut,
        )
        return shoe, self._say(statement)

    def deal_cards(self, binding: Binding, ticket: Ticket, proof: bytes) -> Said[CardsStatement]:
        """Let cards leave a shoe. Raises Expired, Foreign, DealtOtherwise."""
        shoe, count = self.shoes.deal(binding, ticket, proof)
        taken = slice(ticket.first, ticket.first + count)
        statement = CardsStatement(
            key=self.key,
            binding=binding,
            commitment=binding.commitment(shoe.seed),
            round=ticket.round,
            first=ticket.first,
            stakes=ticket.stakes,
            cards=" ".join(card.code for card in shoe.cards[taken]),
            salts=b"".join(shoe.salts[taken]).hex(),
        )
        return self._say(statement)

    def prove_coup(self, binding: Binding, round_id: str) -> tuple[int, str, bytes]:
        """Return the position of the first card of a coup, all its cards, and a proof for the database.

        Raises Expired, Foreign.
        """
        shoe = self.shoes.of(binding)
        first, count = shoe.of_round(round_id)
        cards = " ".join(card.code for card in shoe.cards[first : first + count])
        return first, cards, self._prove(coup_text(binding, round_id, first, cards))

    def sign_receipt(self, said: str, ticket: bytes) -> bytes:
        """Sign the receipt of a player that the database has written. Raises Foreign without its ticket."""
        if not said.startswith(RECEIPT) or not hmac.compare_digest(self._prove(said), ticket):
            raise Foreign("the database has not written this receipt")
        return self._keys.signing.sign(said.encode())

    def _say(self, statement: S) -> Said[S]:
        signature = self._keys.signing.sign(statement.text.encode())
        return Said(statement, signature, self._prove(statement.proof_text(signature)))

    def _deal(self, binding: Binding, commitment: str, sealed: bytes, player_value: str, stakes: str) -> Dealt:
        """Raises Expired, DealtOtherwise, Foreign."""
        number, seed = self._opened(binding, commitment, sealed)
        entropy = digest_of_entropy(player_value)
        deal = self._deal_number(binding.purpose, number, hashlib.sha256(f"{entropy}{stakes}".encode()).digest())
        coup = deal_coup(shuffle(seed, binding.decks, player_value))
        cards = " ".join(card.code for card in coup.cards)
        statement = Statement(
            self.key, self.epoch, deal, binding, commitment, entropy, stakes, cards, coup.outcome.value
        )
        signature = self._keys.signing.sign(statement.text.encode())
        return Dealt(statement, seed, signature, self._prove(statement.proof_text(signature)))

    def _prove(self, text: str) -> bytes:
        return hmac.digest(self._keys.proof, text.encode(), "sha256")

    def _opened(self, binding: Binding, commitment: str, sealed: bytes) -> tuple[int, bytes]:
        """Return the number of a commitment and its seed. Raises Expired, Foreign."""
        if sealed[:EPOCH_BYTES] != self._epoch:
            raise Expired("the commitment is of an earlier epoch of the dealer")
        nonce = sealed[EPOCH_BYTES : EPOCH_BYTES + NONCE_BYTES]
        try:
            seed = self._cipher.decrypt(nonce, sealed[EPOCH_BYTES + NONCE_BYTES :], self._associated(binding))
        except (InvalidTag, ValueError) as error:
            raise Foreign("the sealed seed is not of this round") from error
        if not hmac.compare_digest(binding.commitment(seed), commitment):
            raise Foreign("the sealed seed is not that of the commitment")
        return int.from_bytes(nonce, "big"), seed

    def _deal_number(self, purpose: Purpose, number: int, digest: bytes) -> int:
        """Return the number of the deal, a new one unless it was dealt. Raises Expired, DealtOtherwise, Foreign."""
        if purpose not in self._counts:
            raise Foreign(f"the dealer deals no {purpose}")
        try:
            before = self._memory.dealt(number)
        except Forgotten as error:
            raise Expired("the commitment is too old") from error
        if before is None:
            self._counts[purpose] += 1
            self._memory.note(number, self._counts[purpose], digest)
            return self._counts[purpose]
        deal, of_request = before
        if not digest.startswith(of_request):
            raise DealtOtherwise("the commitment was dealt for other stakes or another value")
        return deal

    def _associated(self, binding: Binding) -> bytes:
        return self._epoch + binding.text.encode()
