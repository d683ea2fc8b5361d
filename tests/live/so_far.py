"""Helpers for a shoe that has been played for a while: inserts settled rounds without playing them."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from games import deals
from games.dealer.shoes import Ticket
from games.engine.commitments import digest_of_stakes
from games.engine.dealing import coup_at, opening
from games.engine.shoe import shuffle
from games.models import DealtCards, LiveRound, LiveTable, Phase, Shoe
from games.models.rounds import round_code
from games.shared import phases, shoes
from games.tables import clock
from tests.builders import a_shared_table
from tests.harness.dealer import the_dealer
from tests.harness.owner import create_as_owner, update_as_owner
from tests.live.at_table import live_table_of, round_at


def coups(number: int, seed: bytes = bytes(32)) -> list[str]:
    """Return the cards of the first rounds of a shoe."""
    shoe = shuffle(seed, 8)
    first, dealt = opening(shoe).burned, []
    for _ in range(number):
        coup = coup_at(shoe, first)
        first += len(coup.cards)
        dealt.append(shoes.written(coup.cards))
    return dealt


def settle_before(live_table: LiveTable, cards: Sequence[str]) -> list[LiveRound]:
    """Insert settled rounds with these cards, not those of the shoe.

    The table can be displayed, but stops at the next deal.
    """
    latest = round_at(live_table)
    made = [_settled(latest, latest.number + number, drawn) for number, drawn in enumerate(cards, 1)]
    create_as_owner(*made)
    return made


def a_played_table(rounds: int, variant: str = "no_commission") -> LiveTable:
    """Return a table with this many rounds dealt from its shoe, and one that takes bets."""
    live_table = live_table_of(a_shared_table(variant))
    shoe = shoes.open_shoe(live_table)
    cards = the_dealer().shoes.of(deals.shoe_binding(shoe)).cards
    past: list[LiveRound] = []
    dealt: list[DealtCards] = []
    for number in range(1, rounds + 1):
        coup = coup_at(cards, shoe.gone)
        latest = LiveRound(live_table=live_table, version=live_table.table.version, shoe=shoe)
        past.append(_settled(latest, number, shoes.written(coup.cards), first_card=shoe.gone))
        dealt.append(_dealt(shoe, past[-1].pk, shoe.gone, len(coup.cards)))
        shoe.gone += len(coup.cards)
    create_as_owner(*past)
    create_as_owner(*dealt)
    update_as_owner(Shoe.objects.filter(pk=shoe.pk), gone=shoe.gone)
    assert phases.advance(live_table.pk)
    return live_table


def skip_cards(shoe: Shoe, until: int) -> None:
    """Have cards leave a shoe, up to this one, for rounds that nobody played."""
    for first in range(shoe.gone, until, 4):
        create_as_owner(_dealt(shoe, uuid4(), first, min(4, until - first)))
    update_as_owner(Shoe.objects.filter(pk=shoe.pk), gone=until)


def _dealt(shoe: Shoe, round_id: UUID, first: int, count: int) -> DealtCards:
    """Have the dealer note that cards have left its shoe, and return the row for them, without a signature."""
    of_dealer, stakes = the_dealer().shoes.of(deals.shoe_binding(shoe)), digest_of_stakes({})
    of_dealer.note(Ticket(str(round_id), first, 0, stakes), count)
    return DealtCards(
        shoe=shoe,
        first_card=first,
        round_id=round_id,
        cards=shoes.written(of_dealer.cards[first : first + count]),
        salts=b"".join(of_dealer.salts[first : first + count]),
        stakes=stakes,
        dealer_key=the_dealer().key,
        signature=b"none",
    )


def _settled(like: LiveRound, number: int, cards: str, first_card: int = 1) -> LiveRound:
    round_id, moment = uuid4(), clock.now()
    return LiveRound(
        id=round_id,
        live_table=like.live_table,
        version=like.version,
        shoe=like.shoe,
        number=number,
        is_last=False,
        code=round_code(round_id),
        phase=Phase.SETTLED,
        deadline=moment,
        opened_at=moment,
        closed_at=moment,
        dealt_at=moment,
        ended_at=moment,
        first_card=first_card,
        cards=cards,
    )
