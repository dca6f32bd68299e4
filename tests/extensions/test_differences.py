"""What a person reads before trusting: all text there is, what changed, and nothing without end."""

import time
from pathlib import Path

from airboss.extensions.content import Content, read
from airboss.extensions.differences import MOST_SHOWN, content_of, difference_of, shown_files


def test_a_change_is_told_file_by_file(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, files in {
        old: {"extension.py": "one\ntwo\n", "gone.py": "x\n", "same.py": "=\n"},
        new: {"extension.py": "one\nthree", "new {0}.py": "y\n", "same.py": "=\n"},
    }.items():
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    told = difference_of(read(old), read(new))
    assert told.left_out == ()
    assert told.text == (
        "--- a/extension.py\n+++ b/extension.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
        "--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "--- /dev/null\n+++ b/new {0}.py\n@@ -0,0 +1 @@\n+y\n"
    )
    assert difference_of(read(new), read(new)).text == ""
    assert difference_of(Content(()), read(new)).text.count("+++ b/") == 3
    assert content_of(None) is content_of(tmp_path / "not there") is None


def test_what_is_no_text_is_told_by_its_size() -> None:
    old, new = Content((("a.png", b"\x89\0"),)), Content((("a.png", b"\xff" * 2000),))
    told = difference_of(old, new)
    assert "This file is no text: 2 bytes before, 2,000 bytes now." in told.text
    assert told.left_out == ("a.png",)
    assert difference_of(new, Content(())).left_out == ()
    [file] = shown_files(new)
    assert (file.bytes, file.text) == (2000, None)


def test_it_is_never_too_long_or_too_slow() -> None:
    many = tuple((f"{number:03}.py", b"a\nb\n" * 6000) for number in range(200))
    other = tuple((name, text.replace(b"a", b"c")) for name, text in many)
    began = time.monotonic()
    told = difference_of(Content(many), Content(other))
    assert time.monotonic() - began < 20
    assert len(told.text) < MOST_SHOWN + 200
    assert len(told.left_out) > 150
    shown = shown_files(Content(many))
    assert sum(len(file.text or "") for file in shown) <= MOST_SHOWN
    assert [file.path for file in shown] == [name for name, _ in many]


def test_no_other_file_takes_the_place_of_the_main_one() -> None:
    long = Content((("a.txt", b"a\n" * MOST_SHOWN), ("extension.py", b"print('hidden')\n")))
    told = difference_of(Content(()), long)
    assert told.text.startswith("--- /dev/null\n+++ b/extension.py\n")
    assert "+print('hidden')" in told.text
    assert told.left_out == ("a.txt",)
    main, other = shown_files(long)
    assert (main.path, main.text, other.text) == ("extension.py", "print('hidden')\n", None)


def test_the_main_file_is_read_first(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("README.md", "a.py", "extension.py", "lib/extension.py"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    names = [file.path for file in shown_files(read(tmp_path))]
    assert names == ["extension.py", "README.md", "a.py", "lib/extension.py"]


def test_a_digest_is_of_every_path_and_every_byte() -> None:
    contents = [
        Content((("a", b"bc"),)),
        Content((("ab", b"c"),)),
        Content((("a", b"b"), ("c", b""))),
        Content((("a", b""), ("bc", b""))),
        Content(()),
    ]
    assert len({one.digest for one in contents}) == len(contents)
