"""Passkeys: what an authenticator has not signed here and now for its owner is refused, and is never a fault."""

import json
from collections.abc import Callable
from hashlib import sha256
from struct import pack
from typing import Any

import pytest
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import Aaguid, AttestedCredentialData

from players.models import Player, User
from tests.builders import a_player
from tests.people import PASSWORD, a_visitor, log_in

pytestmark = pytest.mark.django_db

SECURITY = "/en/account/security/"
ADD, AGAIN = f"{SECURITY}passkeys/add/", f"{SECURITY}reauthenticate/"
HERE = "https://testserver"
PRESENT, VERIFIED, ATTESTED, EXTENDED = 1, 4, 64, 128  # flags of authenticator data
DEEP = 100_000
Json = dict[str, Any]


class Key:
    """An authenticator with one credential."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())

    def made(self, challenge: str) -> Json:
        """Return the credential, for registration."""
        public = ES256.from_cryptography_key(self._key.public_key())
        attested = bytes(AttestedCredentialData.create(Aaguid.NONE, b"c" * 16, public))
        return credential(
            clientDataJSON=client_data("webauthn.create", challenge),
            attestationObject=statement(authenticator_data(PRESENT | VERIFIED | ATTESTED) + attested),
        )

    def signed(self, challenge: str, owner: User, *, origin: str = HERE, flags: int = PRESENT | VERIFIED) -> Json:
        """Return an assertion, for a log-in."""
        client, data = client_data("webauthn.get", challenge, origin), authenticator_data(flags)
        return credential(
            clientDataJSON=client,
            authenticatorData=data,
            signature=self._key.sign(data + sha256(client).digest(), ec.ECDSA(hashes.SHA256())),
            userHandle=user_pk_to_url_str(owner).encode(),
        )


def credential(**parts: bytes) -> Json:
    name = websafe_encode(b"c" * 16)
    response = {part: websafe_encode(value) for part, value in parts.items()}
    return {"id": name, "rawId": name, "type": "public-key", "response": response, "clientExtensionResults": {}}


def client_data(kind: str, challenge: str, origin: str = HERE) -> bytes:
    return json.dumps({"type": kind, "challenge": challenge, "origin": origin}).encode()


def authenticator_data(flags: int) -> bytes:
    return sha256(b"testserver").digest() + pack(">BI", flags, 0)


def statement(data: bytes) -> bytes:
    return cbor.encode({"fmt": "none", "authData": data, "attStmt": {}})


def send(visitor: Client, address: str, said: Json | str) -> int:
    """Send a credential, without waiting as often as needed, and return the status."""
    cache.clear()
    text = said if isinstance(said, str) else json.dumps(said)
    return visitor.post(address, {"credential": text, "name": "Phone"}).status_code


def challenge_to_add(visitor: Client) -> str:
    return str(visitor.get(ADD).context["js_data"]["creation_options"]["publicKey"]["challenge"])


def challenge_to_log_in(visitor: Client) -> str:
    cache.clear()
    answer = visitor.get(reverse("mfa_login_webauthn"), headers={"X-Requested-With": "XMLHttpRequest"})
    return str(answer.json()["request_options"]["publicKey"]["challenge"])


@pytest.fixture
def player() -> Player:
    return a_player(password=PASSWORD)


@pytest.fixture
def owner(player: Player) -> Client:
    """A browser whose player has just confirmed the password."""
    visitor = a_visitor()
    log_in(visitor, player.user)
    visitor.post(AGAIN, {"password": PASSWORD})
    visitor.raise_request_exception = False
    return visitor


def with_response(**parts: object) -> Callable[[Json], Json]:
    return lambda good: good | {"response": good["response"] | parts}


NOT_JSON = ["false", "0", "{}", "[" * DEEP, '{"id": ' + "9" * 5_000 + "}"]
UNREADABLE: list[Callable[[Json], Json | str]] = [
    *(lambda _good, text=text: text for text in NOT_JSON),
    lambda good: good | {"x": "\0"},
    lambda good: good | {"x": "\ud800"},
    lambda good: good | {"x": float("nan")},
    lambda good: good | {"x": "x" * 100_000},
    lambda good: good | {"clientExtensionResults": "x"},
    lambda good: good | {"id": "another"},
    lambda good: {name: value for name, value in good.items() if name != "rawId"},
    with_response(clientDataJSON=websafe_encode(b"[" * DEEP)),
    with_response(clientDataJSON=websafe_encode(b"{}")),
]
UNREADABLE_NEW = [
    *UNREADABLE,
    *(
        with_response(attestationObject=websafe_encode(each))
        for each in (b"", b"\x81" * DEEP, b"\xbb" + b"\xff" * 8, b"\xc0", cbor.encode({}), statement(b"short"))
    ),
    with_response(attestationObject=websafe_encode(statement(authenticator_data(PRESENT)))),  # without a key
]
UNREADABLE_SIGNED = [
    *UNREADABLE,
    with_response(authenticatorData=websafe_encode(authenticator_data(PRESENT | EXTENDED))),
    with_response(authenticatorData=websafe_encode(authenticator_data(PRESENT | EXTENDED) + b"\x81" * DEEP)),
]


def test_no_credential_that_cannot_be_read_is_stored_or_a_fault(owner, player):
    for spoil in UNREADABLE_NEW:
        assert send(owner, ADD, spoil(Key().made(challenge_to_add(owner)))) == 200
    assert not Authenticator.objects.filter(user=player.user).exists()


def test_nor_does_one_log_anybody_in(owner, player):
    key = Key()
    assert send(owner, ADD, key.made(challenge_to_add(owner))) == 302
    waiting = a_visitor()
    log_in(waiting, player.user)
    waiting.raise_request_exception = False
    for spoil in UNREADABLE_SIGNED:
        visitor = a_visitor()
        visitor.raise_request_exception = False
        said = spoil(key.signed(challenge_to_log_in(visitor), player.user))
        assert send(visitor, reverse("mfa_login_webauthn"), said) == 302
        assert "_auth_user_id" not in visitor.session
        assert send(waiting, reverse("mfa_authenticate"), said) == 200
        assert send(owner, reverse("mfa_reauthenticate_webauthn"), said) == 302


def test_an_assertion_counts_once_where_it_was_asked_for_and_for_its_owner(owner, player, settings):
    settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = False  # as outside of a demo
    key, other, address = Key(), a_player(password=PASSWORD), reverse("mfa_login_webauthn")
    assert send(owner, ADD, key.made(challenge_to_add(owner))) == 302

    def is_let_in(visitor: Client, said: Json) -> bool:
        send(visitor, address, said)
        return "_auth_user_id" in visitor.session

    here, elsewhere = a_visitor(), a_visitor()
    for wrong in (
        {"owner": other.user},
        {"origin": "https://evil.example"},
        {"origin": "http://testserver"},
        {"flags": PRESENT},
    ):
        assert not is_let_in(here, key.signed(challenge_to_log_in(here), **({"owner": player.user} | wrong)))
    assert not is_let_in(here, Key().signed(challenge_to_log_in(here), player.user))
    said = key.signed(challenge_to_log_in(here), player.user)
    assert not is_let_in(elsewhere, said)
    challenge_to_log_in(elsewhere)
    assert not is_let_in(elsewhere, said)
    assert is_let_in(here, said)
    here.post("/en/account/logout/")
    assert not is_let_in(here, said)
