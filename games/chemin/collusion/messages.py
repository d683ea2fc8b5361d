"""Reasons why a pair of players is flagged, as sentences for staff. English only, like the back office."""

from collections.abc import Iterator

from django.utils.translation import get_language, gettext, gettext_lazy

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
            "%(giver)s acted against the drawing rule with %(pair)s %(times)s, %(plain)s of them "
            "clearly against their own interest. Expected loss: %(cost)s."
        ) % {
            "giver": who(giver),
            "pair": who(_other(pair, giver)),
            "times": _times(what.times),
            "plain": what.plain,
            "cost": _amount(what.cost, currency),
        }
        yield message, Sign.GIVEN in pair.signs
    for player, chosen in pair.choices.items():
        yield from _of_choices(pair, player, chosen, currency)
    if pair.tie and pair.tie.address:
        browsers = gettext(" and with the same user agent") if pair.tie.device else ""
        yield (
            (
                gettext("They sat at the same table and logged in from the same IP address%(browsers)s.")
                % {"browsers": browsers}
            ),
            True,
        )
    if Sign.SAME in pair.signs:
        yield gettext("Possible duplicate accounts. See Duplicates."), True
    if pair.reports:
        yield (gettext("Players reported their play %(reports)s.") % {"reports": _times(pair.reports)}), True


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
            "Asked to stake against %(other)s, %(player)s staked nothing %(done)s of %(asked)s; "
            "against others %(done_elsewhere)s of %(asked_elsewhere)s. A player without preference "
            "does so %(chance)s."
        ) % {
            "other": other,
            "player": who(player),
            "done": spared.done,
            "asked": _times(spared.asked),
            "done_elsewhere": spared.done_elsewhere,
            "asked_elsewhere": spared.asked_elsewhere,
            "chance": once_in(spared.chance),
        }
        least = min(each.let_go.chance for each in pair.choices.values())
        yield message, Sign.LET_GO in pair.signs and spared.chance == least
    if called.done:
        otherwise = ""
        if called.done < called.asked:
            otherwise = gettext(", and %(bank_not_called)s where it did not") % {
                "bank_not_called": format_money(called.bank_not_called, currency, get_language() or "en")
            }
        message = gettext(
            "%(player)s covered the bank of %(other)s when first asked %(done)s of %(asked)s; banks "
            "of others %(done_elsewhere)s of %(asked_elsewhere)s. %(other)s had put up "
            "%(bank_called)s on average where that happened%(otherwise)s. A player without "
            "preference does so %(chance)s."
        ) % {
            "player": who(player),
            "other": other,
            "done": called.done,
            "asked": _times(called.asked),
            "done_elsewhere": called.done_elsewhere,
            "asked_elsewhere": called.asked_elsewhere,
            "bank_called": format_money(called.bank_called, currency, get_language() or "en"),
            "otherwise": otherwise,
            "chance": once_in(called.chance),
        }
        least = min(each.called.chance for each in pair.choices.values())
        yield message, Sign.CALLED in pair.signs and called.chance == least


def _other(pair: AnalysedPair, player: int) -> int:
    first, second = pair.pair
    return second if player == first else first


def _times(count: int) -> str:
    return gettext("once") if count == 1 else (gettext("%(count)s times") % {"count": count})


def _amount(minor: float, currency: str) -> str:
    return format_money(round(minor), currency, get_language() or "en")
