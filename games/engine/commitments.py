"""Commitments to seeds, and the statement of what was dealt from one. `docs/randomness.md` describes
every byte.

A commitment is the SHA-256 of a text of lines, which names what the seed deals: a round (or a
shoe), its table, the number of decks and the rules. So a commitment that was shown for one round
fits no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from games.engine.shoe import checked


class Purpose(StrEnum):
    """Purpose of a seed. A seed that was drawn for one purpose is useless for another."""

    SOLO = "solo"
    DEMO = "demo"
    SHOE = "shoe"  # of a shared table
    CHEMIN = "chemin"  # a shoe of Chemin de Fer, from which no card is burned


@dataclass(frozen=True)
class Binding:
    """The data to which a commitment binds a seed."""

    purpose: Purpose
    id: str  # of the round or the shoe: a UUID in lower case, with hyphens
    table: int
    decks: int
    rules: str  # SHA-256 of the rules, in hex

    @property
    def text(self) -> str:
        """The lines that name the round, without the seed."""
        return (
            f"purpose={self.purpose.value}\nid={self.id}\ntable={self.table}\ndecks={self.decks}\nrules={self.rules}\n"
        )

    def commitment(self, seed: bytes) -> str:
        """Return the commitment to a seed, in hex. Raises SeedError."""
        text = f"sabot commitment v2\n{self.text}seed={checked(seed).hex()}\n"
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Statement:
    """A dealer's statement about a round that it dealt. The dealer signs the text."""

    key: str  # the dealer's public key (Ed25519), in hex
    epoch: str  # of the dealer, from its start to its end: 16 random bytes in hex
    number: int  # of the deal, counted from 1 within the epoch
    binding: Binding
    commitment: str
    entropy: str  # `digest_of_entropy`
    stakes: str  # `digest_of_stakes`
    cards: str  # in dealing order: "9H 4D KS 2C"
    outcome: str  # player, banker, tie

    @property
    def text(self) -> str:
        """The text that is signed."""
        return (
            f"sabot deal v1\nkey={self.key}\nepoch={self.epoch}\ndeal={self.number}\n{self.binding.text}"
            f"commitment={self.commitment}\nentropy={self.entropy}\nstakes={self.stakes}\n"
            f"cards={self.cards}\noutcome={self.outcome}\n"
        )

    def proof_text(self, signature: bytes) -> str:
        """Return the text that is proven to the database: the statement with its signature."""
        return f"{self.text}signature={signature.hex()}\n"


@dataclass(frozen=True)
class ShoeStatement:
    """A dealer's statement about a shoe before its first bet. The dealer signs the text."""

    key: str
    binding: Binding
    commitment: str
    entropy: str  # `digest_of_entropy` of the value that went into the shuffle
    root: str  # of `games.engine.card_tree`, in hex
    burn_card: str  # the first card, which is shown; "" if no card is burned
    burned: int  # cards that have left the shoe, including that one
    cut: int  # the cut card is in front of this card, counted from 0

    @property
    def text(self) -> str:
        """The text that is signed."""
        return (
            f"sabot shoe v1\nkey={self.key}\n{self.binding.text}commitment={self.commitment}\n"
            f"entropy={self.entropy}\nroot={self.root}\nburn={self.burn_card}\nburned={self.burned}\ncut={self.cut}\n"
        )

    def proof_text(self, signature: bytes) -> str:
        """Return the text that is proven to the database: the statement with its signature."""
        return f"{self.text}signature={signature.hex()}\n"


@dataclass(frozen=True)
class CardsStatement:
    """A dealer's statement about cards that left a shoe: those of a round, or some of a coup. It signs the text."""

    key: str
    binding: Binding
    commitment: str
    round: str  # a UUID, as the id of the shoe
    first: int  # number of cards that had left the shoe before
    stakes: str  # digest of the stakes for which they were dealt
    cards: str  # "9H 4D KS 2C"
    salts: str  # of the cards, in hex

    @property
    def text(self) -> str:
        """The text that is signed."""
        return (
            f"sabot cards v1\nkey={self.key}\n{self.binding.text}commitment={self.commitment}\nround={self.round}\n"
            f"first={self.first}\nstakes={self.stakes}\ncards={self.cards}\nsalts={self.salts}\n"
        )

    def proof_text(self, signature: bytes) -> str:
        """Return the text that is proven to the database: the statement with its signature."""
        return f"{self.text}signature={signature.hex()}\n"


def coup_text(binding: Binding, round_id: str, first: int, cards: str) -> str:
    """Return the text with which a dealer proves which cards it dealt for a coup of Chemin de Fer, all of them."""
    return f"sabot coup v1\n{binding.text}round={round_id}\nfirst={first}\ncards={cards}\n"


def ticket_text(shoe: str, round_id: str, first: int, count: int, stakes: str) -> str:
    """Return the text with which the database tells the dealer that cards may leave a shoe now.

    *count*: of cards; 0 for those of a whole round. *stakes*: their digest.
    """
    return f"sabot ticket v1\nshoe={shoe}\nround={round_id}\nfirst={first}\ncount={count}\nstakes={stakes}\n"


def ending_text(shoe: str) -> str:
    """Return the text with which the database tells the dealer that a shoe has ended, so that its seed is no secret."""
    return f"sabot end of shoe v1\nshoe={shoe}\n"


RECEIPT: Final = "sabot receipt v1\n"
"""The first line of a player's receipt. The database writes it (``games/sql/functions/receipts.sql``)."""


def refusal_text(reason: str, binding: Binding, commitment: str, sealed: bytes) -> str:
    """Return the text with which a dealer proves that it does not deal a commitment: *reason* is expired,
    dealt or foreign.
    """
    digest = hashlib.sha256(sealed).hexdigest()
    return f"sabot refusal v1\nreason={reason}\n{binding.text}commitment={commitment}\nsealed={digest}\n"


def epoch_text(key: str, epoch: str) -> str:
    """Return the text with which a dealer proves that it has the key of the proofs."""
    return f"sabot dealer v1\nkey={key}\nepoch={epoch}\n"


def entropy_of(chances: Iterable[str]) -> str:
    """Return what goes into the shuffle of a shoe in addition to its seed; "" without anybody's chance.

    *chances*: what players have added, each as "digest value", in order.
    """
    lines = "".join(f"{each}\n" for each in chances)
    return hashlib.sha256(f"sabot cut v1\n{lines}".encode()).hexdigest() if lines else ""


def digest_of_entropy(player_value: str) -> str:
    """Return the SHA-256, in hex, of what the player adds to the shuffle."""
    return hashlib.sha256(player_value.encode()).hexdigest()


def digest_of_stakes(stakes: Mapping[str, int]) -> str:
    """Return the SHA-256, in hex, of the stakes: a line for each bet, in the order of their codes.

    *stakes*: bet to minor units.
    """
    lines = "".join(f"{bet}={stake}\n" for bet, stake in sorted(stakes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()
