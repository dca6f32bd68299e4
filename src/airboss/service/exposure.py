"""Whether a server may be reached the way its settings say. Pure: nothing is opened here."""

import re
from ipaddress import IPv6Address, ip_address

from airboss.errors import SettingsInvalid
from airboss.settings import Settings

_HOST = re.compile(
    r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)(?::(\d{1,5}))?"
)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address. What is not certain is not loopback."""
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def is_any_address(host: str) -> bool:
    """Whether this means every address of the machine, and so is nobody's name for it."""
    try:
        return not host or ip_address(host.removeprefix("[").removesuffix("]")).is_unspecified
    except ValueError:
        return False


def check_exposure(settings: Settings, token_is_set: bool) -> None:
    """Refuses to serve anybody beyond this machine before somebody decided who and how."""
    _check_names(settings.hosts)
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise SettingsInvalid("TLS needs both tls_certificate and tls_key, but only one is set.")
    if settings.no_token:
        _check_no_token(settings)
    if is_loopback(settings.host):
        return
    place = f"--host {settings.host or '(empty)'} can be reached from other machines"
    if not token_is_set:
        raise SettingsInvalid(
            f"{place}, so it needs a token. Set AIRBOSS_TOKEN, or create one with "
            "`airboss token add NAME`. Or leave out --host to allow this machine only."
        )
    if settings.tls_certificate is None and not settings.trusted_proxy:
        raise SettingsInvalid(
            f"{place}, and everything, including the token, would be sent unencrypted. Set "
            "tls_certificate and tls_key, or trusted_proxy if a proxy handles TLS. "
            "Or leave out --host to allow this machine only."
        )


def _check_no_token(settings: Settings) -> None:
    if not is_loopback(settings.host):
        raise SettingsInvalid(
            f"--no-token works only on loopback, and --host {settings.host or '(empty)'} is not "
            "loopback. Remove one of them."
        )
    beyond = next((name for name in settings.hosts if not is_loopback(_without_port(name))), None)
    if settings.trusted_proxy or beyond:
        named = f"the name {beyond!r} in hosts" if beyond else "trusted_proxy"
        raise SettingsInvalid(
            f"--no-token works only on loopback, and {named} allows access from elsewhere. "
            "Remove one of them."
        )


def _check_names(hosts: tuple[str, ...]) -> None:
    for name in hosts:
        match = _HOST.fullmatch(name)
        if not match or int(match[1] or 1) not in range(1, 65536):
            raise SettingsInvalid(
                f"hosts: {name!r} is not a host name. Write it as browsers send it: "
                "`portal.example`, or `portal.example:8443` if the address has a port."
            )


def _without_port(name: str) -> str:
    return name.partition("]")[0] if name.startswith("[") else name.partition(":")[0]
