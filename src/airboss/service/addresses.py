"""Which addresses are somebody else's on the open internet. Everything in doubt is not.

The special addresses are those of IANA's registries, also the few that can be reached from
everywhere: they belong to protocols, not to receivers of anything.
"""

import ipaddress
from typing import Final

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
        "2001::/23",  # protocols: Teredo, benchmarks, ORCHID, AMT, AS112 and more
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: it leads to an address of IPv4
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # a network for tests, given back
        "3fff::/20",  # documentation
    )
)
# How an address begins its second half where it holds one of IPv4 (ISATAP).
_HOLDS_IPV4: Final = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: str) -> bool:
    """Whether it is somebody else's on the open internet, beyond doubt."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return _is_public_6(found)
        found = found.ipv4_mapped
    return not any(found in network for network in _SPECIAL_4)


def _is_public_6(found: ipaddress.IPv6Address) -> bool:
    """NAT64, mapped and translated addresses, local ones and those to many lie outside of what was
    given out."""
    if found.scope_id is not None or found not in _GIVEN_OUT_6:
        return False
    if int(found) >> 32 & 0xFFFF_FFFF in _HOLDS_IPV4:
        return False
    return not any(found in network for network in _SPECIAL_6)
