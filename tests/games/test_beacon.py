"""Rounds of a public beacon: published ones of drand are verified, everything else is refused."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from games import beacon
from games.beacon import Beacon
from ops.checks import check_production
from tests.beacon_server import BeaconServer, beacon_server
from tests.vectors import BEACONS

ROUNDS = BEACONS["rounds"]
QUICKNET = Beacon("", BEACONS["chain"], BEACONS["public_key"], BEACONS["genesis"], BEACONS["period"])
NUMBER, SIGNATURE = ROUNDS[0]["round"], ROUNDS[0]["signature"]
FIELD = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB


@pytest.mark.parametrize("published", ROUNDS, ids=lambda each: str(each["round"]))
def test_a_published_round_is_verified_and_no_other_number_has_its_signature(published):
    assert sha256(bytes.fromhex(published["signature"])).hexdigest() == published["randomness"]
    assert QUICKNET.verifies(published["round"], published["signature"])
    assert not QUICKNET.verifies(published["round"] + 1, published["signature"])


def outside_of_the_group() -> str:
    """Return a point of the curve that is not in the group of signatures."""
    x = next(x for x in range(5, 100) if pow(x**3 + 4, (FIELD - 1) // 2, FIELD) == 1)
    return (x | 1 << 383).to_bytes(48, "big").hex()


@pytest.mark.parametrize(
    "signature",
    [
        ROUNDS[1]["signature"],
        "c0" + "00" * 47,  # the point at infinity
        outside_of_the_group(),
        SIGNATURE.upper(),  # one round has one line
        SIGNATURE[:-2],
        SIGNATURE + "00",
        "no hex",
        "",
    ],
)
def test_nothing_else_is_a_signature(signature):
    assert not QUICKNET.verifies(NUMBER, signature)


def test_another_network_has_other_signatures():
    generator = Beacon("", QUICKNET.chain, beacon.GENERATOR.hex(), QUICKNET.genesis, QUICKNET.period)
    assert not generator.verifies(NUMBER, SIGNATURE)


@pytest.mark.parametrize("seconds", [0, 0.001, 1, 2.999, 3, 3.001, 1e8])
def test_the_chosen_round_does_not_exist_yet_and_is_the_next_one(seconds):
    moment = datetime.fromtimestamp(QUICKNET.genesis, UTC) + timedelta(seconds=seconds)
    number = QUICKNET.round_after(moment)
    assert QUICKNET.comes_at(number - 1) <= moment < QUICKNET.comes_at(number)
    assert QUICKNET.round_after(datetime(2020, 1, 1, tzinfo=UTC)) == 1


class TestAsking:
    @pytest.fixture
    def server(self, tmp_path: Path, monkeypatch):
        with beacon_server(tmp_path) as server:
            monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
            yield server

    def ask(self, server: BeaconServer) -> str | None:
        return beacon.fetch(Beacon(server.url, QUICKNET.chain, QUICKNET.public_key, QUICKNET.genesis, 3), NUMBER)

    def test_gives_the_signature_once_the_round_has_come(self, server):
        assert self.ask(server) is None
        server.publish(NUMBER)
        assert self.ask(server) == SIGNATURE

    @pytest.mark.parametrize(
        "other", [{"signature": ROUNDS[1]["signature"]}, {"round": NUMBER + 1}, {"signature": 7}, {"signature": None}]
    )
    def test_takes_no_answer_that_is_wrong(self, server, other):
        server.publish(NUMBER, **other)
        assert self.ask(server) is None

    @pytest.mark.parametrize(
        "answer", [(302, b""), (500, b"{}"), (200, b"[" * 9_000), (200, b"[]"), (200, b"\xff"), (200, b" " * 20_000)]
    )
    def test_takes_nothing_that_is_no_answer(self, server, answer):
        server.publish(NUMBER)
        server.answers["/elsewhere"] = server.answers[path := f"/{QUICKNET.chain}/public/{NUMBER}"]
        server.answers[path] = answer
        assert self.ask(server) is None

    def test_takes_nothing_from_a_server_whose_certificate_nobody_trusts(self, server, monkeypatch):
        server.publish(NUMBER)
        monkeypatch.delenv("SSL_CERT_FILE")
        assert self.ask(server) is None

    def test_takes_nothing_from_a_server_that_is_away(self, server):
        url, _ = server.url, server.shutdown()
        server.server_close()
        assert beacon.fetch(Beacon(url, QUICKNET.chain, QUICKNET.public_key, QUICKNET.genesis, 3), NUMBER) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BEACON_URL", "http://beacon.example"),
        ("BEACON_CHAIN", "quicknet"),
        ("BEACON_PUBLIC_KEY", "ab"),
        ("BEACON_SECONDS", 2.0),
        ("BEACON_SECONDS", 31.0),
    ],
)
def test_a_production_does_not_start_with_a_beacon_that_cannot_work(settings, name, value):
    settings.DEMO, settings.BEACON_URL = False, "https://beacon.example"
    assert not [found for found in check_production(None) if found.id == "sabot.E031"]
    setattr(settings, name, value)
    assert [found for found in check_production(None) if found.id == "sabot.E031"]
