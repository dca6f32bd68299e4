"""What people see of a session's extensions: each with its state, what it brings and its words.

It looks at what the host has, and changes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from airboss.extensions.extension import HostedExtension, State
from airboss.extensions.shelf import ExtensionFile, ShelfState

_NOT_LOADED: Final = "It starts with the next reload, or in the next session."


@dataclass(frozen=True)
class SeenExtension:
    """One extension as people see it in a session."""

    file: ExtensionFile
    state: State | ShelfState
    reason: str
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    words: str = ""
    log: str = ""


def seen_of(
    files: Iterable[ExtensionFile], extensions: Iterable[HostedExtension]
) -> Sequence[SeenExtension]:
    """Of these files, each as it runs or, where it does not run, as it lies on the shelf."""
    live = {one.file.path: one for one in extensions}
    return [_seen(file, live.get(file.path)) for file in files]


def with_what_came(
    loaded: Iterable[ExtensionFile],
    found: Iterable[ExtensionFile],
    extensions: Sequence[HostedExtension],
) -> Sequence[SeenExtension]:
    """Beside those that were loaded, what is found now and came, or was trusted, since then."""
    live = {one.file.path for one in extensions}
    running = [file for file in loaded if file.path in live]
    waiting = [
        replace(file, reason=_NOT_LOADED) if file.state == "ready" else file
        for file in found
        if file.path not in live
    ]
    return seen_of([*running, *waiting], extensions)


def _seen(file: ExtensionFile, one: HostedExtension | None) -> SeenExtension:
    if one is None:
        return SeenExtension(file, file.state, file.reason)
    return SeenExtension(
        file,
        one.state,
        one.reason or (file.reason if file.state == "changed" else ""),
        tuple(one.joined.tools) if one.is_there else (),
        tuple(one.joined.hooks),
        one.passing_words,
        one.log,
    )
