"""Computes the figures of a help page in another way: from published returns, counts and rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from babel.numbers import format_decimal

from games.engine.bets import PUSH, Variant
from games.engine.cards import Card
from games.engine.chemin.odds import PolicyOdds, chemin_odds
from games.engine.chemin.rules import Advice
from games.engine.conditions import EVERY_COUP
from games.engine.coup import Coup, Side, deal
from games.engine.odds import exact
from games.engine.settle import Settlement, settle
from games.variants import GAMES, VARIANTS, help_text
from wallet.money import format_money

PLACEHOLDER = re.compile(r"\{\{ ([a-z_]+)(?::(\S+))? \}\}")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CURRENCY = {"sv": "SEK", "da": "DKK", "ro": "RON", "de": "EUR", "en": "GBP"}


def written(percentage: Decimal, language: str, digits: int = 2) -> str:
    """Format a percentage in the language."""
    rounded = percentage.quantize(Decimal(10) ** -digits, ROUND_HALF_UP)
    number = format_decimal(rounded, "0." + "0" * digits if digits else "0", language).replace("-", "−")
    return f"{number}%" if language == "en" else f"{number}\u00a0%"


def exactly(share: Fraction) -> Decimal:
    """Return a share in percent with more digits than any page shows."""
    return Decimal(share.numerator * 100) / share.denominator


def amount(minor: int, language: str) -> str:
    """Format minor units of the language's currency."""
    return format_money(minor, CURRENCY[language], language)


def cards(codes: str) -> list[Card]:
    return [Card.parse(code) for code in codes.split()]


def examples_of(slug: str, language: str) -> list[dict[str, str]]:
    """Return the lines of every worked example as written by its author."""
    blocks = [body for _kind, body in FENCE.findall(help_text(slug, language))]
    return [dict(line.split(": ", 1) for line in body.strip().splitlines()) for body in blocks]


def played(variant: Variant, example: Mapping[str, str]) -> tuple[Coup, Settlement]:
    """Return a worked example as the engine plays it."""
    coup = deal(cards(example["cards"]))
    pairs = (stake.split("=") for stake in example["stakes"].split())
    return coup, settle(variant, coup, {bet: int(Decimal(units) * 100) for bet, units in pairs})


def figures_of(slug: str, language: str) -> Iterator[str]:
    """Yield the expected figure of each placeholder of a help text, computed independently."""
    game = GAMES[slug]
    examples = [example_figures(slug, example, language) for example in examples_of(slug, language)]
    for name, argument in PLACEHOLDER.findall(help_text(slug, language)):
        if name == "example":
            number, _, figure = argument.partition(".")
            yield examples[int(number) - 1][figure]
        elif isinstance(game, Variant):
            yield from variant_figure(game, name, argument, language)
        else:
            yield from chemin_figure(name, argument, language)
        yield from common_figure(slug, name, argument, language)


def common_figure(slug: str, name: str, argument: str, language: str) -> Iterator[str]:
    """Yield figures that the help of any game can have."""
    decks = GAMES[slug].decks
    figures = {"decks_number": decks, "deck_cards": 52, "shoe_cards": 52 * decks, "idle_minutes": 9}
    if name in figures:
        yield str(figures[name])
    elif name == "money":
        yield amount(int(Decimal(argument) * 100), language)
    elif name == "minimum_return":
        yield written(Decimal(75), language, 0)


def variant_figure(variant: Variant, name: str, argument: str, language: str) -> Iterator[str]:
    """Yield figures of a punto banco game."""
    code, _, condition = argument.partition(".")
    if name == "bet":
        yield variant.label(language, f"bet.{code}")
    elif name in ("return", "edge", "chance", "cost"):
        odds = exact(variant)[code]
        rtp = exactly(odds.rtp)
        if name == "cost":
            yield amount(int(((100 - rtp) * 100).quantize(Decimal(1), ROUND_HALF_UP)), language)
        else:
            yield written({"return": rtp, "edge": 100 - rtp, "chance": exactly(odds.win)}[name], language)
    elif name == "pays":
        yield paid_on(variant, code, condition) if condition else ladder(variant, code)
    elif name.startswith("headline"):
        share = Decimal(variant.headline.percent)
        digits = len(variant.headline.percent.partition(".")[2])
        yield written(share if name == "headline" else 100 - share, language, digits)


