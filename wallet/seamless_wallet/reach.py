"""Network filter for partner addresses: connects only to allowed addresses.

It resolves a host name once. Staff type these addresses, and the owner of a name can change its DNS
entry at any time. So a name is resolved once, every answer is checked, and the connection goes to a
checked address.

Connections to the house's own machines and networks and to cloud metadata services are refused,
unless ``PARTNER_NETWORKS`` allows the network. A demo house uses this to play with an operator on
its own machine.
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
SocketAddress = tuple[int, tuple[Any, ...]]  # address family and socket address

# Never allowed, whatever is configured: this machine, link-local addresses and cloud metadata
# services.
NEVER: Final[Sequence[Network]] = tuple(
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "100.100.100.200/32", "224.0.0.0/4"),
        *("::/128", "::1/128", "fe80::/10", "fd00:ec2::254/128", "ff00::/8"),
    )
)
# Not public, although Python's `is_global`, which differs between releases, says so of some. From IANA's registries of
# special addresses: the dummy address (RFC 7600), redirection of DNS (RFC 7534, RFC 7535), multicast relays
# (RFC 7450), relays of 6to4 (RFC 7526), local translators (RFC 8215), dummy networks (RFC 9780), documentation
# (RFC 9637), segment routing (RFC 9602), site-local addresses (RFC 3879), two old notations of IPv4 (RFC 4291,
# RFC 2765).
NOBODYS: Final[Sequence[Network]] = tuple(
    ip_network(network)
    for network in (
        *("192.0.0.8/32", "192.31.196.0/24", "192.175.48.0/24", "192.52.193.0/24", "192.88.99.0/24"),
        *("2620:4f:8000::/48", "64:ff9b:1::/48", "100:0:0:1::/64", "3fff::/20", "5f00::/16", "fec0::/10"),
        *("::/96", "::ffff:0:0:0/96"),
    )
)
UNICAST: Final = ip_network("2000::/3")  # the only IPv6 addresses that are given out (RFC 4291)
TRANSLATED: Final = ip_network("64:ff9b::/96")  # IPv4 through a translator (RFC 6052)


class OutOfReach(OSError):
    """The house does not connect to this address."""


def networks() -> list[Network]:
    """Return the networks allowed in addition to public ones.

    Raises ValueError for an invalid setting.
    """
    return [ip_network(network) for network in settings.PARTNER_NETWORKS]


def is_reachable(address: Address) -> bool:
    """Return whether *address* is public or in ``PARTNER_NETWORKS``."""
    if any(address in network for network in networks()):
        return True
    if any(address in network for network in NOBODYS):
        return False
    if isinstance(address, IPv6Address) and address not in UNICAST and not _inside(address):
        return False
    return all(each.is_global and not each.is_multicast for each in (address, *_inside(address)))


def demand_literal(host: str) -> None:
    """Refuse a *host* that is a literal IP address out of reach. Raises OutOfReach.

    A name is only resolved and checked on connection.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return
    if not is_reachable(address):
        raise OutOfReach(f"{host} is not a public address")


def socket_addresses(host: str, port: int, seconds: float) -> list[SocketAddress]:
    """Resolve *host* once and return all its addresses.

    Raises OutOfReach if any address is not allowed, OSError if the name is not resolved within
    *seconds*.
    """
    found = _asked(host, port, seconds)
    for _, socket_address in found:
        if not is_reachable(ip_address(socket_address[0])):
            raise OutOfReach(f"{host} leads to {socket_address[0]}, which is not a public address")
    return found


def line_to(found: Sequence[SocketAddress], seconds: float) -> socket.socket:
    """Return a connection to the first address that accepts, within *seconds* in total.

    Raises OSError.
    """
    end, failed = monotonic() + seconds, OSError("there is no address")
    for family, socket_address in found:
        line = socket.socket(family, socket.SOCK_STREAM)
        try:
            line.settimeout(max(end - monotonic(), 0.001))
            line.connect(socket_address)
        except OSError as error:
            line.close()
            failed = error
        else:
            line.settimeout(seconds)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return line
    raise failed


def _asked(host: str, port: int, seconds: float) -> list[SocketAddress]:
    """Resolve a name in a thread, because the system resolver has no configurable timeout."""
    said: Future[list[SocketAddress]] = Future()

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            said.set_result([(family, socket_address) for family, _, _, _, socket_address in answers])
        except Exception as error:  # noqa: BLE001  (a thread has no caller to raise to)
            said.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    return said.result(seconds)


def _inside(address: Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that an IPv6 address contains."""
    if isinstance(address, IPv4Address):
        return []
    translated = [IPv4Address(int(address) & 0xFFFFFFFF)] if address in TRANSLATED else []
    return [each for each in (address.ipv4_mapped, address.sixtofour, *translated) if each]
