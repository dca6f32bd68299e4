"""The files beside an entry that it names, and that are trusted with it: those of its skills, and
those that its MCP servers and hooks run."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, overload

from airboss import strange_files
from airboss.errors import Invalid
from airboss.harness.hook_plan import digests_of
from airboss.harness.servers import SCRIPT_JOINT, scripts_in
from airboss.harness.skills import skill_files
from airboss.model.setup import HookSetup, Setup

if TYPE_CHECKING:
    from airboss.entry.document import Entry, Task
    from airboss.entry.document import Hook as EntryHook
    from airboss.service.trust import Trust

_MOST_FILES: Final = 1_000
_OF_THE_SYSTEM: Final = ("/usr/", "/bin/", "/sbin/", "/opt/", "/lib")
_MOST_BYTES: Final = 20_000_000
_LARGEST_PROGRAM: Final = 1 << 30
# Whether it had to be trusted, and what is said of it by now.
_ANOTHER: Final = {
    True: "is not, or no longer, what was trusted. Only files below the folder of the entry are "
    "trusted with it. Read it, then run `airboss trust` for the entry again.",
    False: "is not what it was when the session was opened. Put it back, or start a new session.",
}


def with_whole_paths(entry: "Entry", folder: Path) -> "Entry":
    """Its folders of skills and the files that its MCP servers and hooks run, as they are named
    from anywhere: relative ones begin at the folder of its file."""
    tasks = {
        name: task.model_copy(update=_whole_parts(task, folder))
        for name, task in entry.tasks.items()
        if _names_files(task)
    }
    if not tasks and not _names_files(entry):
        return entry
    changed = {**_whole_parts(entry, folder), "tasks": {**entry.tasks, **tasks}}
    return entry.model_copy(update=changed)


def _names_files(part: "Entry | Task") -> bool:
    return bool(part.skills or part.mcp_servers or part.hooks)


def _whole_parts(part: "Entry | Task", folder: Path) -> dict[str, object]:
    servers = part.mcp_servers and {
        name: server
        if server.command is None
        else server.model_copy(update={"command": _whole_command(server.command, folder)})
        for name, server in part.mcp_servers.items()
    }
    hooks = _whole_hooks(part.hooks, folder)
    return {"skills": _whole(part.skills, folder), "mcp_servers": servers, "hooks": hooks}


def _whole_command(command: Sequence[str], folder: Path) -> tuple[str, ...]:
    return tuple(
        _whole_word(word, folder, is_first=not index) for index, word in enumerate(command)
    )


def _whole_word(word: str, folder: Path, *, is_first: bool) -> str:
    """What names a file beside the entry: a program by a path, or a word that is one's name. The
    joint tells such from a path that was whole before."""
    if not word or os.path.isabs(word):
        return word
    is_program = is_first and "/" in word
    if not is_program and (word.startswith("-") or not os.path.isfile(folder / word)):
        return word
    return f"{folder}{SCRIPT_JOINT}{os.path.normpath(word)}"


def _whole_hooks(
    hooks: "Mapping[str, tuple[EntryHook, ...]] | None", folder: Path
) -> "dict[str, tuple[EntryHook, ...]] | None":
    if hooks is None:
        return None
    return {
        name: tuple(
            hook.model_copy(
                update={
                    "command": hook.command
                    and tuple(
                        _whole_hook_word(word, folder, is_program=index == 0)
                        for index, word in enumerate(hook.command)
                    ),
                    "python": hook.python and _whole((hook.python,), folder)[0],
                }
            )
            for hook in listed
        )
        for name, listed in hooks.items()
    }


def _whole_hook_word(word: str, folder: Path, *, is_program: bool) -> str:
    """A program with a slash in it is a file; of the other words, those that name one."""
    path = os.path.normpath(folder / _expanded(word))
    is_file = "/" in word if is_program else bool(word) and os.path.isfile(path)
    return path if is_file else word


@overload
def _whole(words: Sequence[str], folder: Path) -> tuple[str, ...]: ...


@overload
def _whole(words: None, folder: Path) -> None: ...


def _whole(words: Sequence[str] | None, folder: Path) -> tuple[str, ...] | None:
    if words is None:
        return None
    return tuple(os.path.normpath(folder / _expanded(word)) for word in words)


def _expanded(word: str) -> Path:
    try:
        return Path(word).expanduser()
    except RuntimeError:  # there is no such home
        return Path(word)


def named_files(entry: "Entry", folder: Path) -> list[Path]:
    """Sorted, each once; of folders that are not there, none. Of the files of hooks those below
    `folder`, which is the entry's: programs of the system are not the entry's own."""
    parts: list[Entry | Task] = [entry, *entry.tasks.values()]
    folders = {word for part in parts for word in part.skills or ()}
    servers = [server for part in parts for server in (part.mcp_servers or {}).values()]
    scripts = {Path(word) for server in servers for word in scripts_in(server.command or ())}
    hooks = [hook for part in parts for found in (part.hooks or {}).values() for hook in found]
    own = {Path(file) for hook in hooks for file in _scripts(hook) if _is_below(file, folder)}
    skills = files_of_skills([Path(word) for word in folders if os.path.isabs(word)])
    return sorted({*skills, *own, *(file for file in scripts if os.path.isfile(file))})


def _scripts(hook: "EntryHook") -> Iterator[str]:
    if hook.python is not None:
        yield hook.python.rpartition(":")[0]
    yield from (word for word in hook.command or () if os.path.isabs(word))


def _is_below(file: str, folder: Path) -> bool:
    real = os.path.realpath(folder)
    return os.path.isfile(file) and os.path.commonpath([os.path.realpath(file), real]) == real


def files_of_skills(folders: Sequence[Path]) -> list[Path]:
    found = {file for folder in folders for file in _files_in(folder)}
    if len(found) > _MOST_FILES or sum(map(_size, found)) > _MOST_BYTES:
        named = ", ".join(map(str, folders))
        raise Invalid(
            f"The skills in {named} have more than {_MOST_FILES} files or {_MOST_BYTES // 10**6} MB"
            " together. Name a folder that has skills only."
        )
    return sorted(found)


def _files_in(folder: Path) -> Iterator[Path]:
    """All that lies around each skill: it may have its agent read or run that."""
    for skill in skill_files(folder):
        for at, _, names in os.walk(os.path.realpath(skill.parent)):
            yield from (Path(at, name) for name in names)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def digest_of_file(file: Path) -> str:
    """Empty for one that is not readable: nobody has trusted that."""
    try:
        return strange_files.digest(file, _LARGEST_PROGRAM)
    except OSError:
        return ""


async def first_untrusted(trust: "Trust", files: Sequence[Path]) -> Path | None:
    """The first of them that nobody trusts as it is now."""
    if not files:
        return None
    digests = await asyncio.to_thread(lambda: [digest_of_file(file) for file in files])
    for file, digest in zip(files, digests, strict=True):
        if not digest or not await trust.covers(file, digest):
            return file
    return None


async def trusted_hooks(trust: "Trust | None", setup: Setup) -> Setup:
    """With the files of its hooks as they are now: an agent may have changed them since somebody
    trusted the entry, or since the session was opened. Those of an entry that its trust does not
    cover are refused, unless they are the system's."""
    if not any(hook.files for hook in setup.hooks):
        return setup
    hooks: list[HookSetup] = []
    for hook in setup.hooks:
        digests = await asyncio.to_thread(digests_of, list(hook.files))
        for file, before in hook.files.items():
            digest = digests.get(file, "")
            if hook.needs_trust and trust is not None:
                is_known = bool(digest) and await trust.covers(Path(file), digest)
                is_fine = is_known or file.startswith(_OF_THE_SYSTEM)
            else:
                is_fine = digest == before
            if not is_fine:
                raise Invalid(f"{hook.place}: {file} {_ANOTHER[hook.needs_trust]}")
        hooks.append(hook.model_copy(update={"files": digests}))
    return setup.model_copy(update={"hooks": tuple(hooks)})


async def must_be_trusted(trust: "Trust", folders: Sequence[str]) -> None:
    """The skills of an entry as they are when a session is opened: an agent may have changed them
    since somebody trusted the entry."""
    files = await asyncio.to_thread(lambda: files_of_skills([Path(folder) for folder in folders]))
    await must_be_as_trusted(trust, "skills", files)


async def must_be_as_trusted(trust: "Trust", key: str, files: Sequence[Path]) -> None:
    if (file := await first_untrusted(trust, files)) is not None:
        raise Invalid(
            f"{key}: {file} has changed since the entry that names it was trusted. "
            "Read it, then run `airboss trust` for the entry again."
        )
