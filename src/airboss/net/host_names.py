"""The names of hosts, as the network knows them, and which of them a pattern means."""

import ipaddress
import re
from typing import Final

# The longest name that the network knows; what is longer is none.
_LONGEST_HOST: Final = 255
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# One way of writing these leads to one host, another to another.
_AMBIGUOUS: Final = re.compile("[ßẞς\u200c\u200d]")


def host_name(host: str) -> str | None:
    """A name as the network knows it: in small letters, IDNA, without the last dot."""
    if len(host) > _LONGEST_HOST or _AMBIGUOUS.search(host):
        return None
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None
    labels = name.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        return plain_address(name) if ":" in name else None
    # 2130706433 and 0x7f.1 are 127.0.0.1 to a browser.
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        return plain_address(name)
    return name


def plain_address(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None


def host_fits(pattern: str, host: str) -> bool:
    """`*.example.com` is every host below example.com; `*` is every host."""
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and host != pattern[1:]
    return host == pattern
