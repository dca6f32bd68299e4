"""Which extensions may run: only copies of what a person trusted, whatever lies on the disk."""

import importlib.util
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from airboss.errors import Conflict, Invalid
from airboss.extension_settings import ExtensionSettings
from airboss.extensions.content import MOST_FILES, Content, read
from airboss.extensions.discovery import key_of
from tests.extensions.shelves import TEXT, Shelved, shelved_in


@pytest.fixture
async def shelved(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Shelved]:
    async with shelved_in(tmp_path) as shelved:
        yield shelved


async def test_a_folder_without_extensions_has_none(shelved: Shelved, tmp_path: Path) -> None:
    assert await shelved.listed() == []
    assert await shelved.listed(tmp_path / "not there") == []
    assert not shelved.shelf.copies.root.exists()


async def test_they_are_found_from_below_the_git_root_and_only_one_level_deep(
    shelved: Shelved,
) -> None:
    shelved.write("second")
    shelved.write("first", file="extension.mjs")
    shelved.write("mine", own=True)
    shelved.write("group/inner")
    shelved.write("readme", file="README.md")
    shelved.write("typed", file="extension.ts")
    below = shelved.project / "src/deep"
    below.mkdir(parents=True)
    found = await shelved.listed(below)
    assert [(one.scope, one.name, one.language) for one in found] == [
        ("project", "first", "javascript"),
        ("project", "second", "python"),
        ("user", "mine", "python"),
    ]
    assert {one.state for one in found} == {"untrusted"}
    assert not any(one.runs or one.copy or one.program for one in found)
    assert "trust" in found[0].reason


async def test_what_runs_is_a_private_copy_of_what_was_trusted(shelved: Shelved) -> None:
    folder = shelved.write("guard")
    (folder / "lib").mkdir()
    (folder / "lib/rules.py").write_text("NO = True\n", encoding="utf-8")
    (folder / "link.py").symlink_to("lib/rules.py")
    await shelved.trusts(folder)
    found = await shelved.one("guard")
    assert (found.state, found.reason, found.runs) == ("ready", "", True)
    assert found.copy_digest == found.digest
    assert found.program is not None
    copy = shelved.shelf.copies.root / found.digest
    assert found.copy == copy
    assert found.program.read_text(encoding="utf-8") == TEXT
    assert (copy / "link.py").read_text(encoding="utf-8") == "NO = True\n"
    assert not (copy / "link.py").is_symlink()
    for place in (shelved.shelf.copies.root, copy, copy / "lib"):
        assert place.stat().st_mode & 0o777 == 0o700
    assert (copy / "lib/rules.py").stat().st_mode & 0o777 == 0o400


async def test_after_a_change_the_trusted_version_goes_on(shelved: Shelved) -> None:
    folder = shelved.write("guard")
    await shelved.trusts(folder)
    before = await shelved.one("guard")
    shelved.write("guard", "import harm\n")
    changed = await shelved.one("guard")
    assert (changed.state, changed.runs, changed.copy) == ("changed", True, before.copy)
    assert changed.digest != before.digest
    assert changed.program is not None
    assert changed.program.read_text(encoding="utf-8") == TEXT
    shelved.write("guard")
    assert await shelved.one("guard") == before
    # A file more is a change, too; what Python writes beside it is none.
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/extension.pyc").write_bytes(b"x")
    assert (await shelved.one("guard")).state == "ready"
    (folder / "more.py").write_text("", encoding="utf-8")
    assert (await shelved.one("guard")).state == "changed"
    await shelved.trusts(folder)
    assert (await shelved.one("guard")).state == "ready"
    # The version before is not kept any longer.
    assert before.copy is not None
    assert not before.copy.exists()


async def test_a_change_that_makes_it_unusable_switches_no_guard_off(shelved: Shelved) -> None:
    folder = shelved.write("guard")
    await shelved.trusts(folder)
    shelved.write("guard", "", file="extension.mjs")
    found = await shelved.one("guard")
    assert (found.state, found.runs, found.language) == ("changed", True, "python")
    assert "both extension.py and extension.mjs" in found.reason
    (folder / "extension.py").unlink()
    found = await shelved.one("guard")
    assert (found.state, found.language) == ("changed", "python")
    assert found.program is not None
    assert found.program.read_text(encoding="utf-8") == TEXT


