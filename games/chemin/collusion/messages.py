"""Reasons why a pair of players is flagged, as sentences for staff. English only, like the back office."""

from collections.abc import Iterator

from games.chemin.collusion.choices import Choices
from games.chemin.collusion.money import Money
from games.chemin.collusion.signals import AnalysedPair, Sign, TestCounts
from wallet.money import format_money

NAMES = {
    Sign.MONEY: "Money",
    Sign.GIVEN: "Chip dumping",
    Sign.LET_GO: "Soft play",
    Sign.CALLED: "Instant calls",
    Sign.ADDRESS: "Shared address",
    Sign.SAME: "Duplicate?",
    Sign.REPORTED: "Reported",
}


def who(player_id: int) -> str:
    """Return the name of a player for staff."""
    return f"player:{player_id}"


def names(pair: AnalysedPair) -> list[str]:
    """Return the short names of a pair's signs."""
    return [NAMES[sign] for sign in pair.signs]


def reasons(pair: AnalysedPair, test_counts: TestCounts, currency: str) -> list[tuple[str, bool]]:
    """Return the sentences about a pair, each with whether it is a sign."""
    return list(_reasons(pair, test_counts, currency))


def once_in(chance: float) -> str:
    """Return a probability in words: "once in 4,200 comparable pairs"."""
    if chance > 0.5:
        return "in most comparable pairs"
    if chance < 1e-12:
        return "less than once in a million million comparable pairs"
    times = 1 / chance
    digits = max(0, len(str(int(times))) - 2)
    return f"once in {round(times, -digits) if digits else round(times):,.0f} comparable pairs"


def _reasons(pair: AnalysedPair, test_counts: TestCounts, currency: str) -> Iterator[tuple[str, bool]]:
    if pair.money:
        yield _of_money(pair, pair.money, test_counts, currency), Sign.MONEY in pair.signs
    for giver, what in pair.given.items():
        message = (
            f"{who(giver)} acted against the drawing rule with {who(_other(pair, giver))} {_times(what.times)},"
            f" {what.plain} of them clearly against their own interest. Expected loss:"
            f" {_amount(what.cost, currency)}."
        )
        yield message, Sign.GIVEN in pair.signs
    for player, chosen in pair.choices.items():
        yield from _of_choices(pair, player, chosen, currency)
    if pair.tie and pair.tie.address:
        browsers = " and with the same user agent" if pair.tie.device else ""
        yield f"They sat at the same table and logged in from the same IP address{browsers}.", True
    if Sign.SAME in pair.signs:
        yield "Possible duplicate accounts. See Duplicates.", True
    if pair.reports:
        yield f"Players reported their play {_times(pair.reports)}.", True


def _of_money(pair: AnalysedPair, money: Money, test_counts: TestCounts, currency: str) -> str:
    first, second = pair.pair
    loser, winner = (first, second) if money.net <= 0 else (second, first)
    lost = money.lost_by_first if loser == first else money.lost_by_second
    expected = money.expected if loser == second else -money.expected
    decided = money.lost_by_first + money.lost_by_second
    return (
        f"{who(loser)} lost {lost} of {decided} decided coups to {who(winner)},"
        f" {format_money(abs(money.net), currency, 'en')} on balance."
        f" Expected by chance: {_amount(expected, currency)} ±"
        f" {_amount(money.spread, currency)}: {abs(money.deviation):.1f} standard deviations. Probability by chance:"
        f" {once_in(money.chance)}; {test_counts.money:,} pairs were tested."
    )


def _of_choices(pair: AnalysedPair, player: int, chosen: Choices, currency: str) -> Iterator[tuple[str, bool]]:
    other = who(_other(pair, player))
    spared, called = chosen.let_go, chosen.called
    if spared.asked:
        message = (
            f"Asked to stake against {other}, {who(player)} staked nothing {spared.done} of {_times(spared.asked)};"
            f" against others {spared.done_elsewhere} of {spared.asked_elsewhere}."
            f" A player without preference does so {once_in(spared.chance)}."
        )
        least = min(each.let_go.chance for each in pair.choices.values())
        yield message, Sign.LET_GO in pair.signs and spared.chance == least
    if called.done:
        otherwise = ""
        if called.done < called.asked:
            otherwise = f", and {format_money(called.bank_not_called, currency, 'en')} where it did not"
        message = (
            f"{who(player)} covered the bank of {other} when first asked {called.done} of {_times(called.asked)};"
            f" banks of others {called.done_elsewhere} of {called.asked_elsewhere}. {other} had put up"
            f" {format_money(called.bank_called, currency, 'en')} on average where that happened{otherwise}."
            f" A player without preference does so {once_in(called.chance)}."
        )
        least = min(each.called.chance for each in pair.choices.values())
        yield message, Sign.CALLED in pair.signs and called.chance == least


def _other(pair: AnalysedPair, player: int) -> int:
    first, second = pair.pair
    return second if player == first else first


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _amount(minor: float, currency: str) -> str:
    return format_money(round(minor), currency, "en")
