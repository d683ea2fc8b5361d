"""The dealer as a process, and its client."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from audit.key_folder import short
from games.dealer import client
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.dealer.protocol import LONGEST, written
from games.engine.commitments import digest_of_stakes
from tests.engine.test_commitments import BINDING
from tests.harness.dealer import dealing

STAKES = digest_of_stakes({"banker": 1000})


@pytest.fixture
def at(tmp_path: Path) -> Iterator[str]:
    """A dealer in a thread; gives its address."""
    with dealing(Dealer(Keys.new(), tmp_path / "shoes"), tmp_path / "socket"):
        yield str(tmp_path / "socket")


@contextmanager
def process(folder: Path, where: str) -> Iterator["subprocess.Popen[str]"]:
    """Run the dealer as a process, with nothing in its environment."""
    arguments = ("-m", "games.dealer", "--folder", str(folder), "--socket", where)
    started = subprocess.Popen(
        [sys.executable, *arguments],
        env={"PATH": os.environ["PATH"]},
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdout
    assert started.stdout.readline().startswith("Dealing as ")
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def play(at: str, value: str = "") -> client.Answer:
    commitment, sealed = client.commit(at, BINDING)
    return again(at, commitment, sealed, value)


def again(at: str, commitment: str, sealed: bytes, value: str = "") -> client.Answer:
    return client.deal(
        at,
        BINDING,
        commitment=commitment,
        sealed=sealed,
        player_value=value,
        stakes=STAKES,
        following=BINDING,
    )


def test_one_call_deals_and_commits_to_the_next_round(at: str) -> None:
    first = play(at)
    second = again(at, first.next_commitment, first.next_sealed)
    assert BINDING.commitment(second.seed) == first.next_commitment
    assert (first.deal, second.deal) == (1, 2)
    state = client.status(at)
    assert (state.epoch, state.key, state.deals) == (first.epoch, first.key, 2)


def test_refusals_have_their_names(at: str) -> None:
    commitment, sealed = client.commit(at, BINDING)
    again(at, commitment, sealed)
    with pytest.raises(client.DealtOtherwise):
        again(at, commitment, sealed, "another value")
    with pytest.raises(client.Expired):
        again(at, commitment, bytes(16) + sealed[16:])
    with pytest.raises(client.Foreign):
        again(at, commitment, sealed[:-1] + bytes([sealed[-1] ^ 1]))
    assert client.status(at).deals == 1


GOOD = {"do": "commit", "binding": written(BINDING)}
BAD: dict[str, Any] = {
    "nothing": "",
    "no object": "[]",
    "no JSON": "{",
    "another wish": json.dumps({"do": "open"}),
    "no binding": json.dumps({"do": "commit"}),
    "nine decks": json.dumps({"do": "commit", "binding": written(BINDING) | {"decks": 9}}),
    "true decks": json.dumps({"do": "commit", "binding": written(BINDING) | {"decks": True}}),
    "no table": json.dumps({"do": "commit", "binding": written(BINDING) | {"table": 0}}),
    "an id with a line": json.dumps({"do": "commit", "binding": written(BINDING) | {"id": "0" * 35 + "\n"}}),
    "rules in capitals": json.dumps({"do": "commit", "binding": written(BINDING) | {"rules": "AB" * 32}}),
    "an unknown purpose": json.dumps({"do": "commit", "binding": written(BINDING) | {"purpose": "other"}}),
    "half a character": json.dumps(
        {"do": "deal", "player_value": "\ud800", "next": None, "binding": written(BINDING), "commitment": "00" * 32}
    ),
    "too deep": "[" * 4000,
}


@contextmanager
def line(at: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as made, short(Path(at)) as name:
        made.settimeout(5)
        made.connect(name)
        yield made


@pytest.mark.parametrize("said", BAD.values(), ids=BAD)
def test_what_is_no_request_is_refused_and_the_dealer_goes_on(at: str, said: str) -> None:
    with line(at) as made:
        made.sendall(said.encode() + b"\n")
        assert json.loads(made.recv(LONGEST))["refused"] == "invalid"
        made.sendall(json.dumps(GOOD).encode() + b"\n")
        assert "commitment" in json.loads(made.recv(LONGEST))


def test_who_never_ends_a_request_is_disconnected(at: str) -> None:
    with line(at) as made:
        made.sendall(b"x" * (2 * LONGEST + 2))
        with pytest.raises(ConnectionError):
            assert made.recv(1) or not made.send(b"x") or not made.send(b"x")
    assert play(at).deal == 1


def test_requests_may_come_in_pieces_and_together(at: str) -> None:
    asked = json.dumps(GOOD).encode() + b"\n"
    with line(at) as made:
        made.sendall(asked[:10])
        made.sendall(asked[10:] + asked + asked[:5])
        made.sendall(asked[5:])
        received = b""
        while received.count(b"\n") < 3:
            received += made.recv(LONGEST)
    assert len({json.loads(each)["commitment"] for each in received.splitlines()}) == 3


def test_who_reads_no_answers_is_disconnected_and_holds_nobody_up(at: str) -> None:
    asked = json.dumps(GOOD).encode() + b"\n"
    with line(at) as made, suppress(ConnectionError):
        for _ in range(1000):
            made.sendall(asked * 100)
        pytest.fail("nobody disconnected it")
    assert play(at).deal == 1


def test_many_threads_are_dealt_to_and_every_deal_has_a_number_of_its_own(at: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        played = list(threads.map(lambda _: play(at), range(80)))
    assert sorted(each.deal for each in played) == list(range(1, 81))


def test_a_connection_that_broke_is_made_again(tmp_path: Path) -> None:
    dealer, at = Dealer(Keys.new(), tmp_path / "shoes"), tmp_path / "socket"
    with dealing(dealer, at):
        commitment, sealed = client.commit(str(at), BINDING)
        first = again(str(at), commitment, sealed)
    with pytest.raises(client.DealerAway):
        again(str(at), commitment, sealed)
    with dealing(dealer, at):
        second = again(str(at), commitment, sealed)
    assert (second.deal, second.cards, second.seed, second.proof) == (first.deal, first.cards, first.seed, first.proof)


def test_where_nobody_listens_the_dealer_is_away(tmp_path: Path) -> None:
    for address in (str(tmp_path / "socket"), str(tmp_path / "none" / "socket"), "127.0.0.1:1"):
        with pytest.raises(client.DealerAway):
            client.status(address)


def test_a_dealer_that_hangs_is_away_after_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SECONDS", 0.05)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen()
        with pytest.raises(client.DealerAway, match="timed out"):
            client.status(str(tmp_path / "socket"))


def test_the_process_keeps_its_keys_and_begins_a_new_epoch(tmp_path: Path) -> None:
    at = str(tmp_path / "run" / "socket")
    (tmp_path / "run").mkdir()
    with process(tmp_path / "dealer", at) as running:
        first = client.status(at)
        commitment, sealed = client.commit(at, BINDING)
        again(at, commitment, sealed)
        running.send_signal(signal.SIGKILL)
        running.wait()
        with pytest.raises(client.DealerAway):
            client.status(at)
    with process(tmp_path / "dealer", at):
        second = client.status(at)
        assert (second.key, second.deals) == (first.key, 0)
        assert second.epoch != first.epoch
        with pytest.raises(client.Expired):
            again(at, commitment, sealed)


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    with process(tmp_path / "dealer", str(tmp_path / "socket")):
        done = subprocess.run(
            [sys.executable, "-m", "games.dealer", "--folder", tmp_path / "dealer", "--socket", tmp_path / "other"],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "The dealer does not start: another dealer works in" in done.stderr


def test_it_can_listen_at_a_port_for_several_machines(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with process(tmp_path / "dealer", f"127.0.0.1:{port}"):
        assert play(f"127.0.0.1:{port}").deal == 1


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("/run/sabot-dealer/socket", None),
        ("/odd:1/socket:7", None),
        ("10.0.0.7:7070", ("10.0.0.7", 7070)),
        ("[::1]:7070", ("::1", 7070)),
        ("socket", None),
    ],
)
def test_an_address_is_a_path_or_host_and_port(at: str, place: tuple[str, int] | None) -> None:
    assert client.tcp_address(at) == place


def test_keys_can_be_made_before_the_first_start(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "games.dealer", "--folder", tmp_path / "dealer", "--make-keys"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"The dealer's public key: {Keys.opened(tmp_path / 'dealer').public}\n"
