"""Deals of the dealer: rounds of one player, shoes and their cards, and its refusals as errors of a table.

The dealer is a process of its own (`games.dealer`). This process cannot open a seed, and learns the
cards of a round when it has bound itself to the stakes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID, uuid4

from django.conf import settings

from games.dealer import client
from games.dealer.client import Answer, CardsDealt
from games.dealer.keys import PUBLIC
from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.commitments import Binding, Purpose, digest_of_stakes
from games.engine.coup import Coup
from games.engine.coup import deal as deal_coup
from games.errors import CommitmentSpent, DealerAway, ShoeRefused
from games.models import Shape, Shoe, Table


class Reason(StrEnum):
    """Reason for which a seat is committed to another round although its round was not played."""

    EXPIRED = "expired"  # the dealer was restarted, or the commitment is very old
    DEALT = "dealt"  # it was dealt for other stakes, and the round was not stored
    FOREIGN = "foreign"  # it is not the dealer's, or not for this round: somebody changed it
    RULES = "rules"  # the rules of the table have changed
    RESTORED = "restored"  # the database was restored from a copy


@dataclass(frozen=True)
class Commitment:
    """A round that the dealer has committed to, with its encrypted seed."""

    round_id: UUID
    commitment: str
    sealed: bytes
    rules: str  # digest of the rules that the commitment names


@dataclass(frozen=True)
class Deal:
    """A round that was dealt: what the dealer said, its cards as a coup, and the next commitment."""

    answer: Answer
    coup: Coup
    following: Commitment


def commit(purpose: Purpose, table_id: int, variant: Variant) -> Commitment:
    """Have the dealer commit to a new round at a table. Raises DealerAway."""
    round_id = uuid4()
    try:
        commitment, sealed = client.commit(settings.DEALER, _binding(purpose, round_id, table_id, variant))
    except (client.DealerAway, client.InvalidAnswer) as error:
        raise DealerAway from error
    return Commitment(round_id, commitment, sealed, variant.digest)


def deal(
    purpose: Purpose,
    committed: Commitment,
    *,
    table_id: int,
    variant: Variant,
    player_value: str,
    stakes: Mapping[str, int],
) -> Deal:
    """Have the dealer deal a round for these stakes, bet to minor units, and commit to the next one.

    Raises DealerAway, CommitmentSpent.
    """
    if committed.rules != variant.digest:
        raise CommitmentSpent(Reason.RULES if committed.rules else Reason.RESTORED)
    round_id = uuid4()
    try:
        answer = client.deal(
            settings.DEALER,
            _binding(purpose, committed.round_id, table_id, variant),
            commitment=committed.commitment,
            sealed=committed.sealed,
            player_value=player_value,
            stakes=digest_of_stakes(stakes),
            following=_binding(purpose, round_id, table_id, variant),
        )
    except client.Refusal as refusal:
        raise CommitmentSpent(Reason(refusal.reason), refusal.proof) from refusal
    except (client.DealerAway, client.InvalidAnswer) as error:
        raise DealerAway from error
    coup = deal_coup([Card.parse(code) for code in answer.cards.split()])
    following = Commitment(round_id, answer.next_commitment, answer.next_sealed, variant.digest)
    return Deal(answer, coup, following)


@dataclass(frozen=True)
class NewShoe:
    """A shoe that the dealer has committed to and shuffled."""

    id: UUID
    binding: Binding
    entropy: str
    cut: client.CutShoe


@dataclass(frozen=True)
class Ask:
    """The database's permission to take cards out of a shoe (`games_ask_for_cards`)."""

    first: int  # number of cards that have left the shoe before
    count: int  # 0: those of a whole round
    stakes: str  # digest
    ticket: bytes


def commit_to_shoe(binding: Binding) -> str:
    """Have the dealer commit to a shoe, and return the commitment. Raises DealerAway, ShoeRefused."""
    with _asking():
        return client.open_shoe(settings.DEALER, binding)


def new_shoe(binding: Binding, entropy: str = "") -> NewShoe:
    """Have the dealer commit to a shoe, unless it has, and shuffle it with *entropy*.

    Raises DealerAway, ShoeRefused.
    """
    with _asking():
        client.open_shoe(settings.DEALER, binding)
        return NewShoe(UUID(binding.id), binding, entropy, client.cut_shoe(settings.DEALER, binding, entropy))


def deal_cards(shoe: Shoe, round_id: UUID, asked: Ask) -> CardsDealt:
    """Have cards leave a shoe. Raises DealerAway, ShoeRefused."""
    with _asking():
        return client.deal_cards(
            settings.DEALER,
            shoe_binding(shoe),
            round_id=str(round_id),
            first=asked.first,
            count=asked.count,
            stakes=asked.stakes,
            ticket=asked.ticket,
        )


def prove_coup(shoe: Shoe, round_id: UUID) -> tuple[str, bytes]:
    """Return all cards that the dealer dealt for a coup, with its proof. Raises DealerAway, ShoeRefused."""
    with _asking():
        return client.prove_coup(settings.DEALER, shoe_binding(shoe), str(round_id))


def end_shoe(shoe: Shoe, ticket: bytes) -> bytes:
    """Return the seed of a shoe that has ended. Raises DealerAway, ShoeRefused."""
    with _asking():
        return client.end_shoe(settings.DEALER, shoe_binding(shoe), ticket)


def cards_gone(shoe: Shoe) -> int | None:
    """Return how many cards have left a shoe by the dealer; None if it deals nothing more from it.

    Raises DealerAway, ShoeRefused.
    """
    with _asking():
        return client.cards_gone(settings.DEALER, shoe_binding(shoe))


def sign_receipt(said: str, ticket: bytes) -> tuple[str, bytes]:
    """Have the dealer sign a receipt; return its public key in hex, and the signature.

    Raises DealerAway, and ShoeRefused where the database has not written the receipt.
    """
    with _asking():
        return client.sign_receipt(settings.DEALER, said, ticket)


def shoe_binding(shoe: Shoe) -> Binding:
    """Return what the commitment to a shoe names."""
    table = shoe.live_table.table
    return Binding(purpose_of_shoes(table), str(shoe.pk), table.pk, shoe.decks, shoe.rules_digest)


def purpose_of_shoes(table: Table) -> Purpose:
    """Return what the seeds of a table's shoes deal."""
    return Purpose.CHEMIN if table.shape == Shape.CHEMIN else Purpose.SHOE


@contextmanager
def _asking() -> Iterator[None]:
    """Raise DealerAway, and ShoeRefused where the dealer refuses."""
    try:
        yield
    except client.Refusal as refusal:
        raise ShoeRefused(str(refusal)) from refusal
    except (client.DealerAway, client.InvalidAnswer) as error:
        raise DealerAway from error


def trusted_keys() -> list[str]:
    """Return the public keys of dealers whose signatures count, in hex; a demo trusts its own dealer."""
    if settings.DEALER_KEYS or settings.DEALER_DIR is None:
        return [key.lower() for key in settings.DEALER_KEYS]
    try:
        return [(settings.DEALER_DIR / PUBLIC).read_text().strip()]
    except FileNotFoundError:
        return []


def _binding(purpose: Purpose, round_id: UUID, table_id: int, variant: Variant) -> Binding:
    return Binding(purpose, str(round_id), table_id, variant.decks, variant.digest)
