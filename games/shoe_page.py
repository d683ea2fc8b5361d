"""The page of a shoe: the promise made before its first bet, and the rounds dealt from it, for anybody to check.

While it is in play only results are told: neither the cards nor how many have left it (GLI-19 v3.0, 4.18.2), and of a
round in progress nothing. Once it has ended everything is told, the seed included.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from games.board import card_view, hand_view
from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Coup, Side, TooFewCards, deal
from games.labels import announcement
from games.models import OPEN_PHASES, LiveRound, Phase, Shoe, ShoeEnding
from games.presentation import CardView, HandView
from games.variants import VARIANTS
from wallet.models import Mode


@dataclass(frozen=True)
class ShoeRound:
    """A round of the shoe. Hands and stored cards are told only of a shoe that has ended."""

    number: int
    code: str
    at: datetime
    in_progress: bool
    is_void: bool
    sentence: str  # who won; empty where there are no cards, or none that make a coup
    cards: str  # as stored, in dealing order
    first_card: int | None  # how many cards had left the shoe before it
    player: HandView | None
    banker: HandView | None


@dataclass(frozen=True)
class ShoeView:
    """A shoe as anybody may see it."""

    id: UUID
    number: int
    table_name: str
    mode: Mode
    decks: int
    commitment: str
    seed: str  # hex; empty while the shoe is in play
    burn_card: CardView
    burned: int
    opened_at: datetime
    ended_at: datetime | None
    is_retired: bool
    rounds: tuple[ShoeRound, ...]  # in the order they were played


def shoe_view(shoe_id: UUID, language: str) -> ShoeView | None:
    """Return what the page shows, None where there is no such shoe."""
    shoe = Shoe.objects.filter(pk=shoe_id).select_related("live_table__table").first()
    if shoe is None:
        return None
    table, has_ended = shoe.live_table.table, shoe.ended_at is not None
    rounds = LiveRound.objects.filter(shoe=shoe).order_by("number")
    variant = VARIANTS[table.variant]
    return ShoeView(
        id=shoe.pk,
        number=shoe.number,
        table_name=table.name,
        mode=Mode(shoe.live_table.mode),
        decks=shoe.decks,
        commitment=shoe.commitment,
        seed=bytes(shoe.seed or b"").hex(),
        burn_card=card_view(Card.parse(shoe.burn_card), order=0, third=False),
        burned=shoe.burned,
        opened_at=shoe.opened_at,
        ended_at=shoe.ended_at,
        is_retired=shoe.ending == ShoeEnding.RETIRED,
        rounds=tuple(_round(each, variant, language, tells_cards=has_ended) for each in rounds),
    )


def _round(played: LiveRound, variant: Variant, language: str, *, tells_cards: bool) -> ShoeRound:
    in_progress = played.phase in OPEN_PHASES
    coup = None if in_progress else _coup(played.cards)
    shown = coup if tells_cards else None
    return ShoeRound(
        number=played.number,
        code=played.code,
        at=played.opened_at,
        in_progress=in_progress,
        is_void=played.phase == Phase.VOID,
        sentence=announcement(coup) if coup and played.phase == Phase.SETTLED else "",
        cards=played.cards if tells_cards and not in_progress else "",
        first_card=played.first_card if tells_cards and not in_progress else None,
        player=hand_view(shown, Side.PLAYER, variant, language) if shown else None,
        banker=hand_view(shown, Side.BANKER, variant, language) if shown else None,
    )


def _coup(cards: str) -> Coup | None:
    """Return what the stored cards make; None where there are none, or where they make nothing."""
    try:
        return deal([Card.parse(code) for code in cards.split()])
    except (CardError, TooFewCards):
        return None
