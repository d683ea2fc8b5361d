"""A public beacon whose future round goes into the shuffle of shoes: drand, if ``BEACON_URL`` is set.

drand publishes a random value at fixed times, each with a BLS signature of its network over the number of
the round (scheme bls-unchained-g1-rfc9380). Nobody knows a round before its time, and everybody can
verify it afterwards. `docs/randomness.md` describes how a round is chosen and used.
"""

import hashlib
import http.client
import json
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

LABEL: Final = "beacon"
"""First word of a beacon's line among what goes into a shuffle."""

SECONDS: Final = 2.0  # for one request
LONGEST: Final = 10_000  # bytes of an answer
DOMAIN: Final = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
# The generator of G2, compressed.
GENERATOR: Final = bytes.fromhex(
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
)


@dataclass(frozen=True)
class Beacon:
    """A chain of rounds of a beacon. Round 1 comes at *genesis*, in seconds since 1970, and then one each *period*."""

    url: str  # https, without the chain
    chain: str  # its hash, in hex
    public_key: str  # in hex
    genesis: int
    period: int  # seconds

    def round_after(self, moment: datetime) -> int:
        """Return the first round that does not exist yet at *moment*."""
        return max(0, int(moment.timestamp() - self.genesis) // self.period + 1) + 1

    def comes_at(self, number: int) -> datetime:
        """Return when a round comes."""
        return datetime.fromtimestamp(self.genesis, UTC) + timedelta(seconds=(number - 1) * self.period)

    def verifies(self, number: int, signature: str) -> bool:
        """Return whether a signature, in hex, is that of the network for a round."""
        import pyblst  # only where a beacon is used

        try:
            # Both refuse what is not in the group, so that a round has one signature only.
            signed = pyblst.BlstP1Element().uncompress(bytes.fromhex(signature))
            key = pyblst.BlstP2Element().uncompress(bytes.fromhex(self.public_key))
            generator = pyblst.BlstP2Element().uncompress(GENERATOR)
            message = hashlib.sha256(number.to_bytes(8, "big")).digest()
        except (ValueError, OverflowError):
            return False
        expected = pyblst.BlstP1Element().hash_to_group(message, DOMAIN)
        is_right = pyblst.final_verify(pyblst.miller_loop(signed, generator), pyblst.miller_loop(expected, key))
        return bool(is_right) and signature == signature.lower()

    def line(self, number: int, signature: str) -> str:
        """Return what goes into the shuffle of a shoe."""
        return f"{LABEL} {self.chain} {number} {signature}"


def configured() -> Beacon | None:
    """Return the beacon of this installation; None if it uses none."""
    return known() if settings.BEACON_URL else None


def known() -> Beacon:
    """Return the chain whose rounds this installation can verify, whether it uses them now or not."""
    return Beacon(
        settings.BEACON_URL.rstrip("/"),
        settings.BEACON_CHAIN.lower(),
        settings.BEACON_PUBLIC_KEY.lower(),
        settings.BEACON_GENESIS,
        settings.BEACON_PERIOD,
    )


def is_beacon(line: str) -> bool:
    """Return whether a line among what goes into a shuffle is that of a beacon, and not of a player."""
    return line.startswith(f"{LABEL} ")


def fetch(beacon: Beacon, number: int) -> str | None:
    """Return the signature of a round, in hex; None while the beacon does not give it, or gives a wrong one."""
    try:
        answer = json.loads(_get(beacon, f"/{beacon.chain}/public/{number}"))
        said, signature = answer["round"], str(answer["signature"])
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, RecursionError):
        return None
    return signature if said == number and beacon.verifies(number, signature) else None


def _get(beacon: Beacon, path: str) -> bytes:
    """Return the body of an answer with status 200. Follows nobody elsewhere. Raises OSError, HTTPException."""
    url, end = urlsplit(beacon.url), monotonic() + SECONDS
    line = http.client.HTTPSConnection(
        url.hostname or "", url.port or 443, timeout=SECONDS, context=ssl.create_default_context()
    )
    try:
        line.request("GET", url.path + path, headers={"Accept": "application/json"})
        answer, body = line.getresponse(), b""
        if answer.status != http.client.OK:
            raise OSError(f"HTTP {answer.status}")
        while part := answer.read1(LONGEST):
            body += part
            if len(body) > LONGEST or monotonic() > end:
                raise OSError("the answer is too long, or too slow")
        return body
    finally:
        line.close()
