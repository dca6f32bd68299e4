"""The names a server answers to, exactly as browsers send them, and the origin of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from airboss.service.exposure import is_any_address
from airboss.settings import Settings

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class ServedNames:
    """`origins` says for each value of `Host` where a page of ours that sends it came from."""

    origins: Mapping[bytes, str]

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(host.decode() for host in self.origins)

    def origin_of(self, host: bytes) -> str | None:
        """None for a name that is not ours: a page of somebody else's may be behind it."""
        return self.origins.get(host)


def served_names(settings: Settings, port: int) -> ServedNames:
    """`port` is the one that was bound, which `settings.port` need not be."""
    own = "https" if settings.tls_certificate else "http"
    # A proxy ends TLS for the names it serves; on loopback nobody stands in between.
    fronted = "https" if settings.trusted_proxy else own
    origins: dict[bytes, str] = {}
    for name in (*_LOOPBACK, *_bound(settings.host)):
        origins[f"{name}:{port}".encode()] = f"{own}://{name}:{port}"
        if port == {"http": 80, "https": 443}[own]:
            origins[name.encode()] = f"{own}://{name}"
    for name in settings.hosts:
        origins[name.lower().encode()] = f"{fronted}://{name.lower()}"
    return ServedNames(origins)


def _bound(host: str) -> tuple[str, ...]:
    """An address that was chosen is a name, too."""
    if is_any_address(host):
        return ()
    bare = host.lower().removeprefix("[").removesuffix("]")
    return (f"[{bare}]" if ":" in bare else bare,)
