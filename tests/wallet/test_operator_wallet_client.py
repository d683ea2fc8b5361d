"""HTTP requests to an operator: refused URLs, invalid answers, timeouts."""

import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.test import override_settings

from tests.harness.reference_host import Fault, reference_host
from tests.harness.sweeps import sample
from wallet.operator_wallet import operators
from wallet.seamless_wallet import messages, signing

KEY, SECRET = "k", "s"
ASKED = messages.Bet(player="p", game="g", round="r", transaction="t", currency="SEK", amount=100, session="s")


@contextmanager
def at_the_operator():
    with reference_host(KEY, SECRET) as host:
        host.balances["p"] = 1_000
        host.sessions.add("s")
        yield host, operators.Operator(host.address, KEY, SECRET)


def ask(operator, message=ASKED, answer=messages.Done, *, at=None):
    return operators.send(operator, message, answer, at=at or int(time.time()))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(operators, "SECONDS_TO_ANSWER", 0.5)


def test_an_answer_is_read():
    with at_the_operator() as (_, operator):
        assert ask(operator) == messages.Done(transaction="t", reference="r0", balance=900, currency="SEK")
        asked = messages.BalanceAsked(player="p", session="s")
        assert ask(operator, asked, messages.Balance) == messages.Balance(player="p", balance=900, currency="SEK")


def test_a_refusal_is_said_by_its_code():
    with at_the_operator() as (_, operator), pytest.raises(operators.Refused) as refused:
        ask(operator, replace(ASKED, amount=1_001))
    assert refused.value.code == "insufficient-funds"


def test_another_clock_says_nothing_about_the_transaction():
    with at_the_operator() as (_, operator), pytest.raises(operators.NotRecognised, match="outside-window"):
        ask(operator, at=int(time.time()) - 2 * signing.WINDOW_SECONDS)


def test_nor_does_a_wrong_secret():
    with at_the_operator() as (_, operator), pytest.raises(operators.NotRecognised, match="bad-signature"):
        ask(replace(operator, secret="another"))


@pytest.mark.parametrize("fault", sample([each for each in Fault if each not in (Fault.OTHER, Fault.TWICE)], 2))
def test_nothing_else_is_an_answer_and_none_takes_long(fault):
    with at_the_operator() as (host, operator):
        host.fail("bet", fault)
        began = time.monotonic()
        with pytest.raises(operators.NoAnswer):
            ask(operator)
        assert time.monotonic() - began < 10 * operators.SECONDS_TO_ANSWER


def test_an_answer_said_twice_is_one():
    with at_the_operator() as (host, operator):
        host.fail("bet", Fault.TWICE)
        assert ask(operator).balance == 900


def test_nobody_there_is_no_answer():
    with at_the_operator() as (_, operator):
        pass
    with pytest.raises(operators.NoAnswer):
        ask(operator)


BAD = [
    "http://operator.example/wallet/",
    "https://user@operator.example/wallet/",
    "https://operator.example/wallet/?to=elsewhere",
    "https://operator.example/wallet/#part",
    "ftp://operator.example/",
    "file:///etc/passwd",
    "https:///wallet/",
    "https://[::1/",
    "https://operator.example:99999/",
    "",
]


@pytest.mark.parametrize("address", BAD)
def test_other_addresses_are_asked_nothing(address):
    with pytest.raises(operators.NoAnswer):
        operators.check_address(address)


def test_an_address_of_this_machine_is_one_for_a_demo_house_alone():
    here = "http://127.0.0.1:8123/wallet/"
    assert operators.check_address(here) == ("http", "127.0.0.1", 8123, "/wallet/")
    with override_settings(DEMO=False), pytest.raises(operators.NoAnswer):
        operators.check_address(here)
    assert operators.check_address("https://operator.example/wallet") == ("https", "operator.example", None, "/wallet/")
