"""Players who deposit and withdraw on the pages of the cashier and the bank, and record their requests.

A request without an answer is sent again with the same idempotency key.
"""

from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import TypeVar
from uuid import UUID

import requests

from tests.drill.records import Record
from tests.drill.simulated_players import Caller
from wallet.models import Behaviour
from wallet.sandbox_bank import payouts

PACE = 4.0  # seconds between two payments
WHOLE = 100  # minor units
LED_ON = (HTTPStatus.FOUND, HTTPStatus.SEE_OTHER)
PAID = (payouts.PAID, payouts.TWICE, payouts.SHUFFLED)  # the others return the money
ACCOUNTS = (payouts.PAID, payouts.CLOSED, payouts.TWICE, payouts.UNKNOWN, payouts.SHUFFLED)
ANSWERS = ("approve", "approve", "approve", "approve", "decline")
FORMS = {"deposit": "/en/cashier/deposit/", "withdraw": "/en/cashier/withdraw/"}
# Late ones come after 45 seconds, which is longer than a short drill: there the post is late by itself.
BEHAVIOURS = (Behaviour.PROMPT, Behaviour.TWICE, Behaviour.SHUFFLED, Behaviour.NEVER)

Turn = TypeVar("Turn")


class Payer(Caller):
    """Pays in and withdraws until it is over, in the session of the cookies given. Every possible end of a payment
    is used in turn, so that a short drill has all of them.
    """

    CONFIRMED = "deposit taken"
    PAYS = True

    def __init__(self, record: Record, seed: str, url: str, cookies: dict[str, str]) -> None:
        super().__init__(record, seed, url)
        for name, value in cookies.items():
            self._session.cookies.set(name, value)
        self._turns = Counter[str]()
        self._is_to_pay_in = True

    def play(self) -> None:
        """Pay in, or withdraw, in turns."""
        self.deposit() if self._is_to_pay_in else self.withdraw()
        self._is_to_pay_in = not self._is_to_pay_in
        self.pause(PACE)

    def deposit(self) -> None:
        """Deposit, or cancel at the bank."""
        amount = self.chance.randrange(100, 200)
        payment = self._sent("deposit", amount)
        if payment is None:
            return
        bank = self._led_on(payment + "bank/")
        said, behaviour = self._next("answer", ANSWERS), self._next("behaviour", BEHAVIOURS)
        self._post(bank, {"answer": said, "behaviour": behaviour.value})
        self.done[f"deposit {said}d"] += 1
        if said == "approve":
            self.record.deposited += amount * WHOLE

    def withdraw(self) -> None:
        """Withdraw to an account that the bank pays, or to one that it does not."""
        amount = self.chance.randrange(100, 120)
        iban = self._next("account", ACCOUNTS)
        if self._sent("withdraw", amount, account="new", iban=iban, mine="on") and iban in PAID:
            self.record.withdrawn += amount * WHOLE

    def _next(self, what: str, of: Sequence[Turn]) -> Turn:
        self._turns[what] += 1
        return of[(self._turns[what] - 1) % len(of)]

    def _sent(self, what: str, amount: int, **fields: str) -> str | None:
        """Send a form of the cashier's until it is answered; return where it leads, None where it is refused."""
        key = str(UUID(int=self.chance.getrandbits(128), version=4))
        answer = self._post(FORMS[what], {"amount": str(amount), "key": key, **fields})
        taken = answer.status_code in LED_ON
        self.done[f"{what} {'taken' if taken else 'refused'}"] += 1
        return answer.headers["Location"] if taken else None

    def _led_on(self, path: str) -> str:
        answer = self.ask("GET", path)
        if answer.status_code not in LED_ON:
            raise AssertionError(f"{path}: {answer.status_code}")
        return answer.headers["Location"]

    def _post(self, path: str, form: dict[str, str]) -> requests.Response:
        while (token := self._session.cookies.get("csrftoken")) is None:
            self.ask("GET", "/en/cashier/")
        return self.ask("POST", path, data={**form, "csrfmiddlewaretoken": token})
