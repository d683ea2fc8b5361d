"""Return the limits, payouts and return to player of every bet of a live table."""

from dataclasses import dataclass

from games.betting.limits import Limits
from games.engine.bets import BetRule, Variant
from games.help.figures import percent
from games.help.placeholders import odds_of
from games.labels import bet_name, variant_label


@dataclass(frozen=True)
class PrizeLine:
    """What a bet pays in one case; `pays` is empty where the stake is returned."""

    when: str
    pays: str


@dataclass(frozen=True)
class BetLine:
    """A bet with its range in minor units of the player's currency, and its return to player."""

    code: str
    name: str
    minimum: int
    maximum: int
    pays: str  # short form of all prizes
    prizes: tuple[PrizeLine, ...]  # empty where there is only one prize
    rtp: str


def payouts(variant: Variant, limits: Limits, language: str) -> tuple[BetLine, ...]:
    """Return every bet of the game, in the game's order."""
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
