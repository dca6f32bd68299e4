"""Server-sent events as they come over the wire, and the frames of the feed."""

from collections.abc import Iterable, Iterator


def sent_events(chunks: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Server-sent events as (name, data). Lines end as the protocol says, not as Unicode does."""
    name, data = "message", list[str]()
    for line in _lines(chunks):
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", errors="replace")
