"""Where partners' addresses may lead. Staff type them and whoever holds the name decides what it means, any time: so a
name is asked for once, every answer is looked at, and the line goes to what was looked at.

Nothing of the house's own machines and networks is reached that way, nor what a cloud tells its machines about
themselves, unless ``PARTNER_NETWORKS`` names the network: a demo house plays with an operator on its own machine.
"""

import socket
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from time import monotonic
from typing import Any, Final

from django.conf import settings

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address
Place = tuple[int, tuple[Any, ...]]  # a family of addresses, and an address as sockets take it

# Never a partner's, whatever is configured: this machine, its own link, and where clouds tell machines their secrets.
NEVER: Final[Sequence[Network]] = tuple(
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "100.100.100.200/32", "224.0.0.0/4"),
        *("::/128", "::1/128", "fe80::/10", "fd00:ec2::254/128", "ff00::/8"),
    )
)
# Nobody's on the public network, though what Python calls global differs from release to release: translators of a
# site's own (RFC 8215), sites as they once were (RFC 3879), and two old ways of writing IPv4 (RFC 4291, RFC 2765).
NOBODYS: Final[Sequence[Network]] = tuple(
    ip_network(network) for network in ("64:ff9b:1::/48", "fec0::/10", "::/96", "::ffff:0:0:0/96")
)
TRANSLATED: Final = ip_network("64:ff9b::/96")  # IPv4 behind a translator (RFC 6052)


class OutOfReach(OSError):
    """The house does not speak to where an address leads."""


def networks() -> list[Network]:
    """Return the networks that partners may be in besides the public ones. Raises ValueError where one is none."""
    return [ip_network(network) for network in settings.PARTNER_NETWORKS]


def is_reachable(address: Address) -> bool:
    """Say whether the house speaks to *address*: a public one, or in ``PARTNER_NETWORKS``."""
    if any(address in network for network in networks()):
        return True
    if any(address in network for network in NOBODYS):
        return False
    return all(each.is_global and not each.is_multicast for each in (address, *_inside(address)))


def demand_literal(host: str) -> None:
    """Refuse a *host* that is written as an address out of reach; what a name means is asked when it is called. Raises
    OutOfReach.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return
    if not is_reachable(address):
        raise OutOfReach(f"{host} is not a public address")


def places(host: str, port: int, seconds: float) -> list[Place]:
    """Ask once what *host* means and return all of it. Raises OutOfReach where any of it is out of reach, OSError where
    nobody knows it within *seconds*.
    """
    found = _asked(host, port, seconds)
    for _, place in found:
        if not is_reachable(ip_address(place[0])):
            raise OutOfReach(f"{host} leads to {place[0]}, which is not a public address")
    return found


def line_to(found: Sequence[Place], seconds: float) -> socket.socket:
    """Return a line to the first of these that answers, within *seconds* for all. Raises OSError."""
    end, failed = monotonic() + seconds, OSError("there is no address")
    for family, place in found:
        line = socket.socket(family, socket.SOCK_STREAM)
        try:
            line.settimeout(max(end - monotonic(), 0.001))
            line.connect(place)
        except OSError as error:
            line.close()
            failed = error
        else:
            line.settimeout(seconds)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return line
    raise failed


def _asked(host: str, port: int, seconds: float) -> list[Place]:
    """Ask what a name means, in a thread: the machine's resolver has no time limit of ours."""
    said: Future[list[Place]] = Future()

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            said.set_result([(family, place) for family, _, _, _, place in answers])
        except Exception as error:  # noqa: BLE001  (a thread has nobody to raise to)
            said.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    return said.result(seconds)


def _inside(address: Address) -> list[IPv4Address]:
    """Return the addresses that one of IPv6 stands for."""
    if isinstance(address, IPv4Address):
        return []
    translated = [IPv4Address(int(address) & 0xFFFFFFFF)] if address in TRANSLATED else []
    return [each for each in (address.ipv4_mapped, address.sixtofour, *translated) if each]