async def test_a_link_in_its_place_switches_no_guard_off_either(
    shelved: Shelved, tmp_path: Path
) -> None:
    folder = shelved.write("guard")
    await shelved.trusts(folder)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/extension.py").write_text("import harm\n", encoding="utf-8")
    shutil.rmtree(folder)
    folder.symlink_to(tmp_path / "elsewhere")
    found = await shelved.one("guard")
    assert (found.state, found.digest) == ("changed", "")
    assert "link that leads elsewhere" in found.reason
    assert found.program is not None
    assert found.program.read_text(encoding="utf-8") == TEXT
    with pytest.raises(Invalid, match="link that leads elsewhere"):
        await shelved.trust.look(str(folder))
    assert await shelved.trust.remove(str(folder), "me") == [str(folder)]
    assert (await shelved.one("guard")).state == "failed"


# What makes a good extension an odd one, and what is said of it then.
ODD: list[tuple[Callable[[Path], object], str]] = [
    (lambda at: (at / "extension.mjs").write_text(""), "both extension.py and extension.mjs"),
    (lambda at: (at / "key").symlink_to("/etc/passwd"), "key is a link that leads out"),
    (lambda at: (at / "up").symlink_to(".."), "up is a link that leads out"),
    (lambda at: (at / "gone").symlink_to("nowhere"), "gone is a link that leads nowhere"),
    (lambda at: os.mkfifo(at / "pipe"), "pipe is not a file"),
    (
        lambda at: (at / "extension.py").rename(at / "x") and (at / "extension.py").mkdir(),
        "extension.py is a folder",
    ),
    (lambda at: (at / "big").write_bytes(bytes(5 * 2**20)), "more than 5 MiB"),
    (
        lambda at: [(at / f"{number}").touch() for number in range(MOST_FILES)],
        "more than 200 files",
    ),
    (
        lambda at: [(at / f"{number}").mkdir() for number in range(MOST_FILES + 1)],
        "more than 200 folders",
    ),
    (lambda at: (at / "a\x1b[31m").touch(), "a name that cannot be shown"),
    (lambda at: (at / os.fsdecode(b"a\xff")).touch(), "a name that cannot be shown"),
    (lambda at: at.rename(at.with_name("Of Mine")), "small letters, digits"),
    (lambda at: at.rename(at.with_name("x" * 65)), "small letters, digits"),
]


@pytest.mark.parametrize(("make", "reason"), ODD)
async def test_what_cannot_be_an_extension_fails_with_the_reason(
    shelved: Shelved, make: Callable[[Path], object], reason: str
) -> None:
    folder = shelved.write("odd")
    make(folder)
    [found] = await shelved.listed()
    assert (found.state, found.digest, found.runs) == ("failed", "", False)
    assert reason in found.reason
    with pytest.raises(Invalid, match="cannot be trusted"):
        await shelved.trust.look(str(found.path))


async def test_a_folder_that_leads_out_of_the_project_brings_nothing_in(shelved: Shelved) -> None:
    shelved.write("mine", own=True)
    await shelved.trusts(shelved.shelf.user_folder / "mine")
    (shelved.project / ".github").mkdir()
    (shelved.project / ".github/extensions").symlink_to(shelved.shelf.user_folder)
    brought, own = await shelved.listed()
    assert (brought.scope, brought.state, brought.copy) == ("project", "failed", None)
    assert "leads out of the project" in brought.reason
    assert (own.scope, own.state) == ("user", "ready")


async def test_no_repository_below_a_guard_switches_it_off(shelved: Shelved) -> None:
    guard, other = shelved.write("guard"), shelved.write("nobody-trusts-it")
    await shelved.trusts(guard)
    below = shelved.project / "below"
    below.mkdir()
    (below / ".git").touch()
    assert [(one.path, one.state) for one in await shelved.listed(below)] == [(guard, "ready")]
    # Nor does one of its name that nobody trusts, or a project that is no repository any more.
    fake = below / ".github/extensions/guard"
    fake.mkdir(parents=True)
    (fake / "extension.py").write_text("pass\n", encoding="utf-8")
    states = [(fake, "untrusted"), (guard, "ready")]
    assert [(one.path, one.state) for one in await shelved.listed(below)] == states
    await shelved.trusts(fake)
    states = [(fake, "ready"), (guard, "shadowed")]
    assert [(one.path, one.state) for one in await shelved.listed(below)] == states
    shutil.rmtree(fake)
    (below / ".git").unlink()
    (shelved.project / ".git").rmdir()
    assert [(one.path, one.state) for one in await shelved.listed(below)] == [(guard, "ready")]
    assert [one.path for one in await shelved.listed()] == [guard, other]


