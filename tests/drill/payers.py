"""Players who pay in and withdraw on the pages of the cashier and the bank, and remember what they asked for. Whoever
is not answered sends the same form again, with the key that it has.
"""

from http import HTTPStatus
from uuid import UUID

import requests

from tests.drill.guests import Caller
from tests.drill.records import Record
from wallet.models import Behaviour
from wallet.sandbox_bank import payouts

PACE = 4.0  # seconds between two payments
WHOLE = 100  # minor units
LED_ON = (HTTPStatus.FOUND, HTTPStatus.SEE_OTHER)
PAID, RETURNED = (payouts.PAID, payouts.TWICE, payouts.SHUFFLED), (payouts.CLOSED, payouts.UNKNOWN)
FORMS = {"deposit": "/en/cashier/deposit/", "withdraw": "/en/cashier/withdraw/"}
# Late ones come after 45 seconds, which is longer than a short drill: there the post is late by itself.
BEHAVIOURS = (Behaviour.PROMPT, Behaviour.TWICE, Behaviour.SHUFFLED, Behaviour.NEVER)


class Payer(Caller):
    """Pays in and withdraws, *most* times in all, in the session of the cookies given."""

    def __init__(self, record: Record, seed: str, url: str, cookies: dict[str, str], most: int) -> None:
        super().__init__(record, seed, url)
        self._most = most
        for name, value in cookies.items():
            self._session.cookies.set(name, value)
        self._turn = 0

    def play(self) -> None:
        """Pay in, or withdraw, in turns."""
        if self._turn < self._most:
            self._turn += 1
            self.deposit() if self._turn % 2 else self.withdraw()
        self.pause(PACE)

    def deposit(self) -> None:
        """Pay in, or think better of it at the bank."""
        amount = self.chance.randrange(100, 200)
        payment = self._sent("deposit", amount)
        if payment is None:
            return
        bank = self._led_on(payment + "bank/")
        said = "approve" if self.chance.random() < 0.8 else "decline"
        behaviour = self.chance.choice(BEHAVIOURS)
        self._post(bank, {"answer": said, "behaviour": behaviour.value})
        self.done[f"deposit {said}d"] += 1
        if said == "approve":
            self.record.deposited += amount * WHOLE

    def withdraw(self) -> None:
        """Withdraw to an account that the bank pays, or to one that it does not."""
        amount = self.chance.randrange(100, 120)
        iban = self.chance.choice(PAID if self.chance.random() < 0.7 else RETURNED)
        if self._sent("withdraw", amount, account="new", iban=iban, mine="on") and iban in PAID:
            self.record.withdrawn += amount * WHOLE

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
