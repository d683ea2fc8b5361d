"""Requests to addresses that staff enter and partners own: none reaches an internal machine, for any
address that its name resolves to, and redirects are not followed.
"""

import http.client
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address, ip_network

import pytest

from ops.checks import check_production
from tests.harness.product import modules
from tests.people import a_member_of_staff
from wallet.models import PartnerKind
from wallet.operator_wallet import operators
from wallet.seamless_wallet import messages, partners, reach

ASKED = messages.Bet(player="p", game="g", round="r", transaction="t", currency="SEK", amount=100, session="s")
INSIDE = (
    *("127.0.0.1", "127.1.2.3", "0.0.0.1", "10.0.0.5", "172.16.9.9", "192.168.1.1", "100.64.0.1", "192.0.0.1"),
    *("169.254.169.254", "100.100.100.200", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.5"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:db8::1"),
    *("64:ff9b:1::7f00:1", "64:ff9b:1:ffff::a00:1", "64:ff9b:1::101:101", "fec0::1", "feff::1"),
    *("::127.0.0.1", "::10.0.0.5", "::1.1.1.1", "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.5", "::ffff:0:1.1.1.1"),
    *("192.0.0.8", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1"),  # IANA's special addresses
    *("100:0:0:1::1", "3fff::1", "5f00::1", "2620:4f:8000::1", "4000::1", "8000::1"),
)
OUTSIDE = ("93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101", "2002:101:101::")
# Spellings of this machine's address that a check of the text alone does not recognise.
DISGUISED = ("127.1", "2130706433", "0x7f000001", "017700000001", "localhost")


@pytest.fixture
def far_from_home(settings) -> None:
    """A house that calls no internal networks, as in production."""
    settings.PARTNER_NETWORKS = []


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_inside_is_out_of_reach(address, far_from_home):
    assert not reach.is_reachable(ip_address(address))


@pytest.mark.parametrize("address", OUTSIDE)
def test_what_is_public_is_not(address, far_from_home):
    assert reach.is_reachable(ip_address(address))


def test_a_private_connection_to_an_operator_is_named_and_nothing_else_is_allowed(settings):
    settings.PARTNER_NETWORKS = ["10.20.0.0/16"]
    assert reach.is_reachable(ip_address("10.20.3.4"))
    assert not reach.is_reachable(ip_address("10.21.3.4"))


@pytest.mark.parametrize("host", DISGUISED)
def test_no_disguise_of_this_machine_is_called(host, far_from_home):
    with pytest.raises(reach.OutOfReach):
        reach.socket_addresses(host, 443, 5)


class _Elsewhere(BaseHTTPRequestHandler):
    """Redirects callers elsewhere on this machine, and counts who comes."""

    server: "_Server"

    def do_POST(self) -> None:
        """Answer with the way to go."""
        self.server.seen.append(self.path)
        self.send_response(307)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/inside")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """Answer as to a POST."""
        self.do_POST()

    def log_message(self, *said: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    """Listens on this machine, and records the requests."""

    seen: list[str]


@contextmanager
def on_this_machine() -> Iterator[_Server]:
    """A server that must not be called."""
    with _Server(("127.0.0.1", 0), _Elsewhere) as server:
        server.seen = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


@pytest.fixture
def names(monkeypatch) -> list[str]:
    """Each lookup of operator.example gets the next address of this list. Other lookups get
    the true answer. It replaces a name server of somebody else.
    """
    shown: list[str] = []
    true = socket.getaddrinfo

    def said(host, port, *args, **more):
        if host != "operator.example":
            return true(host, port, *args, **more)
        return true(shown.pop(0) if len(shown) > 1 else shown[0], port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", said)
    return shown


def ask(address: str) -> messages.Done:
    return operators.send(operators.Operator(address, "k", "s"), ASKED, messages.Done, at=1)


@pytest.mark.parametrize("inside", ["127.0.0.1", "169.254.169.254", "::ffff:127.0.0.1"])
def test_a_name_that_leads_inside_is_not_called(names, far_from_home, settings, inside):
    settings.DEMO = False
    names.append(inside)
    with pytest.raises(operators.NoAnswer, match="not a public address"):
        ask("https://operator.example/")


def test_a_name_that_resolves_differently_the_second_time_leads_to_the_checked_address(names, settings):
    """The first answer is looked at and called; a second would be this machine's port that nobody else may reach."""
    settings.PARTNER_NETWORKS = ["127.0.0.2/32"]  # represents public addresses
    with on_this_machine() as server:
        names += ["127.0.0.2", "127.0.0.1"]
        line = operators._Line("operator.example", server.server_port, None)
        with pytest.raises(OSError, match="refused"):  # nobody listens at 127.0.0.2
            line.connect()
        assert names == ["127.0.0.1"]  # it was asked once
        with pytest.raises(reach.OutOfReach):  # and the next time it is looked at again
            operators._Line("operator.example", server.server_port, None).connect()
        assert server.seen == []
        naive = http.client.HTTPConnection("operator.example", server.server_port)
        naive.request("GET", "/inside")  # what a library does by itself gets there
        assert naive.getresponse().status == 307
        naive.close()


def test_an_answer_that_leads_elsewhere_is_not_followed():
    with on_this_machine() as server:
        with pytest.raises(operators.NoAnswer, match="HTTP 307"):
            ask(f"http://127.0.0.1:{server.server_port}/wallet/")
        assert server.seen == ["/wallet/bet/"]


def test_gli19_b_5_1_https_peers_show_their_identity():
    trusted = operators._trust()
    assert (trusted.verify_mode, trusted.check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.sweep
def test_no_proxy_of_the_machine_is_used(monkeypatch):
    """A proxy would look up the name by itself."""
    with on_this_machine() as server, on_this_machine() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.server_port}/")
        with pytest.raises(operators.NoAnswer):
            ask(f"http://127.0.0.1:{server.server_port}/")
        assert (len(server.seen), proxy.seen) == (1, [])


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["https://10.0.0.5/wallet/", "https://[::1]/wallet/", "https://169.254.169.254/"])
def test_staff_cannot_even_ask_for_one_that_is_written_out(address, settings, far_from_home):
    settings.DEMO = False
    with pytest.raises(partners.BadAddress, match="This URL is not allowed"):
        partners.ask_to_add(
            code="inside",
            name="Inside",
            kind=PartnerKind.OPERATOR,
            address=address,
            per_minute=60,
            reason="for a test",
            by=a_member_of_staff("finance"),
        )


