"""Helpers for a shoe that has been played for a while: inserts settled rounds without playing them."""

from collections.abc import Sequence
from uuid import uuid4

from games.engine.dealing import coup_at, opening
from games.engine.shoe import shuffle
from games.models import LiveRound, LiveTable, Phase, Shoe
from games.rounds.codes import round_code
from games.shared import phases, shoes
from games.tables import clock
from tests.builders import a_shared_table
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
    """Insert settled rounds with these cards, whatever the shoe would deal.

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
    cards, past = shoes.cards_of(shoe), []
    for number in range(1, rounds + 1):
        coup = coup_at(cards, shoe.gone)
        latest = LiveRound(live_table=live_table, version=live_table.table.version, shoe=shoe)
        past.append(_settled(latest, number, shoes.written(coup.cards), first_card=shoe.gone))
        shoe.gone += len(coup.cards)
    create_as_owner(*past)
    update_as_owner(Shoe.objects.filter(pk=shoe.pk), gone=shoe.gone)
    assert phases.advance(live_table.pk)
    return live_table


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
