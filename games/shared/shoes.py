"""The shoe of a shared table: shuffle, commit, burn, deal and publish it.

The seed is drawn, sealed and committed to before the first bet. It is published when the shoe has
ended, so that anybody can verify the shoe. Until then the seed is passed only to the code that
verifies finished rounds (`games.rounds.stored`). A round receives only its own cards.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from uuid import UUID

from cryptography.exceptions import InvalidTag

from audit import log
from audit.models import Event
from games.engine.cards import Card
from games.engine.commitments import Purpose
from games.engine.coup import Coup, TooFewCards
from games.engine.dealing import coup_at, is_whole, opening
from games.engine.shoe import commitment, shuffle
from games.models import OPEN_PHASES, LiveRound, LiveTable, Shoe, ShoeEnding, Void
from games.rounds.integrity import Doubt, NotReproduced, WrongCard
from games.rounds.redeal import Finding
from games.seeds import SealedSeed, new_sealed_seed, unseal
from games.shared import moves
from games.variants import VARIANTS

SYSTEM = "system"
PUT_UP_AGAIN = "house.restored"  # kind of the event in the audit log
WRONG_BEGINNING = "The start of the shoe differs from its opening record."


RedealtShoe = Callable[[Shoe], tuple[Finding, ...]]
"""Re-deals everything that was dealt from a shoe and returns the differences."""


class ShoeInUse(Exception):
    """A round in progress uses this shoe, so its seed would reveal the cards to come."""


def open_shoe(live_table: LiveTable) -> Shoe:
    """Shuffle the decks of the game with a new seed, commit to it, burn, and put the shoe on the table."""
    sealed = new_sealed_seed(Purpose.SHOE)
    seed = unseal(Purpose.SHOE, sealed.round_id, sealed.sealed)
    decks = VARIANTS[live_table.table.variant].decks
    begins = opening(shuffle(seed, decks))
    return put_on_table(
        live_table, sealed, decks=decks, burn_card=begins.burn_card.code, burned=begins.burned, cut=begins.cut
    )


def put_on_table(
    live_table: LiveTable, sealed: SealedSeed, *, decks: int, burn_card: str, burned: int, cut: int
) -> Shoe:
    """Store a new shoe for a committed seed and make it the shoe of the table; *burned* cards are gone."""
    shoe = moves.open_shoe(
        live_table,
        sealed.round_id,
        commitment=sealed.commitment,
        sealed_seed=sealed.sealed,
        decks=decks,
        burn_card=burn_card,
        burned=burned,
        cut=cut,
    )
    log.record(
        "shoe.opened",
        by=SYSTEM,
        on=f"shoe:{shoe.pk}",
        data={
            "burn_card": shoe.burn_card,
            "burned": shoe.burned,
            "commitment": shoe.commitment,
            "cut": shoe.cut,
            "decks": shoe.decks,
            "mode": live_table.mode,
            "number": shoe.number,
            "table": live_table.table_id,
        },
    )
    return shoe


def shuffled(shoe: Shoe) -> tuple[Card, ...]:
    """Return the whole decks of a shoe as its seed shuffles them.

    Raises NotReproduced where the seed is not the one committed to, WrongCard where the cards are
    not whole decks, and InvalidTag where the seed cannot be unsealed.
    """
    seed = seed_of(shoe)
    if (shown := commitment(seed)) != shoe.commitment:
        raise NotReproduced(
            "The seed of the shoe does not match its commitment.", Finding("commitment", shoe.commitment, shown)
        )
    cards = shuffle(seed, shoe.decks)
    if not is_whole(cards, shoe.decks):
        raise WrongCard(WRONG_BEGINNING, Finding("decks", f"{shoe.decks}, whole", "not whole"))
    return cards


def cards_of(shoe: Shoe) -> tuple[Card, ...]:
    """Return the cards of a shoe in dealing order. Never pass them to a page or a log before their time.

    Raises what `shuffled` raises, and WrongCard where the cards do not begin as the shoe was
    opened.
    """
    cards = shuffled(shoe)
    begins = opening(cards)
    demand_beginning(shoe, burn_card=begins.burn_card.code, burned=begins.burned, cut=begins.cut)
    return cards


def demand_beginning(shoe: Shoe, *, burn_card: str, burned: int, cut: int) -> None:
    """Raise WrongCard where the stored opening of a shoe differs from this one."""
    found = unlike(
        Finding("burn card", shoe.burn_card, burn_card),
        Finding("burned", str(shoe.burned), str(burned)),
        Finding("cut", str(shoe.cut), str(cut)),
    )
    if found:
        raise WrongCard(WRONG_BEGINNING, *found)


def next_coup(shoe: Shoe) -> Coup:
    """Return the next coup of the shoe, after verifying all earlier ones, so that no card can be skipped.

    Raises what `cards_of` raises, and WrongCard.
    """
    cards = cards_of(shoe)
    if found := tuple(_misdealt(shoe, cards)):
        raise WrongCard("The shoe was not dealt in order.", *found)
    return coup_at(cards, shoe.gone)


def locked(shoe_id: UUID) -> Shoe:
    """Return the shoe, locked until the transaction ends. Lock accounts before it."""
    return Shoe.objects.select_for_update().get(pk=shoe_id)


def dealt_otherwise(shoe: Shoe) -> tuple[Finding, ...]:
    """Return what differs between the stored rounds of a shoe and its seed, in dealing order.

    Raises what `cards_of` raises.
    """
    return tuple(_misdealt(shoe, cards_of(shoe)))


def end(shoe: Shoe, ending: ShoeEnding, redeal: RedealtShoe = dealt_otherwise) -> tuple[Finding, ...]:
    """End a shoe, publish its seed, and return what *redeal* finds to differ.

    A shoe that has already ended is unchanged. A seed that cannot be unsealed, or is not the one
    committed to, is not published: such a shoe can only be retired. Raises ShoeInUse, and what
    *redeal* raises.
    """
    shoe.refresh_from_db(from_queryset=Shoe.objects.select_for_update())
    if shoe.ended_at:
        return ()
    if LiveRound.objects.filter(shoe=shoe, phase__in=OPEN_PHASES).exists():
        raise ShoeInUse(str(shoe.pk))
    seed: bytes | None = None
    found: tuple[Finding, ...] = ()
    try:
        found = redeal(shoe)
        seed = seed_of(shoe)
    except (InvalidTag, Doubt):
        if ending is not ShoeEnding.RETIRED:
            raise
    moves.end_shoe(shoe, seed, ending)
    log.record(
        "shoe.ended",
        by=SYSTEM,
        on=f"shoe:{shoe.pk}",
        data={
            "commitment": shoe.commitment,
            "ending": str(ending),
            "gone": shoe.gone,
            "seed": seed.hex() if seed else None,
        },
    )
    return found


def retire(shoe: Shoe) -> None:
    """End a shoe after one of its dealt rounds was voided.

    If another round of the shoe is in progress, the shoe ends when the next round opens
    (`is_spoiled`).
    """
    with suppress(ShoeInUse):
        end(shoe, ShoeEnding.RETIRED)


def is_sound(shoe: Shoe) -> bool:
    """Return whether another round can be dealt from a shoe."""
    try:
        next_coup(shoe)
    except (InvalidTag, Doubt, TooFewCards):
        return False
    return True


def is_spoiled(shoe: Shoe) -> bool:
    """Return whether a dealt round of this shoe was voided. Nothing more is dealt from such a shoe."""
    dealt = LiveRound.objects.filter(shoe=shoe).exclude(cards="")
    return Void.objects.filter(pk__in=dealt.values("pk")).exists()


def is_known(shoe: Shoe) -> bool:
    """Return whether the coming cards of a shoe may have been seen.

    That is so if the database was restored from a backup while the shoe was open, because the house
    may have played on after the backup.
    """
    return shoe.ended_at is None and Event.objects.filter(kind=PUT_UP_AGAIN, at__gt=shoe.opened_at).exists()


def seed_of(shoe: Shoe) -> bytes:
    """Return the seed of a shoe, published or sealed. Raises InvalidTag."""
    return unseal(Purpose.SHOE, shoe.pk, bytes(shoe.sealed_seed)) if shoe.seed is None else bytes(shoe.seed)


def unlike(*compared: Finding) -> tuple[Finding, ...]:
    """Return the findings whose stored and recomputed values differ."""
    return tuple(each for each in compared if each.stored != each.recomputed)


def _misdealt(shoe: Shoe, cards: Sequence[Card]) -> Iterator[Finding]:
    """Deal the shoe again, round by round, and yield the differences."""
    gone = shoe.burned
    for live_round in LiveRound.objects.filter(shoe=shoe).exclude(cards="").order_by("number"):
        try:
            coup = coup_at(cards, gone)
        except TooFewCards as error:
            yield Finding(f"{live_round.code} cards", live_round.cards, str(error))
            return
        yield from unlike(
            Finding(f"{live_round.code} first card", str(live_round.first_card), str(gone)),
            Finding(f"{live_round.code} cards", live_round.cards, written(coup.cards)),
        )
        gone += len(coup.cards)
    yield from unlike(Finding("cards gone", str(shoe.gone), str(gone)))


def written(cards: Iterable[Card]) -> str:
    """Return cards as stored: "9H 4D KS 2C"."""
    return " ".join(card.code for card in cards)