async def test_only_what_runs_shadows(shelved: Shelved) -> None:
    mine = shelved.write("guard", own=True)
    await shelved.trusts(mine)
    theirs = shelved.write("guard", "pass\n")
    assert await shelved.states() == {"project/guard": "untrusted", "user/guard": "ready"}
    await shelved.trusts(theirs)
    assert await shelved.states() == {"project/guard": "ready", "user/guard": "shadowed"}
    shelved.write("guard", "pass  # changed\n")
    assert await shelved.states() == {"project/guard": "changed", "user/guard": "shadowed"}
    await shelved.shelf.disabled.add(key_of(theirs), "me", 1)
    assert await shelved.states() == {"project/guard": "disabled", "user/guard": "ready"}
    await shelved.shelf.disabled.add(key_of(mine), "me", 1)
    await shelved.shelf.disabled.remove(key_of(theirs))
    assert await shelved.states() == {"project/guard": "changed", "user/guard": "disabled"}
    await shelved.trust.remove(str(theirs), "me")
    assert await shelved.states() == {"project/guard": "untrusted", "user/guard": "disabled"}


async def test_turned_off_in_the_settings_none_runs(tmp_path: Path) -> None:
    async with shelved_in(tmp_path) as shelved:
        await shelved.trusts(shelved.write("guard"))
    off = ExtensionSettings(enabled=False)
    async with shelved_in(tmp_path, off) as shelved:
        found = await shelved.one("guard")
        assert (found.state, found.runs) == ("disabled", False)
        assert "enabled = false" in found.reason


async def test_only_those_of_the_user_run_outside_of_cages(tmp_path: Path) -> None:
    async with shelved_in(tmp_path, ExtensionSettings(on_host=("bell",))) as shelved:
        shelved.write("bell")
        shelved.write("bell", own=True)
        shelved.write("other", own=True)
        found = {(one.scope, one.name): one.on_host for one in await shelved.listed()}
        assert found == {
            ("project", "bell"): False,
            ("user", "bell"): True,
            ("user", "other"): False,
        }


async def test_what_was_swapped_between_look_and_trust_is_refused(shelved: Shelved) -> None:
    folder = shelved.write("guard")
    seen = await shelved.trust.look(str(folder))
    shelved.write("guard", "import harm\n")
    with pytest.raises(Conflict, match="changed since you reviewed it"):
        await shelved.trust.add(str(folder), seen.digest, "me")
    assert (await shelved.one("guard")).state == "untrusted"
    assert not shelved.shelf.copies.root.exists()


async def test_a_copy_that_somebody_changed_does_not_run(shelved: Shelved) -> None:
    folder = shelved.write("guard")
    await shelved.trusts(folder)
    found = await shelved.one("guard")
    assert found.program is not None
    found.program.chmod(0o600)
    found.program.write_text("import harm\n", encoding="utf-8")
    again = await shelved.one("guard")
    assert again == found
    assert found.program.read_text(encoding="utf-8") == TEXT, "made again from what is trusted"
    # Without the original there is nothing to make it again from.
    found.program.chmod(0o600)
    found.program.write_text("import harm\n", encoding="utf-8")
    shelved.write("guard", "something else\n")
    assert (await shelved.one("guard")).state == "untrusted"