NETWORKS = {
    "": False,
    "10.20.0.0/16": False,
    "fd12:3456::/32": False,
    "127.0.0.0/8": True,
    "0.0.0.0/0": True,
    "::/0": True,
    "169.254.0.0/16": True,
    "::1/128": True,
    "10.20.0.1/16": True,  # no network
    "operator.example": True,
}


@pytest.mark.parametrize(("network", "is_fault"), NETWORKS.items())
def test_a_production_house_starts_with_none_that_holds_itself(network, is_fault, settings):
    settings.DEMO, settings.PARTNER_NETWORKS = False, [network] if network else []
    assert ("sabot.E019" in [fault.id for fault in check_production(None)]) is is_fault


def test_a_demo_says_that_it_calls_itself(settings):
    assert {ip_network(each) for each in settings.PARTNER_NETWORKS} <= set(reach.NEVER)


# Modules that call other machines, and their destinations. The last two call what the operator has configured.
CALLERS = {
    "wallet.operator_wallet.operators": "operators, through `wallet.seamless_wallet.reach`",
    "wallet.seamless_wallet.reach": "the same",
    "wallet.sandbox_bank.orders": "the demo's bank, to this house itself",
    "audit.sealing.checkpoint_delivery": "AUDIT_CHECKPOINTS_TO",
    "audit.sealing.witnesses": "AUDIT_WITNESSES",
    "games.beacon": "BEACON_URL",
    "players.mail": "EMAIL_URL",
    "ops.launcher": "its own port",
    "ops.fork_server": "its own port",
    "ops.http.server": "the port that its launcher opened",
    "ops.management.commands.healthy": "its own port",
    "ops.beat": "nobody: it asks for this machine's name",
    "ops.embedded.servers": "its own socket",
    "games.dealer.client": "DEALER, a socket or a port of another machine of the house",
    "games.dealer.server": "its own port",
    "audit.key_folder": "the socket of the signer or of the dealer",
    "audit.sealing.signer": "its own socket",
    "audit.sealing.signing": "AUDIT_SIGNER, a socket",
}
CALLS = re.compile(
    r"^\s*(?:import|from) (?:requests|httpx|urllib3|urllib\.request|http\.client|smtplib|socket|ftplib|aiohttp)\b",
    re.MULTILINE,
)


def test_nobody_else_speaks_to_other_machines():
    found = {name for name, path in modules() if CALLS.search(path.read_text())}
    assert found == set(CALLERS)
