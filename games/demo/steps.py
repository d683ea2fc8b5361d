"""Explains a finished round step by step for beginners.

Every explanation comes from the rules that dealt and settled the round: totals, drawing rules and
payouts.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from babel.lists import format_list
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.coup import BANKER_DRAWS_AGAINST, NATURALS, Coup, Outcome, Side, banker_draws, player_draws, total
from games.engine.settle import Line, Result
from games.labels import announcement, bet_name, card_name
from games.tables.board import FIRST_FOUR
from wallet.money import format_money

SCORES, WINNER, MONEY = 7, 8, 9  # steps of a table page after the six cards
POINTS = range(10)


@dataclass(frozen=True)
class Step:
    """An explanation and the step of the table page at which it is shown (``data-due``)."""

    due: int
    text: str


def explain_steps(
    coup: Coup, lines: Sequence[Line], variant: Variant, currency: str, language: str
) -> tuple[Step, ...]:
    """Return the explanations of a round in dealing order."""

    def money(amount: int) -> str:
        return format_money(amount, currency, language)

    bets = ", ".join(f"{bet_name(variant, line.bet, language)} {money(line.stake)}" for line in lines)
    texts = (_paid(line, variant, language, money) for line in lines)
    return (
        Step(
            0, _("The order of the cards is fixed and sealed. These are the example bets: %(bets)s.") % {"bets": bets}
        ),
        *_first_four(coup),
        *_third_cards(coup),
        Step(WINNER, " ".join([announcement(coup), _nearest(coup)])),
        Step(MONEY, " ".join(texts)),
    )


def _nearest(coup: Coup) -> str:
    if coup.outcome is Outcome.TIE:
        return _("Both sides are equally close to nine.")
    return _("The side closer to nine wins.")


def _first_four(coup: Coup) -> Iterable[Step]:
    first_player, first_banker, second_player, second_banker = coup.cards[:FIRST_FOUR]
    yield Step(1, _("Player’s first card: %(card)s, worth %(points)d.") % _worth(first_player))
    yield Step(2, _("Banker’s first card: %(card)s, worth %(points)d.") % _worth(first_banker))
    values = _worth(second_player) | _added(coup.player[:2])
    if values["sum"] == values["total"]:
        text = _("Player’s second card: %(card)s, worth %(points)d. Player has %(total)d.")
    else:
        text = _(
            "Player’s second card: %(card)s, worth %(points)d. The last digit of %(sum)d counts: Player has %(total)d."
        )
    yield Step(3, text % values)
    values = _worth(second_banker) | _added(coup.banker[:2])
    if values["sum"] == values["total"]:
        text = _("Banker’s second card: %(card)s, worth %(points)d. Banker has %(total)d.")
    else:
        text = _(
            "Banker’s second card: %(card)s, worth %(points)d. The last digit of %(sum)d counts: Banker has %(total)d."
        )
    yield Step(FIRST_FOUR, text % values)


def _third_cards(coup: Coup) -> Iterable[Step]:
    if coup.natural:
        yield Step(SCORES, _natural(coup))
        return
    values: dict[str, object] = {"total": total(coup.player[:2]), "limit": max(filter(player_draws, POINTS))}
    if len(coup.player) == FIRST_FOUR // 2:
        yield Step(
            FIRST_FOUR,
            _("Player has %(total)d and stands. Player draws a third card only on %(limit)d or less.") % values,
        )
    else:
        values |= _worth(coup.player[2]) | {"now": coup.player_total}
        text = _(
            "Player has %(total)d and draws, as on any total up to %(limit)d: %(card)s, worth "
            "%(points)d. Player now has %(now)d."
        )
        yield Step(FIRST_FOUR + 1, text % values)
    yield Step(len(coup.cards), _banker(coup))


def _natural(coup: Coup) -> str:
    naturals = [side for side in Side if total(coup.hand(side)) in NATURALS]
    if len(naturals) == len(Side):
        return _("Both sides have a natural, 8 or 9 with two cards. No third card is drawn.")
    values = {"total": total(coup.hand(naturals[0]))}
    if naturals[0] is Side.PLAYER:
        return _("Player has a natural %(total)d with two cards. No third card is drawn.") % values
    return _("Banker has a natural %(total)d with two cards. No third card is drawn.") % values


def _banker(coup: Coup) -> str:
    """Explain why Banker drew or stood: by Player's rule if Player stood, otherwise by the table."""
    two = total(coup.banker[:2])
    values: dict[str, object] = {"total": two, "limit": max(each for each in POINTS if banker_draws(each, None))}
    drew = len(coup.banker) > FIRST_FOUR // 2
    if len(coup.player) == FIRST_FOUR // 2:
        if not drew:
            return _("Player stood, so Banker draws on %(limit)d or less. Banker has %(total)d and stands.") % values
        text = _("Player stood, so Banker draws on %(limit)d or less. Banker has %(total)d and draws a third card.")
    else:
        against = BANKER_DRAWS_AGAINST[two]
        values |= {"against": _ranges(against), "third": coup.player[2].points}
        if not against:
            return _("Banker has %(total)d and stands, regardless of Player’s third card.") % values
        if len(against) == len(POINTS):
            text = _("Banker has %(total)d and draws a third card, regardless of Player’s third card.")
        elif drew:
            text = _(
                "Banker has %(total)d and draws if Player’s third card is worth %(against)s. It is "
                "worth %(third)d: Banker draws."
            )
        else:
            text = _(
                "Banker has %(total)d and draws if Player’s third card is worth %(against)s. It is "
                "worth %(third)d: Banker stands."
            )
            return text % values
    now = _("The card is the %(card)s, worth %(points)d. Banker now has %(now)d.")
    return " ".join([text % values, now % (_worth(coup.banker[2]) | {"now": coup.banker_total})])


def _paid(line: Line, variant: Variant, language: str, money: Callable[[int], str]) -> str:
    values = {
        "bet": bet_name(variant, line.bet, language),
        "pays": variant.bet(line.bet).pays_text,
        "stake": money(line.stake),
        "paid": money(line.payout),
        "commission": money(line.commission),
    }
    if line.result is Result.LOSE:
        return _("%(bet)s loses. The stake of %(stake)s goes to the house.") % values
    if line.result is Result.PUSH:
        return _("%(bet)s is a push. The stake of %(stake)s is returned.") % values
    if line.commission:
        return (
            _("%(bet)s wins. %(paid)s is paid out, including the stake; %(commission)s is deducted as commission.")
            % values
        )
    return _("%(bet)s wins and pays %(pays)s. %(paid)s is paid out, including the stake.") % values


def _worth(card: Card) -> dict[str, object]:
    return {"card": card_name(card), "points": card.points}


def _added(hand: Sequence[Card]) -> dict[str, object]:
    return {"sum": sum(card.points for card in hand), "total": total(hand)}


def _ranges(points: Collection[int]) -> str:
    """Format numbers from 0 to 9 as ranges: "0–7 or 9"."""
    runs: list[list[int]] = []
    for each in sorted(points):
        if runs and runs[-1][-1] == each - 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    ranges = [f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return format_list(ranges, style="or", locale=get_language())
