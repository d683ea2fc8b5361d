"""The shoe of a shared table: committed to by the dealer, dealt in order, and published when it has ended.

The dealer (`games.dealer.shoes`) has the seed until then. This process learns cards when they leave
the shoe, and checks each against the leaves that were stored before the first bet. When the shoe has
ended, the seed is published, and the whole shoe is dealt again from it.

The round of a public beacon that goes into a shoe is chosen before it exists, awaited after the cut, and told.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from audit import log
from audit.models import Event
from games import beacon, deals
from games.engine import card_tree
from games.engine.cards import Card, CardError
from games.engine.commitments import Binding, entropy_of
from games.engine.coup import TooFewCards
from games.engine.dealing import coup_at, is_whole, opening
from games.engine.shoe import SeedError, shuffle
from games.errors import DealerAway, ShoeRefused
from games.models import (
    OPEN_PHASES,
    DealtCards,
    LiveRound,
    LiveTable,
    Shoe,
    ShoeBeacon,
    ShoeChance,
    ShoeCut,
    ShoeEnding,
    Void,
)
from games.rounds.integrity import Doubt, NotDealt, NotReproduced, WrongCard
from games.rounds.redeal import Finding
from games.shared import moves
from games.tables import clock
from games.variants import GAMES

SYSTEM = "system"
PUT_UP_AGAIN = "house.restored"  # kind of the event in the audit log


FORGOTTEN: Final = timedelta(minutes=1)
"""A cut that ended this long ago without a shoe, because the house did not run, is repeated."""

RedealtShoe = Callable[[Shoe], tuple[Finding, ...]]
"""Re-deals everything that was dealt from a shoe and returns the differences."""


class ShoeInUse(Exception):
    """A round in progress uses this shoe, so its seed would reveal the cards to come."""


def bring(live_table: LiveTable, *, has_players: bool) -> Shoe | None:
    """Put the next shoe on the table, and return it; return None while players cut it.

    *has_players*: there is somebody to cut it. Raises DealerAway, NotDealt.
    """
    cut = ShoeCut.objects.filter(live_table=live_table).first()
    if (cut is None and has_players) or (cut is not None and cut.open_until < clock.now() - FORGOTTEN):
        begin_cut(live_table)
        return None
    if cut is not None and (cut.open_until > clock.now() or is_beacon_awaited(cut.shoe_id)):
        return None
    return open_shoe(live_table, cut)


def begin_cut(live_table: LiveTable) -> ShoeCut:
    """Have the dealer commit to the next shoe of a table, log that, and let players add chance to its shuffle.

    Raises DealerAway, NotDealt.
    """
    binding = next_binding(live_table)
    with refusals():
        commitment = deals.commit_to_shoe(binding)
    cut, chosen = _cut_with_beacon(live_table, UUID(binding.id), commitment)
    data: dict[str, log.Json] = {
        "beacon": chosen,
        "commitment": commitment,
        "decks": binding.decks,
        "mode": live_table.mode,
        "purpose": binding.purpose.value,
        "rules": binding.rules,
        "table": binding.table,
    }
    log.record("shoe.committed", by=SYSTEM, on=f"shoe:{binding.id}", data=data)
    return cut


def open_shoe(live_table: LiveTable, cut: ShoeCut | None = None) -> Shoe:
    """Have the dealer shuffle a new shoe, and put it on the table: the one that was *cut*, with the chance that players
    have added, or one that nobody has cut.

    Raises DealerAway, NotDealt.
    """
    binding = next_binding(live_table, cut.shoe_id if cut else None)
    chances = moves.chances(cut.shoe_id) if cut else []
    with refusals():
        made = deals.new_shoe(binding, entropy_of(chances))
    shoe = moves.open_shoe(live_table, made)
    log.record(
        "shoe.opened",
        by=SYSTEM,
        on=f"shoe:{shoe.pk}",
        data={
            "beacon": beacon_data(shoe.pk),
            "burn_card": shoe.burn_card,
            "burned": shoe.burned,
            "chances": list(chances),
            "commitment": shoe.commitment,
            "cut": shoe.cut,
            "dealer": shoe.dealer_key,
            "decks": shoe.decks,
            "entropy": shoe.entropy,
            "mode": live_table.mode,
            "number": shoe.number,
            "purpose": binding.purpose.value,
            "root": shoe.root,
            "rules": shoe.rules_digest,
            "signature": bytes(shoe.signature).hex(),
            "table": live_table.table_id,
            "unopened": _unopened(shoe.pk),
        },
    )
    return shoe


def _unopened(shoe_id: UUID) -> list[log.Json]:
    """Return the digests to which players were bound without opening their values: many of one person would show."""
    return list(
        ShoeChance.objects.filter(shoe_id=shoe_id, value="").order_by("digest").values_list("digest", flat=True)
    )


def next_binding(live_table: LiveTable, shoe_id: UUID | None = None) -> Binding:
    """Return what the commitment to the next shoe of a table names; *shoe_id*: of a shoe that is being cut."""
    game, table = GAMES[live_table.table.variant], live_table.table
    return Binding(deals.purpose_of_shoes(table), str(shoe_id or uuid4()), table.pk, game.decks, game.digest)


def cards_of(shoe: Shoe) -> tuple[Card, ...]:
    """Return the cards of a shoe in dealing order: all of them once its seed is published, otherwise
    those that have left it. Burned cards that nobody has seen are replaced by the burn card.

    At Chemin de Fer some of them are face down. Raises NotReproduced where seed, leaves and
    commitments do not belong together, WrongCard where cards are missing or are not those of the
    leaves.
    """
    leaves = leaves_of(shoe)
    if found := unlike(Finding("root", shoe.root, card_tree.root(leaves).hex())):
        raise NotReproduced(gettext_noop("The cards that the shoe commits to do not match its root."), *found)
    return _dealt(shoe, leaves) if shoe.seed is None else _shuffled(shoe, bytes(shoe.seed))


def _shuffled(shoe: Shoe, seed: bytes) -> tuple[Card, ...]:
    """Return all cards of a shoe whose seed is public. Raises NotReproduced, WrongCard."""
    try:
        shown = deals.shoe_binding(shoe).commitment(seed)
        cards = shuffle(seed, shoe.decks, shoe.entropy)
    except SeedError as error:
        raise NotReproduced(
            gettext_noop("The seed of the shoe is damaged."), Finding("seed", seed.hex(), str(error))
        ) from error
    if shown != shoe.commitment:
        raise NotReproduced(
            gettext_noop("The seed of the shoe does not match its commitment."),
            Finding("commitment", shoe.commitment, shown),
        )
    salted = card_tree.salts(seed, len(cards), shoe.entropy)
    if not is_whole(cards, shoe.decks) or (root := card_tree.root(card_tree.leaves(cards, salted)).hex()) != shoe.root:
        raise NotReproduced(
            gettext_noop("The seed does not give the cards of the shoe."), Finding("root", shoe.root, root)
        )
    if shoe.burned:
        begins = opening(cards)
        found = unlike(
            Finding("burn card", shoe.burn_card, begins.burn_card.code),
            Finding("burned", str(shoe.burned), str(begins.burned)),
            Finding("cut", str(shoe.cut), str(begins.cut)),
        )
        if found:
            raise WrongCard(gettext_noop("The start of the shoe differs from its opening record."), *found)
    return cards


def _dealt(shoe: Shoe, leaves: Sequence[bytes]) -> tuple[Card, ...]:
    """Return the cards that have left a shoe, each checked against its leaf. Raises WrongCard."""
    cards = list(_parsed(shoe.burn_card)) * shoe.burned
    for dealt in DealtCards.of(shoe):
        if dealt.first_card != len(cards):
            found = Finding("first card", str(dealt.first_card), str(len(cards)))
            raise WrongCard(gettext_noop("The shoe was not dealt in order."), found)
        for number, card in enumerate(_parsed(dealt.cards)):
            salt = bytes(dealt.salts)[card_tree.SALT_BYTES * number :][: card_tree.SALT_BYTES]
            if len(cards) >= len(leaves) or card_tree.leaf(len(cards), card, salt) != leaves[len(cards)]:
                found = Finding("dealt cards", dealt.cards, "others, by the leaves of the shoe")
                raise WrongCard(gettext_noop("The shoe does not have these cards."), found)
            cards.append(card)
    if len(cards) != shoe.gone:
        raise WrongCard(gettext_noop("Cards are missing."), Finding("cards gone", str(shoe.gone), str(len(cards))))
    return tuple(cards)


def _parsed(cards: str) -> tuple[Card, ...]:
    """Parse stored cards. Raises WrongCard."""
    try:
        return tuple(map(Card.parse, cards.split()))
    except CardError as error:
        found = Finding("dealt cards", cards, "cards")
        raise WrongCard(gettext_noop("The stored cards of the shoe cannot be read."), found) from error


def leaves_of(shoe: Shoe) -> tuple[bytes, ...]:
    """Return what a shoe is committed to, card by card. Raises NotReproduced."""
    stored, size = bytes(shoe.leaves.leaves), card_tree.HASH_BYTES
    if len(stored) != 52 * shoe.decks * size:
        found = Finding("leaves", str(len(stored) // size), str(52 * shoe.decks))
        raise NotReproduced(gettext_noop("The cards that the shoe commits to are damaged."), found)
    return card_tree.stored(stored)


def deal(live_round: LiveRound) -> None:
    """Have the dealer deal a round whose bets are closed, and store its cards.

    Raises DealerAway, NotDealt, what `cards_of` raises before a card leaves the shoe, and what
    `moves.deal_round` raises.
    """
    cards_of(live_round.shoe)
    asked = moves.ask_for_cards(live_round.pk)
    with refusals():
        dealt = deals.deal_cards(live_round.shoe, live_round.pk, asked)
    moves.deal_round(live_round, dealt)


@contextmanager
def refusals() -> Iterator[None]:
    """Raise NotDealt where the dealer refuses."""
    try:
        yield
    except ShoeRefused as error:
        raise NotDealt(
            gettext_noop("The dealer does not deal from the shoe."), Finding("dealer", "asked", str(error))
        ) from error


def locked(shoe_id: UUID) -> Shoe:
    """Return the shoe, locked until the transaction ends. Lock accounts before it."""
    return Shoe.objects.select_for_update().get(pk=shoe_id)


def dealt_otherwise(shoe: Shoe) -> tuple[Finding, ...]:
    """Return what differs between the stored rounds of a shoe and its cards, in dealing order.

    Raises what `cards_of` raises.
    """
    return tuple(_misdealt(shoe, cards_of(shoe)))


def end(shoe: Shoe, ending: ShoeEnding, redeal: RedealtShoe = dealt_otherwise) -> tuple[Finding, ...]:
    """End a shoe, and return what *redeal* finds to differ. Its seed is published after that (`unpublished`).

    A shoe that has already ended is unchanged. Raises ShoeInUse, and what *redeal* raises unless the
    shoe is retired.
    """
    shoe.refresh_from_db(from_queryset=Shoe.objects.select_for_update())
    if shoe.ended_at:
        return ()
    if LiveRound.objects.filter(shoe=shoe, phase__in=OPEN_PHASES).exists():
        raise ShoeInUse(str(shoe.pk))
    found: tuple[Finding, ...] = ()
    try:
        found = redeal(shoe)
    except Doubt:
        if ending is not ShoeEnding.RETIRED:
            raise
    moves.end_shoe(shoe, ending)
    log.record(
        "shoe.ended",
        by=SYSTEM,
        on=f"shoe:{shoe.pk}",
        data={"commitment": shoe.commitment, "ending": str(ending), "gone": shoe.gone},
    )
    return found


def unpublished() -> list[UUID]:
    """Return the shoes that have ended lately and whose seed is not public, the oldest first."""
    found = Shoe.objects.filter(ended_at__gt=clock.now() - Shoe.SEED_ASKED_FOR, seed=None)
    return list(found.order_by("ended_at").values_list("pk", flat=True))


@transaction.atomic
def publish(shoe_id: UUID, redeal: RedealtShoe = dealt_otherwise) -> tuple[Finding, ...]:
    """Have the dealer give the seed of an ended shoe away, publish it, and return what *redeal* finds to differ.

    Raises DealerAway, and NotDealt where the dealer does not have the seed that was committed to.
    """
    shoe = Shoe.objects.select_for_update().get(pk=shoe_id)
    if shoe.seed is not None or shoe.ended_at is None:
        return ()
    with refusals():
        seed = deals.end_shoe(shoe, moves.ask_for_seed(shoe.pk))
    try:
        moves.publish_seed(shoe, seed)
    except moves.DoesNotFit as error:
        found = Finding("commitment", shoe.commitment, deals.shoe_binding(shoe).commitment(seed))
        raise NotDealt(
            gettext_noop("The dealer returned a different seed from the one it committed to."), found
        ) from error
    log.record("shoe.published", by=SYSTEM, on=f"shoe:{shoe.pk}", data={"seed": seed.hex()})
    try:
        return redeal(shoe)
    except Doubt as doubt:
        return doubt.found


def retire(shoe: Shoe) -> None:
    """End a shoe after one of its dealt rounds was voided.

    If another round of the shoe is in progress, the shoe ends when the next round opens
    (`is_spoiled`).
    """
    with suppress(ShoeInUse):
        end(shoe, ShoeEnding.RETIRED)


def is_sound(shoe: Shoe) -> bool:
    """Return whether another round can be dealt from a shoe, as far as is known while the dealer is away."""
    try:
        with refusals():
            return len(cards_of(shoe)) == deals.cards_gone(shoe)
    except DealerAway:
        return True
    except Doubt:
        return False


def is_spoiled(shoe: Shoe) -> bool:
    """Return whether a dealt round of this shoe was voided. Nothing more is dealt from such a shoe."""
    dealt = LiveRound.objects.filter(shoe=shoe).exclude(cards="")
    return Void.objects.filter(pk__in=dealt.values("pk")).exists()


def is_known(shoe: Shoe) -> bool:
    """Return whether the coming cards of a shoe may have been seen.

    That is so if the database was restored from a backup while the shoe was open, because the house
    may have played on after the backup.
    """
    return shoe.ended_at is None and is_from_a_copy(shoe)


def is_from_a_copy(shoe: Shoe) -> bool:
    """Return whether the database was restored from a backup after the shoe was opened: the dealer may have lost it."""
    return Event.objects.filter(kind=PUT_UP_AGAIN, at__gt=shoe.opened_at).exists()


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


MARGIN = timedelta(seconds=1)  # between the end of a cut and the round of the beacon


def _cut_with_beacon(live_table: LiveTable, shoe_id: UUID, commitment: str) -> tuple[ShoeCut, log.Json]:
    """Let players cut a shoe; return the cut, and what the log says of the beacon's round that is awaited after it.

    Raises what `moves.begin_cut` raises.
    """
    used, lasts = beacon.configured(), settings.CUT_SECONDS
    number = used.round_after(clock.now() + timedelta(seconds=lasts) + MARGIN) if used else None
    chain, waits = used.chain if used else None, settings.BEACON_SECONDS
    cut = moves.begin_cut(live_table, shoe_id, commitment, lasts, chain=chain, beacon_round=number, waits=waits)
    return cut, {"chain": chain, "round": number} if used else None


def is_beacon_awaited(shoe_id: UUID) -> bool:
    """Return whether the round of a beacon may still come for a shoe."""
    return _awaited(shoe_id) is not None


def beacon_data(shoe_id: UUID) -> log.Json:
    """Return what the log says of the beacon's round for a shoe: its signature is empty if it did not come in time."""
    found = ShoeBeacon.objects.filter(shoe_id=shoe_id).first()
    return {"chain": found.chain, "round": found.round, "signature": found.signature} if found else None


def collect_beacon(live_table_id: int) -> None:
    """Ask the beacon for the round that a table awaits. Call it outside of transactions: it asks another machine."""
    used = beacon.configured()
    if used is None:
        return
    cut = ShoeCut.objects.filter(live_table=live_table_id, open_until__lte=clock.now()).first()
    awaited = cut and _awaited(cut.shoe_id)
    if not awaited or awaited.chain != used.chain or clock.now() < used.comes_at(awaited.round):
        return
    if (signature := beacon.fetch(used, awaited.round)) is not None:
        moves.take_beacon(awaited.shoe_id, signature)


def _awaited(shoe_id: UUID) -> ShoeBeacon | None:
    return ShoeBeacon.objects.filter(shoe_id=shoe_id, signature="", wait_until__gt=clock.now()).first()
