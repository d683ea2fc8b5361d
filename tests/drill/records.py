"""What clients of a house remember, and whether the house says the same: their bets, what came of each, their money.

A client that asked through the API knows of every bet whether it was taken, since it asked again until it was told. One
that clicked on a page and was not answered does not: then more than one thing may be true.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Bets = Mapping[str, int]  # bet -> minor units
Told = Mapping[str, Any]  # a round, as the API tells its player of it
NOTHING: Bets = {}
BANK = "bank"  # the bet of whoever holds it


@dataclass
class Record:
    """What one client was told. Amounts in minor units."""

    name: str
    began_with: int
    bets: dict[str, tuple[Bets, ...]] = field(default_factory=dict)  # round -> what may lie there, any one of these
    paid: dict[str, int] = field(default_factory=dict)  # round -> what came back, where that was told at once
    banks: dict[str, int] = field(default_factory=dict)  # coup -> the bank with which it was opened
    calls: dict[str, int] = field(default_factory=dict)  # coup -> the bank that was answered for, with whoever joined
    deposited: int = 0
    withdrawn: int = 0

    def lay(self, round_id: str, bets: Bets) -> None:
        """Remember what lies on a round now, as the house said."""
        self.bets[round_id] = (dict(bets),)


def disagreements(record: Record, rounds: Iterable[Told], has: int) -> Iterator[str]:
    """Say wherever the house disagrees: with all *rounds* that it has of the client's, and what the client *has*."""
    told = list(rounds)
    expected = record.began_with + record.deposited - record.withdrawn
    for round_id, times in Counter(each["id"] for each in told).items():
        if times > 1:
            yield f"{record.name}: the house has {round_id} {times} times"
    for each in told:
        expected += each["paid"] - each["staked"]
        yield from _of_round(record, each)
    known = {each["id"] for each in told}
    for round_id, possible in record.bets.items():
        if round_id not in known and NOTHING not in possible:
            yield f"{record.name}: {round_id} was taken with {possible}, the house has none of it"
    for round_id in (record.banks.keys() | record.calls.keys()) - known:
        yield f"{record.name}: a part in {round_id} was taken, the house has none of it"
    if has != expected:
        yield f"{record.name} has {has}, and by what was told {expected}"


def _of_round(record: Record, told: Told) -> Iterator[str]:
    name, round_id = record.name, told["id"]
    if told["status"] != "complete":
        yield f"{name}: {round_id} is {told['status']}"
    if sum(bet["stake"] for bet in told["bets"]) != told["staked"]:
        yield f"{name}: the bets of {round_id} are not what was staked"
    if sum(bet["payout"] for bet in told["bets"]) != told["paid"]:
        yield f"{name}: the bets of {round_id} are not what was paid"
    if record.paid.get(round_id, told["paid"]) != told["paid"]:
        yield f"{name}: {round_id} paid {told['paid']}, and {record.paid[round_id]} was told"
    bets = {bet["bet"]: bet["stake"] for bet in told["bets"]}
    if BANK in bets:  # how much of it is at risk others decide; one that was kept is of another size
        wrong = record.banks.get(round_id, told["coup"]["bank"]) != told["coup"]["bank"]
    elif round_id in record.calls:  # who joined has taken something over
        wrong = told["coup"]["at_risk"] != record.calls[round_id] or not 0 < told["staked"] <= record.calls[round_id]
    else:
        wrong = bets not in record.bets.get(round_id, ())
    if wrong:
        kept: tuple[Mapping[str, object], ...] = (record.banks, record.calls, record.bets)
        was_told = next((each[round_id] for each in kept if round_id in each), "nothing")
        yield f"{name}: {round_id} has {bets}, and was told of {was_told}"
