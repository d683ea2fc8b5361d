"""Records of the clients, compared with the house: their bets, the outcome of each, their money.

An API client knows of every bet whether it was accepted, because it repeats a call until it is
answered. A client of the page that got no answer does not know, so more than one outcome is
possible.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Bets = Mapping[str, int]  # bet -> minor units
Answer = Mapping[str, Any]  # a round, as the API describes it to its player
NOTHING: Bets = {}
BANK = "bank"  # the bet of the banker


@dataclass
class Record:
    """The answers that one client received. Amounts in minor units."""

    name: str
    began_with: int
    bets: dict[str, tuple[Bets, ...]] = field(default_factory=dict)  # round -> its possible stakes
    paid: dict[str, int] = field(default_factory=dict)  # round -> its payout, if the answer had it
    banks: list[int] = field(default_factory=list)  # every bank that was taken, bought or bid for, with any result
    kept: int = 0  # how often one was kept for another coup
    largest_bank: int = 0  # at that table: what goes beyond is taken home
    calls: dict[str, int] = field(default_factory=dict)  # coup -> the bank that was answered for, with all who joined
    against: set[str] = field(default_factory=set)  # coups in which something was staked against somebody's bank
    deposited: int = 0
    withdrawn: int = 0

    def lay(self, round_id: str, bets: Bets) -> None:
        """Record the stakes on a round, as the house reported them."""
        self.bets[round_id] = (dict(bets),)


def disagreements(record: Record, rounds: Iterable[Answer], has: int) -> Iterator[str]:
    """Yield each difference between the client's record and the house: its *rounds*, and the balance it *has*."""
    shown = list(rounds)
    yield from _of_banks(record, shown)
    expected = record.began_with + record.deposited - record.withdrawn
    for round_id, times in Counter(each["id"] for each in shown).items():
        if times > 1:
            yield f"{record.name}: the house has {round_id} {times} times"
    for each in shown:
        expected += each["paid"] - each["staked"]
        yield from _of_round(record, each)
    known = {each["id"] for each in shown}
    for round_id, possible in record.bets.items():
        if round_id not in known and NOTHING not in possible:
            yield f"{record.name}: {round_id} was taken with {possible}, the house has none of it"
    for round_id in record.calls.keys() - known:
        yield f"{record.name}: a part in {round_id} was taken, the house has none of it"
    if has != expected:
        yield f"{record.name} has {has}, and by what was told {expected}"


def _of_round(record: Record, shown: Answer) -> Iterator[str]:
    name, round_id = record.name, shown["id"]
    if shown["status"] != "complete":
        yield f"{name}: {round_id} is {shown['status']}"
    if sum(bet["stake"] for bet in shown["bets"]) != shown["staked"]:
        yield f"{name}: the bets of {round_id} are not what was staked"
    if sum(bet["payout"] for bet in shown["bets"]) != shown["paid"]:
        yield f"{name}: the bets of {round_id} are not what was paid"
    if record.paid.get(round_id, shown["paid"]) != shown["paid"]:
        yield f"{name}: {round_id} paid {shown['paid']}, and {record.paid[round_id]} was told"
    bets = {bet["bet"]: bet["stake"] for bet in shown["bets"]}
    if BANK in bets:
        return  # how much of it is at risk others decide; which one it is, `_of_banks` knows
    if round_id in record.calls:  # who joined has taken something over
        wrong = shown["coup"]["at_risk"] != record.calls[round_id] or not 0 < shown["staked"] <= record.calls[round_id]
    else:
        wrong = bets not in record.bets.get(round_id, ())
    if wrong:
        kept: tuple[Mapping[str, object], ...] = (record.calls, record.bets)
        was_shown = next((each[round_id] for each in kept if round_id in each), "nothing")
        yield f"{name}: {round_id} has {bets}, and was told of {was_shown}"


def _of_banks(record: Record, shown: Sequence[Answer]) -> Iterator[str]:
    """Compare every bank with one that was taken, or that was kept after the previous coup. *told* has the newest
    round first.
    """
    taken, kept, before = Counter(record.banks), record.kept, None
    for each in reversed(shown):
        if BANK not in {bet["bet"] for bet in each["bets"]}:
            before = None if each["coup"] else before  # another player had the bank in between
            continue
        bank, has_grown_to = each["coup"]["bank"], _left_of(before, record.largest_bank)
        if kept and bank == has_grown_to:
            kept -= 1
        elif taken[bank]:
            taken[bank] -= 1
        else:
            yield f"{record.name}: {each['id']} was played against their bank of {bank}, and they took {record.banks}"
        before = each


def _left_of(coup: Answer | None, largest: int) -> int | None:
    """Return the amount of a bank after a coup; None if the bank was lost."""
    if coup is None or not coup["paid"]:
        return None
    left = int(coup["coup"]["bank"]) - int(coup["staked"]) + int(coup["paid"])
    return min(left, largest) if largest else left


def at_a_loss(records: Iterable[Record], shown: Iterable[Sequence[Answer]]) -> Iterator[str]:
    """Yield Chemin de Fer coups that do not balance: each is against the bank of one player, and the payouts are
    twice the amount at risk, less the tax. *told* has the rounds that the house reports to each player.
    """
    parts: dict[str, list[Answer]] = {}
    for rounds in shown:
        for each in rounds:
            if each["coup"]:
                parts.setdefault(each["id"], []).append(each)
    against = {round_id for record in records for round_id in record.against}
    for round_id in sorted(against | parts.keys()):
        all_of_them = parts.get(round_id, [])
        banks = [each for each in all_of_them if BANK in {bet["bet"] for bet in each["bets"]}]
        if len(banks) != 1:
            yield f"{round_id}: {len(banks)} of the players were shown it as their bank"
            continue
        (bank,) = banks
        at_risk, tax = bank["coup"]["at_risk"], bank["coup"]["tax"]
        staked = sum(each["staked"] for each in all_of_them if each is not bank)
        if not bank["staked"] == at_risk == staked:
            yield f"{round_id}: {at_risk} was at risk, the bank staked {bank['staked']}, the others {staked}"
        if (paid := sum(each["paid"] for each in all_of_them)) != 2 * at_risk - tax:
            yield f"{round_id}: {paid} was paid of twice {at_risk} less {tax}"


def nothing_done(record: Record, confirmed: int, rounds: Iterable[Answer], *, pays: bool) -> Iterator[str]:
    """Yield clients that tested nothing: none of their actions was confirmed, or the house has no round of theirs."""
    if not confirmed:
        yield f"{record.name}: nothing was confirmed"
    if pays:
        if not (record.deposited and record.withdrawn):
            yield f"{record.name} paid in {record.deposited} and was paid {record.withdrawn}"
        return
    known = {each["id"] for each in rounds if each["status"] == "complete" and each["staked"]}
    sure = {round_id for round_id, possible in record.bets.items() if NOTHING not in possible}
    if not known & (sure | record.calls.keys() | record.against):
        yield f"{record.name}: the house has no round in which a bet of theirs was taken"
