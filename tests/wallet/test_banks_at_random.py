"""After any coups and voids in any order, all players have their initial money once everything is
voided.

The exception is what the house covered for players who had spent the money.
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest
from django.db import transaction
from django.db.models import Sum

from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.wallet import wholeness
from tests.wallet.coups import Bank, Coup, CoupPlayer, a_bank, balance_of, coup_player
from wallet.ledger import round_reversal
from wallet.models import Day

MONEY = 1000
STEPS = 40


@dataclass
class Evening:
    """Three players, one bank at a time, and the house's cost of voids so far."""

    chance: Random
    coup_players: list[CoupPlayer]
    bank: Bank | None = None
    put_up: Counter[int] = field(default_factory=Counter)  # less returned money, by bank account
    played: list[Coup] = field(default_factory=list)
    added: Counter[int | None] = field(default_factory=Counter)  # by player
    added_to_banks: Counter[int | None] = field(default_factory=Counter)

    def go_on(self) -> None:
        if self.played and self.chance.random() < 0.3:
            self.void_round(self.played.pop(self.chance.randrange(len(self.played))))
        elif self.bank is None:
            self.take_a_bank()
        elif self.bank.balance == 0 or self.chance.random() < 0.3:
            self.go_home(self.bank)
            self.bank = None
        else:
            self.play(self.bank)

    def take_a_bank(self) -> None:
        banker = self.chance.choice(self.coup_players)
        if has := balance_of(banker.account):
            amount = self.chance.randint(1, has)
            self.bank = a_bank(banker, amount)
            self.put_up[self.bank.account] = amount

    def go_home(self, bank: Bank) -> None:
        back = min(bank.balance, self.put_up[bank.account])
        self.put_up[bank.account] -= back
        for kind, amount in (("bank_back", back), ("bank_won", bank.balance - back)):
            if amount:
                bank.move(kind, -amount)

    def play(self, bank: Bank) -> None:
        coup, left, stakes = Coup(bank), bank.balance, {}
        for punter in self.coup_players:
            most = min(left, balance_of(punter.account))
            if punter != bank.banker and most:
                stakes[punter] = self.chance.randint(1, most)
                left -= stakes[punter]
                coup.lay(punter, stakes[punter])
        if stakes:
            self.played.append(coup)
            if self.chance.random() < 0.9:
                times = self.chance.choice((0, 1, 2))
                tax = 0 if times else sum(stakes.values()) // 20
                coup.settle({punter: stake * times for punter, stake in stakes.items() if times}, tax=tax)
            else:  # voided before settlement
                self.void_round(self.played.pop())

    def void_round(self, coup: Coup) -> None:
        with transaction.atomic():
            for undone in round_reversal.undo_round(coup.id):
                is_banker = undone.player_id == coup.bank.banker.owner
                (self.added_to_banks if is_banker else self.added)[undone.player_id] += undone.shortfall
        if coup.bank != self.bank:
            self.go_home(coup.bank)


@pytest.mark.sweep
@pytest.mark.usefixtures("without_voids")
@pytest.mark.django_db
@pytest.mark.parametrize("seed", sample(range(8), 2))
def test_everybody_has_what_they_began_with(seed):
    players = [a_player(real=MONEY) for _ in range(3)]
    evening = Evening(Random(seed), [coup_player(player) for player in players])
    for _ in range(STEPS):
        evening.go_on()
    while evening.played:
        evening.void_round(evening.played.pop(evening.chance.randrange(len(evening.played))))
    if evening.bank:
        evening.go_home(evening.bank)
    for player, each in zip(players, evening.coup_players, strict=True):
        to_bank = evening.added_to_banks[player.pk]
        assert balance_of(each.account) == MONEY + evening.added[player.pk] + to_bank
        counted = Day.objects.filter(player=player).aggregate(staked=Sum("staked"), paid=Sum("paid"))
        assert (counted["paid"] or 0) - (counted["staked"] or 0) == to_bank
    assert not [row for check in wholeness.checks() for row in check.rows]
