"""Which addresses are somebody else's on the open internet. Everything in doubt is not.

The special addresses are those of IANA's registries, also the few that can be reached from
everywhere: they belong to protocols, not to receivers of anything. An address that holds one of
IPv4 is what that one is.
"""

import ipaddress
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Final

# Names that mean this machine or this network, whatever they lead to.
_LOCAL_NAMES: Final = frozenset({"localhost", "localhost.localdomain"})
_LOCAL_ENDINGS: Final = (".localhost", ".local", ".internal")
# Where a cloud's machines ask about themselves, and get its keys.
_METADATA_NAMES: Final = frozenset({"metadata", "metadata.google.internal"})
_METADATA: Final = (
    ipaddress.ip_network("168.63.129.16/32"),
    ipaddress.ip_network("169.254.0.0/16"),
    ipaddress.ip_network("100.100.100.200/32"),
    ipaddress.ip_network("192.0.0.192/32"),
    ipaddress.ip_network("fd00:ec2::/32"),
    ipaddress.ip_network("fd20:ce::/32"),
)
_SPECIAL_4: Final = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by providers, and by private networks over the internet
        "127.0.0.0/8",  # this machine
        "168.63.129.16/32",  # where a cloud's machines ask about themselves
        "169.254.0.0/16",  # this link, and where clouds' machines ask about themselves
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols, NAT64 and DS-Lite among them
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # to many
        "240.0.0.0/4",  # reserved, and to all
    )
)
# All addresses of single hosts that were ever given out.
_GIVEN_OUT_6: Final = ipaddress.IPv6Network("2000::/3")
_SPECIAL_6: Final = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocols: benchmarks, ORCHID, AMT, AS112 and more
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # a network for tests, given back
        "3fff::/20",  # documentation
    )
)
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
# Of one's own network: the address lies behind any of several lengths of it.
_OWN_NAT64: Final = ipaddress.IPv6Network("64:ff9b:1::/48")
# How an address begins its second half where it holds one of IPv4 (ISATAP).
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: str) -> bool:
    """Whether it is somebody else's on the open internet, beyond doubt."""
    found = _read(address)
    if found is None:
        return False
    if isinstance(found, IPv4Address):
        return _is_public_4(found)
    inner = list(_inside(found))
    if inner:
        return all(map(_is_public_4, inner))
    return _is_public_6(found)


def is_metadata(address: str) -> bool:
    """Whether a cloud's machines get its keys there: nobody is sent to it, whatever is allowed."""
    found = _read(address)
    if found is None:
        return False
    if isinstance(found, IPv4Address):
        return _is_metadata(found)
    return any(map(_is_metadata, (found, *_inside(found), *_isatap(found))))


def is_local_name(host: str) -> bool:
    name = _plain(host)
    return name in _LOCAL_NAMES or name.endswith(_LOCAL_ENDINGS) or is_metadata_name(name)


def is_metadata_name(host: str) -> bool:
    return _plain(host) in _METADATA_NAMES


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _read(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None


def _is_metadata(found: IPv4Address | IPv6Address) -> bool:
    return any(found.version == network.version and found in network for network in _METADATA)


def _is_public_4(found: IPv4Address) -> bool:
    return not any(found in network for network in _SPECIAL_4)


def _is_public_6(found: IPv6Address) -> bool:
    """Local ones, translated ones and those to many lie outside of what was given out."""
    if found.scope_id is not None or found not in _GIVEN_OUT_6:
        return False
    if not all(map(_is_public_4, _isatap(found))):
        return False
    return not any(found in network for network in _SPECIAL_6)


def _inside(found: IPv6Address) -> Iterator[IPv4Address]:
    """The addresses of IPv4 that it leads to, where it is nothing but a way to them."""
    number = int(found)
    if found.ipv4_mapped is not None:
        yield found.ipv4_mapped
    elif found.sixtofour is not None:
        yield found.sixtofour
    elif found.teredo is not None:
        yield from found.teredo
    elif found in _OWN_NAT64:
        yield IPv4Address(number & 0xFFFF_FFFF)
        yield IPv4Address((number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF)
    elif found in _NAT64 or (found in _COMPATIBLE and number > 1):
        yield IPv4Address(number & 0xFFFF_FFFF)


def _isatap(found: IPv6Address) -> Iterator[IPv4Address]:
    if int(found) >> 32 & 0xFFFF_FFFF in _ISATAP:
        yield IPv4Address(int(found) & 0xFFFF_FFFF)
