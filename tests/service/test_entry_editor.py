"""The project's entry as a text that people edit; real files and a real store."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from airboss.errors import Invalid, TooLarge
from airboss.service.entry_checks import EntryChecks
from airboss.service.entry_editor import EntryEditor, EntryFileChanged
from tests.service.repo import PROGRAM, Repo, named, task_of, trusted, used

KEY = "ghp_" + "a" * 30


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(Path(os.path.realpath(tmp_path)))


def digest(text: str | bytes) -> str:
    return sha256(text.encode() if isinstance(text, str) else text).hexdigest()


async def test_without_a_file_the_place_is_shown_where_it_would_be_made(repo: Repo) -> None:
    async with repo.served() as entries:
        shown = await EntryEditor(entries).show()
    assert shown.model_dump() == {
        "path": str(repo.root / "airboss.yaml"),
        "exists": False,
        "format": "yaml",
        "text": "",
        "digest": None,
        "modified_at": None,
        "in_use": False,
        "writable": True,
        "why_not": None,
    }


async def test_a_first_entry_is_saved_and_used_at_once(repo: Repo) -> None:
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        place = await editor.show()
        saved = await editor.save(place.path, named("mine"), None)
        assert (saved.exists, saved.in_use, saved.digest) == (True, True, digest(named("mine")))
        assert task_of(await used(entries)) == "mine"
        again = await editor.save(place.path, named("other"), saved.digest)
        assert (again.in_use, task_of(await used(entries))) == (True, "other")


async def test_a_text_with_mistakes_is_saved_and_the_last_good_one_stays_in_use(repo: Repo) -> None:
    file = repo.write(named("good"))
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        before = await editor.show()
        assert (before.in_use, before.text) == (True, named("good"))
        saved = await editor.save(str(file), "tasks: [", before.digest)
        assert (saved.text, saved.in_use, saved.writable) == ("tasks: [", False, True)
        assert task_of(await used(entries)) == "good"
        assert (await editor.show()).path == str(file)


async def test_a_change_made_elsewhere_is_told_and_not_overwritten(repo: Repo) -> None:
    file = repo.write(named("seen"))
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        seen = await editor.show()
        repo.write(named("theirs"))
        with pytest.raises(
            EntryFileChanged, match="was changed elsewhere since you opened it"
        ) as caught:
            await editor.save(str(file), named("mine"), seen.digest)
        assert caught.value.found.text == named("theirs")
        file.unlink()
        with pytest.raises(EntryFileChanged, match="is gone") as caught:
            await editor.save(str(file), named("mine"), seen.digest)
        assert (caught.value.found.exists, caught.value.found.digest) == (False, None)
        assert not file.exists()


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
async def test_line_ends_and_the_byte_order_mark_stay_as_they_were(
    repo: Repo, end: str, mark: str
) -> None:
    file = repo.write("")
    file.write_bytes(f"{mark}models: {{}}{end}tasks: {{}}{end}".encode())
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        seen = await editor.show()
        assert not seen.text.startswith("\ufeff")
        # As a page has it, whatever the file had.
        text = seen.text.replace("\r\n", "\n").replace("\r", "\n") + "jobs: {}\n"
        await editor.save(str(file), text, seen.digest)
    wanted = f"{mark}models: {{}}{end}tasks: {{}}{end}jobs: {{}}{end}"
    assert file.read_bytes() == wanted.encode()


async def test_a_python_entry_is_shown_and_not_written(repo: Repo) -> None:
    file = repo.write(PROGRAM, "airboss.py")
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        await trusted(entries, str(file))
        shown = await editor.show()
        assert (shown.format, shown.text, shown.writable) == ("python", PROGRAM, False)
        assert "is a program" in (shown.why_not or "")
        with pytest.raises(Invalid, match="is a program"):
            await editor.save(str(file), "x", shown.digest)
    assert file.read_text(encoding="utf-8") == PROGRAM


async def test_what_is_not_text_is_told_in_words(repo: Repo) -> None:
    file = repo.write("")
    file.write_bytes(b"models: \xff")
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        shown = await editor.show()
        assert (shown.exists, shown.text, shown.digest) == (True, "", None)
        assert shown.why_not == f"{file} is not UTF-8 text: byte 8."
        with pytest.raises(Invalid, match="is not UTF-8 text"):
            await editor.save(str(file), "x", digest(b"models: \xff"))
        file.unlink()
        file.mkdir()
        shown = await editor.show()
        assert (shown.exists, shown.why_not) == (True, f"{file} is not a file.")
        with pytest.raises(Invalid, match="is not a file"):
            await editor.save(str(file), "x", None)


async def test_a_secret_is_neither_shown_nor_saved(repo: Repo) -> None:
    file = repo.write(f"# {KEY}\n")
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        shown = await editor.show()
        assert KEY not in shown.text
        assert (shown.writable, "looks like a secret" in (shown.why_not or "")) == (False, True)
        with pytest.raises(Invalid, match="looks like a secret"):
            await editor.save(str(file), "x", shown.digest)
        file.write_text("models: {}\n", encoding="utf-8")
        clean = await editor.show()
        with pytest.raises(Invalid, match="Line 2 contains what looks like a secret"):
            await editor.save(str(file), f"a\n{KEY}\n", clean.digest)
    assert file.read_text(encoding="utf-8") == "models: {}\n"


async def test_halves_of_characters_and_huge_texts_are_refused(repo: Repo) -> None:
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        path = (await editor.show()).path
        with pytest.raises(Invalid, match="half of a character"):
            await editor.save(path, "a\ud800", None)
        with pytest.raises(TooLarge, match="up to 8 MiB"):
            await editor.save(path, "é" * (4 * 1024 * 1024 + 1), None)
    assert list(repo.root.iterdir()) == []


async def test_other_files_are_edited_below_the_roots_alone(repo: Repo) -> None:
    inside = repo.write("a: 1\n", "sub/other.yml")
    outside = repo.folder / "outside.yaml"
    outside.write_text("b: 2\n", encoding="utf-8")
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        assert await editor.is_own(str(repo.root / "airboss.yaml"))
        assert not await editor.is_own(str(inside))
        shown = await editor.show(str(inside))
        assert (shown.text, shown.in_use, shown.writable) == ("a: 1\n", False, True)
        roundabout = str(repo.root / "sub" / ".." / "sub" / "other.yml")
        assert (await editor.show(roundabout)).path == str(inside)
        for path in (str(outside), str(repo.root / ".." / "outside.yaml")):
            with pytest.raises(Invalid, match="is outside the folders where agents may work"):
                await editor.show(path)
            with pytest.raises(Invalid, match="is outside the folders where agents may work"):
                await editor.save(path, "x", digest("b: 2\n"))
        for name in ("notes.txt", "sub/airboss.py", ".env"):
            with pytest.raises(Invalid):
                await editor.show(str(repo.write("x", name)))
        for path in ("airboss.yaml", "", str(repo.root / "a\0.yaml")):
            with pytest.raises(Invalid, match="must be absolute"):
                await editor.save(path, "x", None)
        long = str(repo.root / ("x" * 4000) / "a.yaml")
        assert "File name too long" in ((await editor.show(long)).why_not or "")
        with pytest.raises(Invalid):
            await editor.save(long, "x", None)
    assert outside.read_text(encoding="utf-8") == "b: 2\n"


@pytest.mark.parametrize("name", [".git/config.yaml", ".ssh/a.yaml", "secrets.yaml"])
async def test_where_secrets_are_kept_nothing_is_shown(repo: Repo, name: str) -> None:
    file = repo.write("a: 1\n", name)
    async with repo.served() as entries:
        with pytest.raises(Invalid, match="where secrets are kept"):
            await EntryEditor(entries).show(str(file))


async def test_the_entry_that_the_settings_name_is_checked_wherever_it_lies(repo: Repo) -> None:
    file = repo.write(named("mine"), ".docker/airboss.yaml")
    async with repo.served(entry=file) as entries:
        assert (await EntryChecks(entries).check_path(str(file))).tasks == 1
    async with repo.served() as entries:
        with pytest.raises(Invalid, match="where secrets are kept"):
            await EntryChecks(entries).check_path(str(file))


async def test_a_link_out_of_the_roots_is_neither_shown_nor_written(repo: Repo) -> None:
    outside = repo.folder / "outside.yaml"
    outside.write_text(named("theirs"), encoding="utf-8")
    repo.root.mkdir()
    link = repo.root / "airboss.yaml"
    link.symlink_to(outside)
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        shown = await editor.show()
        assert (shown.path, shown.exists, shown.text, shown.digest) == (str(link), True, "", None)
        assert "is outside" in (shown.why_not or "")
        with pytest.raises(Invalid, match="is outside"):
            await editor.save(str(link), "x", digest(named("theirs")))
    assert outside.read_text(encoding="utf-8") == named("theirs")
    assert link.is_symlink()


async def test_a_link_inside_the_roots_is_written_where_it_leads(repo: Repo) -> None:
    real = repo.write(named("one"), "config/real.yaml")
    link = repo.root / "airboss.yaml"
    link.symlink_to(real)
    async with repo.served() as entries:
        editor = EntryEditor(entries)
        seen = await editor.show()
        await editor.save(str(link), named("two"), seen.digest)
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == named("two")


async def test_a_folder_that_is_not_there_is_told_before_anybody_types(repo: Repo) -> None:
    async with repo.served() as entries:
        shown = await EntryEditor(entries).show(str(repo.root / "nowhere" / "a.yaml"))
        assert (shown.exists, shown.writable) == (False, False)
        assert shown.why_not == f"The folder {repo.root / 'nowhere'} does not exist."


async def test_a_chosen_file_outside_the_roots_is_shown_and_not_written(repo: Repo) -> None:
    chosen = repo.folder / "chosen.yaml"
    chosen.write_text(named("chosen"), encoding="utf-8")
    async with repo.served(entry=chosen) as entries:
        editor = EntryEditor(entries)
        shown = await editor.show()
        assert (shown.path, shown.text, shown.in_use) == (str(chosen), named("chosen"), True)
        assert (shown.writable, "is outside" in (shown.why_not or "")) == (False, True)
        with pytest.raises(Invalid, match="is outside"):
            await editor.save(str(chosen), "x", shown.digest)
