"""The wire format of the seamless wallet by docs/seamless.md: signatures and parsing."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.api.problems import KINDS
from wallet.seamless_wallet import messages, signing

DOCUMENT = (Path(__file__).parents[2] / "docs" / "seamless.md").read_text()
EVERYWHERE = (
    "malformed",
    "not-found",
    "method-not-allowed",
    "too-slow",
    "too-large",
    "unsupported-media-type",
    "too-often",
    "fault",
)
"""Codes that every endpoint may return."""
NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=64)
AMOUNTS = st.integers(1, messages.MOST)
SAID = {"player": NAMES, "game": NAMES, "round": NAMES, "transaction": NAMES, "currency": st.just("SEK")}
MESSAGES = st.one_of(
    st.builds(messages.BalanceAsked, player=NAMES, session=NAMES),
    st.builds(messages.Bet, **SAID, amount=AMOUNTS, session=NAMES),
    st.builds(messages.Win, **SAID, amount=AMOUNTS | st.just(0), session=NAMES | st.none()),
    st.builds(messages.Rollback, **SAID, takes_back=NAMES, session=NAMES | st.none()),
    st.builds(messages.BetAndWin, **SAID, bet=AMOUNTS, win=AMOUNTS | st.just(0), session=NAMES),
    st.builds(messages.Balance, player=NAMES, balance=AMOUNTS, currency=st.just("SEK")),
    st.builds(
        messages.Done,
        transaction=NAMES,
        reference=NAMES | st.none(),
        balance=AMOUNTS | st.none(),
        currency=st.just("SEK"),
    ),
)
BET = (
    messages.Bet(player="p", game="g", round="r", transaction="t", currency="SEK", amount=100, session="s")
    .body()
    .decode()
)


@given(MESSAGES)
def test_what_is_written_is_read_as_it_was(message):
    assert messages.read(type(message), message.body()) == message


@pytest.mark.sweep
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_anything_else_is_malformed(body):
    with pytest.raises(messages.Malformed):
        messages.read(messages.Bet, body)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (('"amount":100', '"amount":"100"'), "/amount"),
        (('"amount":100', '"amount":true'), "/amount"),
        (('"amount":100', '"amount":1.0'), "/amount"),
        (('"amount":100', '"amount":0'), "/amount"),
        (('"amount":100', '"amount":-100'), "/amount"),
        (('"amount":100', '"amount":1000000000001'), "/amount"),
        (('"amount":100', '"amount":null'), "/amount"),
        (('"amount":100', '"amount":100,"amount":100'), "/amount"),
        (('"amount":100', '"amount":100,"a/b":1'), "/a~1b"),
        (('"amount":100,', ""), "/amount"),
        (('"player":"p"', '"player":""'), "/player"),
        (('"player":"p"', '"player":"p p"'), "/player"),
        (('"player":"p"', '"player":"ä"'), "/player"),
        (('"player":"p"', '"player":["p"]'), "/player"),
        (('"transaction":"t"', f'"transaction":"{"t" * 65}"'), "/transaction"),
        (('"currency":"SEK"', '"currency":"sek"'), "/currency"),
        (('"session":"s"', '"session":null'), "/session"),
        (('"amount":100', '"amount":' + "9" * 5000), ""),
        (('"amount":100', '"amount":NaN'), ""),
        (('"player":"p"', '"player":' + "[" * 5000), ""),
    ],
)
def test_says_which_field_is_wrong(change, pointer):
    body = BET.replace(*change).encode()
    with pytest.raises(messages.Malformed) as caught:
        messages.read(messages.Bet, body)
    assert pointer in caught.value.errors


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b"\xff{}", b"", b" " * (messages.LONGEST_BODY + 1)])
def test_only_an_object_of_a_sensible_size_is_read(body):
    with pytest.raises(messages.Malformed) as caught:
        messages.read(messages.Bet, body)
    assert list(caught.value.errors) == [""]


def test_a_problem_is_read_by_its_code_and_the_rest_left_alone():
    body = b'{"type":"x","title":"y","status":409,"code":"no-bet","detail":"z","more":[1]}'
    assert messages.read_refusal(409, body) == messages.Refusal(409, "no-bet", "z")
    with pytest.raises(messages.Malformed):
        messages.read_refusal(500, b"<html>")
    with pytest.raises(messages.Malformed):
        messages.read_refusal(500, b'{"code": 7}')


class TestSignatures:
    NOW = datetime.fromtimestamp(1_790_000_000, UTC)
    CALL: ClassVar[dict[str, Any]] = {"method": "POST", "path": "/api/v1/wallet/bet/", "body": b"{}"}

    def signed(self, at=1_790_000_000, **other):
        return signing.headers("k", "secret", at=at, **(self.CALL | other))

    @pytest.mark.parametrize("seconds", [-60, 0, 60])
    def test_hold_for_a_minute_to_either_side(self, seconds):
        signing.check("secret", self.signed(1_790_000_000 + seconds), now=self.NOW, **self.CALL)

    @pytest.mark.parametrize("seconds", [-61, 61, 10**10])
    def test_are_refused_beyond_it_with_our_time(self, seconds):
        with pytest.raises(signing.OutsideWindow) as caught:
            signing.check("secret", self.signed(1_790_000_000 + seconds), now=self.NOW, **self.CALL)
        assert caught.value.now == 1_790_000_000

    @pytest.mark.parametrize(
        "other", [{"method": "PUT"}, {"path": "/api/v1/wallet/win/"}, {"body": b"{ }"}, {"at": 1_789_999_999}]
    )
    def test_are_of_time_method_path_and_body(self, other):
        said = self.signed() | {signing.SIGNATURE_HEADER: self.signed(**other)[signing.SIGNATURE_HEADER]}
        with pytest.raises(signing.NotSigned):
            signing.check("secret", said, now=self.NOW, **self.CALL)

    @pytest.mark.parametrize(
        ("header", "value"),
        [
            (signing.SIGNATURE_HEADER, ""),
            (signing.SIGNATURE_HEADER, "ä"),
            (signing.SIGNATURE_HEADER, "0" * 64),
            (signing.TIME_HEADER, ""),
            (signing.TIME_HEADER, "now"),
            (signing.TIME_HEADER, "1" * 400),
            (signing.TIME_HEADER, "-1"),
            (signing.TIME_HEADER, "1790000000.0"),
            (signing.TIME_HEADER, "١٧٩٠٠٠٠٠٠٠"),
        ],
    )
    def test_of_other_shapes_are_none(self, header, value):
        with pytest.raises(signing.NotSigned):
            signing.check("secret", self.signed() | {header: value}, now=self.NOW, **self.CALL)

    def test_another_secret_signs_something_else(self):
        with pytest.raises(signing.NotSigned):
            signing.check("other", self.signed(), now=self.NOW, **self.CALL)

    def test_are_those_of_the_document(self):
        body = b'{"player":"p","session":"s"}'
        made = signing.sign(
            "example-secret", at=1_790_000_000, method="POST", path="/api/v1/wallet/balance/", body=body
        )
        assert made in DOCUMENT


def test_the_document_lists_every_code_with_its_status():
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \|", DOCUMENT, re.MULTILINE))
    ours = {messages.BAD_SIGNATURE, messages.OUTSIDE_WINDOW, *messages.CODES, *EVERYWHERE}
    assert listed == {code: str(int(KINDS[code].status)) for code in ours}
