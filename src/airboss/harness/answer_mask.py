"""Keys that a service repeats in its answer, covered on the way to the runtime: that would write
them down where agents can read them."""

import json
from collections.abc import Iterable, Iterator
from typing import Final

_SHORTEST: Final = 8
# Keys of services that need none are words, such as `lm-studio`, which belong into what a model
# writes. Who repeats a key does so in an error.
_SHORTEST_IN_AN_ANSWER: Final = 20
_COVER: Final = b"*"


class AnswerMask:
    """Of one answer, which comes in pieces. What covers a key is as long as the key, so that the
    sizes that were told before stay true."""

    def __init__(self, secrets: Iterable[str] = (), *, is_error: bool = True) -> None:
        shortest = _SHORTEST if is_error else _SHORTEST_IN_AN_ANSWER
        long = {form for secret in secrets if len(secret) >= shortest for form in _forms(secret)}
        self._secrets = tuple(sorted((form.encode() for form in long), key=len, reverse=True))
        # What may be the beginning of one.
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What of it can be told by now."""
        if not self._secrets:
            return piece
        text = self.covered(self._held + piece)
        end = len(text) - max(_begun(text, secret) for secret in self._secrets)
        self._held = text[end:]
        return text[:end]

    def finish(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def covered(self, text: bytes) -> bytes:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, _COVER * len(secret))
        return text


def _forms(secret: str) -> Iterator[str]:
    """As it stands in a text, and in JSON."""
    written = json.dumps(secret)[1:-1]
    yield from (secret, written, written.replace("/", "\\/"))


def _begun(text: bytes, secret: bytes) -> int:
    """How many letters at its end may go on to the secret."""
    place = text.find(secret[:1], max(0, len(text) - len(secret) + 1))
    while place >= 0:
        if secret.startswith(text[place:]):
            return len(text) - place
        place = text.find(secret[:1], place + 1)
    return 0