@pytest.mark.parametrize("folder", ["", "lib"])
async def test_bytecode_in_a_copy_does_not_run(shelved: Shelved, folder: str) -> None:
    """Python would take it for what the file beside it says, without a look at that."""
    source = shelved.write("guard", "import rules\nprint(rules.NO)\n")
    (source / folder).mkdir(exist_ok=True)
    (source / folder / "rules.py").write_text("NO = 'trusted'\n", encoding="utf-8")
    await shelved.trusts(source)
    found = await shelved.one("guard")
    assert found.copy is not None
    said = shelved.folder / "rules.py"
    said.write_text("NO = 'planted'\n", encoding="utf-8")
    planted = Path(importlib.util.cache_from_source(str(found.copy / folder / "rules.py")))
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(said), str(planted), invalidation_mode=mode)

    def run() -> str:
        environ = {"PYTHONPATH": str(planted.parent.parent)}
        words = (sys.executable, "-B", str(found.program))
        return subprocess.run(words, env=environ, capture_output=True, text=True).stdout

    assert run() == "planted\n", "it would do harm"
    assert (await shelved.one("guard")).state == "ready"
    assert run() == "trusted\n"


async def test_copies_that_nobody_needs_are_swept_away(shelved: Shelved) -> None:
    for name in ("one", "two"):
        await shelved.trusts(shelved.write(name, f"'{name}'\n"))
    one, two = await shelved.one("one"), await shelved.one("two")
    root = shelved.shelf.copies.root
    (root / ".part-of-a-crash").mkdir()
    shelved.shelf.in_use = lambda: (one.copy_digest,)
    await shelved.trust.remove(str(one.path), "me")
    await shelved.trust.remove(str(two.path), "me")
    assert [place.name for place in root.iterdir()] == [one.copy_digest], "it still runs"
    shelved.shelf.in_use = lambda: ()
    await shelved.shelf.sweep()
    assert list(root.iterdir()) == []


async def test_a_project_is_trusted_with_its_extensions_by_name(shelved: Shelved) -> None:
    shelved.write("good")
    shelved.write("odd")
    shelved.write("odd", file="extension.mjs")
    seen = await shelved.trust.look(str(shelved.project))
    assert (seen.kind, seen.files) == ("folder", ())
    told = {one.name: (bool(one.digest), one.reason != "") for one in seen.extensions}
    assert told == {"good": (True, False), "odd": (False, True)}
    [file] = seen.extensions[0].files
    assert file.path.endswith("/project/.github/extensions/good/extension.py")
    assert file.text == TEXT
    rows = await shelved.trust.add(str(shelved.project), seen.digest, "me")
    assert [row.kind for row in rows] == ["folder", "extension"]
    assert await shelved.states() == {"project/good": "ready", "project/odd": "failed"}
    listed = {one.row.path: one.current for one in await shelved.trust.all()}
    assert listed == {row.path: True for row in rows}
    shelved.write("good", "changed\n")
    assert [one.current for one in await shelved.trust.all()] == [True, False]
    gone = await shelved.trust.remove(str(shelved.project), "me")
    assert len(gone) == 2
    assert await shelved.states() == {"project/good": "untrusted", "project/odd": "failed"}


async def test_a_crowd_of_others_does_not_hide_a_guard(shelved: Shelved) -> None:
    guard = shelved.write("zz-guard")
    await shelved.trusts(guard)
    for number in range(210):
        shelved.write(f"a{number:03}", "")
    states = await shelved.states()
    assert len(states) == 200
    assert states["project/zz-guard"] == "ready"
    seen = await shelved.trust.look(str(shelved.project))
    assert len(seen.extensions) == 200
    left = [one for one in seen.extensions if one.reason]
    assert (len(left), "by itself" in left[0].reason) == (150, True)


async def test_what_did_not_change_is_not_read_again(
    shelved: Shelved, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shelved.write("guard")
    await shelved.trusts(folder)
    old = 1_000_000_000
    monkeypatch.setattr("airboss.extensions.shelf._COARSE_NS", -(10**12))
    os.utime(folder / "extension.py", ns=(old, old))
    first = await shelved.one("guard")
    reads: list[Path] = []

    def read_and_note(folder: Path) -> Content:
        reads.append(folder)
        return read(folder)

    monkeypatch.setattr("airboss.extensions.shelf.read", read_and_note)
    assert await shelved.one("guard") == first
    assert reads == []
    # The same size and time, by somebody who sets the clock back: the disk knows better.
    (folder / "extension.py").write_text(TEXT.replace("an", "no"), encoding="utf-8")
    os.utime(folder / "extension.py", ns=(old, old))
    assert (await shelved.one("guard")).state == "changed"
    assert reads