def ladder(variant: Variant, code: str) -> str:
    """Return the payouts of a bet over all coups, highest first.

    Of many prizes only the highest and the lowest.
    """
    paid = {variant.bet(code).pays(coup) for coup in EVERY_COUP} - {None, PUSH}
    best_first = [f"{pays.win}:{pays.per}" for pays in sorted(filter(None, paid), key=lambda pays: -pays.fraction)]
    return f"{best_first[0]}–{best_first[-1]}" if len(best_first) > 2 else " / ".join(best_first)


def paid_on(variant: Variant, code: str, condition: str) -> str:
    """Return the payout of a bet under one of its conditions, over all coups."""
    bet = variant.bet(code)
    decided = {
        bet.pays(coup)
        for coup in EVERY_COUP
        if next((prize.when.name for prize in bet.prizes if prize.when.holds(coup)), "") == condition
    }
    (pays,) = decided
    assert pays
    return f"{pays.win}:{pays.per}"


def chemin_figure(name: str, argument: str, language: str) -> Iterator[str]:
    """Yield figures of Chemin de Fer, from the written rules and the croupier's choices."""
    odds = policy(Advice.STAND, Advice.DRAW, Advice.DRAW)
    shares = {
        "chance:punter": odds.punter_win,
        "chance:banker": odds.banker_win,
        "chance:draw": 1 - odds.punter_win - odds.banker_win,
        "gain:punter": odds.punter_win - odds.banker_win,
        "gain:banker": odds.banker_win * Fraction(19, 20) - odds.punter_win,
    }
    figures = {"tax": written(Decimal(5), language, 0), "cut_cards": "14"}
    figures |= {"seats_fewest": "3", "seats_most": "9", "players_fewest": "2"}
    if name in figures:
        yield figures[name]
    elif (share := shares.get(f"{name}:{argument}")) is not None:
        yield written(exactly(share), language)


def policy(punter_on_5: Advice, banker_3_9: Advice, banker_5_4: Advice) -> PolicyOdds:
    """Return the odds of one combination of the free choices."""
    wanted = (punter_on_5, banker_3_9, banker_5_4)
    return next(odds for odds in chemin_odds() if (odds.punter_on_5, odds.banker_3_9, odds.banker_5_4) == wanted)


def example_figures(slug: str, example: Mapping[str, str], language: str) -> Mapping[str, str]:
    """Return the figures of a worked example, from its source."""
    if slug == "chemin_de_fer":
        return chemin_example_figures(example, language)
    coup, settlement = played(VARIANTS[slug], example)
    figures = {"staked": amount(settlement.staked, language), "paid": amount(settlement.paid, language)}
    for side in Side:
        points = [card.points for card in coup.hand(side)]
        figures |= {f"total.{side}": str(sum(points) % 10), f"two.{side}": str(sum(points[:2]) % 10)}
        figures |= {f"score.{side}": f"{sum(points[:2]) % 10}:{sum(points) % 10}", f"third.{side}": str(points[-1])}
    for line in settlement.lines:
        won = line.payout - line.stake
        for name, minor in (("staked", line.stake), ("paid", line.payout), ("won", won)):
            figures[f"{name}.{line.bet}"] = amount(minor, language)
    return figures


def chemin_example_figures(lines: Mapping[str, str], language: str) -> Mapping[str, str]:
    """Return the figures of a coup from the written rules: even money, 5 % tax, rounded down."""
    bank = int(Decimal(lines["bank"]) * 100)
    stakes = [int(Decimal(stake) * 100) for stake in lines["stakes"].split()]
    points = {side: [card.points for card in cards(lines[side])] for side in ("punter", "banker")}
    totals = {side: sum(hand) % 10 for side, hand in points.items()}
    risk, lead = sum(stakes), totals["punter"] - totals["banker"]
    tax = risk * 5 // 100 if lead < 0 else 0
    after = bank + (risk - tax if lead < 0 else -risk if lead > 0 else 0)
    returns = 2 if lead > 0 else 1 if lead == 0 else 0
    amounts = {"before": bank, "bank": after, "tax": tax, "risk": risk, "uncovered": bank - risk}
    for number, stake in enumerate(stakes, start=1):
        amounts |= {f"staked.{number}": stake, f"paid.{number}": stake * returns}
    figures = {name: amount(minor, language) for name, minor in amounts.items()}
    figures |= {f"total.{side}": str(total) for side, total in totals.items()}
    return figures | {f"two.{side}": str(sum(hand[:2]) % 10) for side, hand in points.items()}
