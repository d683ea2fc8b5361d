"""Reasons why a pair of players is flagged, as sentences for staff."""

from collections.abc import Iterator

from django.utils.translation import get_language, gettext, gettext_lazy, ngettext

from games.chemin.collusion.measures import Choices, Money
from games.chemin.collusion.signals import AnalysedPair, Sign, TestCounts
from wallet.money import format_money

NAMES = {
    Sign.MONEY: gettext_lazy("Money"),
    Sign.GIVEN: gettext_lazy("Chip dumping"),
    Sign.LET_GO: gettext_lazy("Soft play"),
    Sign.CALLED: gettext_lazy("Instant calls"),
    Sign.ADDRESS: gettext_lazy("Shared address"),
    Sign.SAME: gettext_lazy("Duplicate?"),
    Sign.REPORTED: gettext_lazy("Reported"),
}


def who(player_id: int) -> str:
    """Return the name of a player for staff."""
    return f"player:{player_id}"


def names(pair: AnalysedPair) -> list[str]:
    """Return the short names of a pair's signs."""
    return [str(NAMES[sign]) for sign in pair.signs]


def reasons(pair: AnalysedPair, test_counts: TestCounts, currency: str) -> list[tuple[str, bool]]:
    """Return the sentences about a pair, each with whether it is a sign."""
    return list(_reasons(pair, test_counts, currency))


def once_in(chance: float) -> str:
    """Return a probability in words: "once in 4,200 comparable pairs"."""
    if chance > 0.5:
        return gettext("in most comparable pairs")
    if chance < 1e-12:
        return gettext("less than once in a million million comparable pairs")
    times = 1 / chance
    digits = max(0, len(str(int(times))) - 2)
    return gettext("once in %(value)s comparable pairs") % {
        "value": f"{(round(times, -digits) if digits else round(times)):,.0f}"
    }


def _reasons(pair: AnalysedPair, test_counts: TestCounts, currency: str) -> Iterator[tuple[str, bool]]:
    if pair.money:
        yield _of_money(pair, pair.money, test_counts, currency), Sign.MONEY in pair.signs
    for giver, what in pair.given.items():
        message = gettext(
            "%(giver)s acted against the drawing rule with %(pair)s. Cases: %(times)s, of which "
            "clearly against their own interest: %(plain)s. Expected loss: %(cost)s."
        ) % {
            "giver": who(giver),
            "pair": who(_other(pair, giver)),
            "times": what.times,
            "plain": what.plain,
            "cost": _amount(what.cost, currency),
        }
        yield message, Sign.GIVEN in pair.signs
    for player, chosen in pair.choices.items():
        yield from _of_choices(pair, player, chosen, currency)
    if pair.tie and pair.tie.address:
        message = (
            gettext("They sat at the same table and logged in from the same IP address and with the same user agent.")
            if pair.tie.device
            else gettext("They sat at the same table and logged in from the same IP address.")
        )
        yield message, True
    if Sign.SAME in pair.signs:
        yield gettext("Possible duplicate accounts. See Duplicates."), True
    if pair.reports:
        message = ngettext(
            "Players reported their play once.", "Players reported their play %(count)s times.", pair.reports
        ) % {"count": pair.reports}
        yield message, True


def _of_money(pair: AnalysedPair, money: Money, test_counts: TestCounts, currency: str) -> str:
    first, second = pair.pair
    loser, winner = (first, second) if money.net <= 0 else (second, first)
    lost = money.lost_by_first if loser == first else money.lost_by_second
    expected = money.expected if loser == second else -money.expected
    decided = money.lost_by_first + money.lost_by_second
    return gettext(
        "%(loser)s lost %(lost)s of %(decided)s decided coups to %(winner)s, %(net)s on balance. "
        "Expected by chance: %(expected)s ± %(spread)s: %(deviation)s standard deviations. "
        "Probability by chance: %(chance)s; %(money)s pairs were tested."
    ) % {
        "loser": who(loser),
        "lost": lost,
        "decided": decided,
        "winner": who(winner),
        "net": format_money(abs(money.net), currency, get_language() or "en"),
        "expected": _amount(expected, currency),
        "spread": _amount(money.spread, currency),
        "deviation": f"{abs(money.deviation):.1f}",
        "chance": once_in(money.chance),
        "money": f"{test_counts.money:,}",
    }


def _of_choices(pair: AnalysedPair, player: int, chosen: Choices, currency: str) -> Iterator[tuple[str, bool]]:
    other = who(_other(pair, player))
    spared, called = chosen.let_go, chosen.called
    if spared.asked:
        message = gettext(
            "Asked to stake against %(other)s, %(player)s staked nothing in %(done)s of %(asked)s cases; "
            "against others in %(done_elsewhere)s of %(asked_elsewhere)s."
        ) % {
            "other": other,
            "player": who(player),
            "done": spared.done,
            "asked": spared.asked,
            "done_elsewhere": spared.done_elsewhere,
            "asked_elsewhere": spared.asked_elsewhere,
        }
        least = min(each.let_go.chance for each in pair.choices.values())
        yield f"{message} {_without_preference(spared.chance)}", Sign.LET_GO in pair.signs and spared.chance == least
    if called.done:
        message = gettext(
            "%(player)s covered the bank of %(other)s when first asked in %(done)s of %(asked)s cases; "
            "banks of others in %(done_elsewhere)s of %(asked_elsewhere)s."
        ) % {
            "player": who(player),
            "other": other,
            "done": called.done,
            "asked": called.asked,
            "done_elsewhere": called.done_elsewhere,
            "asked_elsewhere": called.asked_elsewhere,
        }
        banks = (
            gettext("Average bank of %(other)s when covered: %(covered)s; when not covered: %(not_covered)s.")
            if called.done < called.asked
            else gettext("Average bank of %(other)s when covered: %(covered)s.")
        ) % {
            "other": other,
            "covered": _amount(called.bank_called, currency),
            "not_covered": _amount(called.bank_not_called, currency),
        }
        least = min(each.called.chance for each in pair.choices.values())
        yield (
            f"{message} {banks} {_without_preference(called.chance)}",
            Sign.CALLED in pair.signs and called.chance == least,
        )


def _other(pair: AnalysedPair, player: int) -> int:
    first, second = pair.pair
    return second if player == first else first


def _without_preference(chance: float) -> str:
    return gettext("Probability without preference: %(chance)s.") % {"chance": once_in(chance)}


def _amount(minor: float, currency: str) -> str:
    return format_money(round(minor), currency, get_language() or "en")
