"""What every bet of a live table may be, pays and returns, computed from what settles it."""

from dataclasses import dataclass

from games.betting.limits import Limits
from games.engine.bets import BetRule, Variant
from games.help.figures import percent
from games.help.placeholders import odds_of
from games.labels import bet_name, variant_label


@dataclass(frozen=True)
class PrizeLine:
    """What a bet pays in one case; nothing where the stake is returned."""

    when: str
    pays: str


@dataclass(frozen=True)
class BetLine:
    """A bet with its range in minor units of the player's currency, and its return."""

    code: str
    name: str
    minimum: int
    maximum: int
    pays: str  # all of it, in short
    prizes: tuple[PrizeLine, ...]  # none where there is but one case to win in, and no other to tell
    rtp: str


def payouts(variant: Variant, limits: Limits, language: str) -> tuple[BetLine, ...]:
    """Return every bet of the game, in its order."""
    return tuple(_line(variant, bet, limits, language) for bet in variant.bets)


def _line(variant: Variant, bet: BetRule, limits: Limits, language: str) -> BetLine:
    allowed = limits.bets[bet.code]
    return BetLine(
        code=bet.code,
        name=bet_name(variant, bet.code, language),
        minimum=allowed.minimum,
        maximum=allowed.maximum,
        pays=bet.pays_text,
        prizes=_prizes(variant, bet, language) if len(bet.prizes) > 1 else (),
        rtp=percent(odds_of(variant.slug)[bet.code].rtp, language),
    )


def _prizes(variant: Variant, bet: BetRule, language: str) -> tuple[PrizeLine, ...]:
    return tuple(
        PrizeLine(
            when=variant_label(variant, f"when.{prize.when.name}", language),
            pays=str(prize.pays) if prize.pays.win else "",
        )
        for prize in bet.prizes
    )
