"""Money that comes in, and money that moves within the house."""

from functools import partial
from uuid import uuid4

from django.test import override_settings

from tests.builders import a_player
from tests.concurrency.actions import NOTHING, Action, in_one
from tests.concurrency.books import Counts, together
from tests.wallet.at_the_bank import a_payment, at_the_bank, call_back
from wallet import cashier
from wallet.ledger import purse
from wallet.models import Behaviour, Mode, Payment
from wallet.payments import deposits, notifications
from wallet.sandbox_bank import orders

AMOUNT = 50_000
MONEY = 100_000_000

BEGUN: Counts = {"payment waiting": 1, "room taken": 1, "event deposit.begun": 1}
CREDITED: Counts = {
    "payment waiting": -1,
    "payment credited": 1,
    "room taken": -1,
    "cash R": AMOUNT,
    "journal deposit": 1,
    "event deposit.posted": 1,
    "mail deposit_credited": 1,
}


def ended(state: str) -> Counts:
    """Return a payment that came to nothing."""
    return {"payment waiting": -1, f"payment {state}": 1, "room taken": -1, f"event payment.{state}": 1}


def beginning_a_deposit():
    player = a_player()

    def action() -> Action:
        return in_one(partial(deposits.begin, player=player, amount=AMOUNT, key=uuid4()), BEGUN, give_up)

    return action


def notified(payment: Payment) -> None:
    """Send the bank's signed call-back to the house."""
    assert call_back(dict(orders.statement(payment.pk) or {})) == 200


def a_call_back(said: orders.Answer, effect: Counts):
    player = a_player()

    def action() -> Action:
        payment = a_payment(player, AMOUNT)
        at_the_bank(payment, said)
        return in_one(partial(notified, payment), effect)

    return action


def approved_by_call_back():
    return a_call_back(orders.Answer.APPROVE, CREDITED)


def declined_by_call_back():
    return a_call_back(orders.Answer.DECLINE, together(ended("declined"), {"mail deposit_declined": 1}))


def ask_now(**times: int) -> None:
    with override_settings(**{"PAYMENT_ASK_SECONDS": 0, "PAYMENT_GIVE_UP_SECONDS": 3600} | times):
        notifications.ask_undecided()


def give_up() -> None:
    """Close all payments that are still waiting."""
    ask_now(PAYMENT_GIVE_UP_SECONDS=0)


def approved_when_asked():
    player = a_player()

    def action() -> Action:
        at_the_bank(a_payment(player, AMOUNT))
        return in_one(ask_now, CREDITED)

    return action


def given_up():
    """Have the house cancel the order at its bank, which has its books in the same database."""
    player = a_player()

    def action() -> Action:
        a_payment(player, AMOUNT)
        return in_one(give_up, together(ended("expired"), {"bank order cancelled": 1}))

    return action


def answered_at_the_bank():
    player = a_player()

    def action() -> Action:
        payment = a_payment(player, AMOUNT)
        return in_one(partial(at_the_bank, payment), {"bank order approved": 1}, ask_now)

    return action


def the_bank_tells():
    """The bank sends its notices by HTTP to a running house, which may have received one when the bank is killed."""
    player = a_player()
    sent = {"bank notice sent": 1}

    def action() -> Action:
        at_the_bank(a_payment(player, AMOUNT), behaviour=Behaviour.PROMPT)
        stages = (NOTHING, sent, together(sent, CREDITED), together(sent, sent, CREDITED))
        return Action(orders.send_due, stages)

    return action


def movement(source: str, target: str, amount: int, journal: str, event: str) -> Counts:
    return {f"{source} R": -amount, f"{target} R": amount, f"journal {journal}": 1, f"event {event}": 1}


def a_purse_filled():
    player = a_player(real=MONEY)
    effect = movement("cash", "purse", AMOUNT, "rebuy", "purse.filled")

    def action() -> Action:
        return in_one(partial(purse.rebuy, player=player, mode=Mode.REAL, amount=AMOUNT, key=uuid4()), effect)

    return action


def a_purse_left():
    player = a_player(real=MONEY)
    effect = movement("purse", "cash", AMOUNT, "leave", "purse.returned")

    def action() -> Action:
        purse.rebuy(player=player, mode=Mode.REAL, amount=AMOUNT, key=uuid4())
        return in_one(partial(purse.leave, player=player, mode=Mode.REAL, key=uuid4()), effect)

    return action


def free_money():
    def action() -> Action:
        player = a_player()
        amount = cashier.FREE_MONEY[player.currency]
        effect = {"cash F": amount, "journal top_up": 1, "event top_up.posted": 1}
        return in_one(partial(cashier.top_up_free, player=player, key=uuid4()), effect)

    return action
