"""Three small git repositories as people have them, to try the built-in tasks on."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest


@dataclass(frozen=True)
class Repository:
    """A clean working tree with a history, and the command by which its people test it."""

    path: Path
    test_command: tuple[str, ...] | None

    def git(self, *arguments: str) -> str:
        return _git(self.path, *arguments)

    def messages(self) -> list[str]:
        """The subjects of its commits, oldest first."""
        return self.git("log", "--reverse", "--format=%s").splitlines()

    def changes(self) -> list[str]:
        """What the working tree has and the last commit has not, as git tells it."""
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()

    def run_tests(self) -> subprocess.CompletedProcess[str]:
        if self.test_command is None:
            raise ValueError("This repository has no tests.")
        return subprocess.run(
            self.test_command,
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )


_OURS: Final = Path(__file__).parents[2]

Commits = Sequence[tuple[str, Mapping[str, str]]]


def python_project(folder: Path) -> Repository:
    """A package with unittest behind a Makefile. Messages have a prefix."""
    return _made(folder / "shelf", _PYTHON, ("make", "test"))


def node_project(folder: Path) -> Repository:
    """A module with node's own test runner behind npm. Messages are sentences."""
    return _made(folder / "tally", _NODE, ("npm", "test", "--silent"))


def documents_only(folder: Path) -> Repository:
    """A handbook and a shell script, without any test. Messages are short and in lower case."""
    return _made(folder / "handbook", _DOCUMENTS, None)


def clone_of_ours(folder: Path) -> Repository:
    """This repository, as it was last committed. Its tests take too long to be run by others."""
    if not (_OURS / ".git").exists():
        pytest.skip("This is no git repository, so there is nothing to clone.")
    path = folder / "airboss"
    path.mkdir(parents=True)
    _git(path, "clone", "--quiet", "--depth=1", _OURS.as_uri(), ".")
    _give_a_name(path)
    return Repository(path, None)


def all_three(folder: Path) -> tuple[Repository, Repository, Repository]:
    return python_project(folder), node_project(folder), documents_only(folder)


def _made(path: Path, commits: Commits, test_command: tuple[str, ...] | None) -> Repository:
    path.mkdir(parents=True)
    _git(path, "init", "--quiet", "--initial-branch=main")
    _give_a_name(path)
    for message, files in commits:
        for name, text in files.items():
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
            if name.endswith(".sh"):
                file.chmod(0o755)
        _git(path, "add", "--all")
        _git(path, "commit", "--quiet", "--message", message)
    return Repository(path, test_command)


def _give_a_name(path: Path) -> None:
    """Its own, so that whoever commits here needs none."""
    _git(path, "config", "user.name", "Robin")
    _git(path, "config", "user.email", "robin@example.com")


def _git(path: Path, *arguments: str) -> str:
    """Git as if on a fresh machine: nobody's settings, no hook, no question."""
    alone = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    ran = subprocess.run(
        ("git", *arguments),
        cwd=path,
        env={**inherited, **alone},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return ran.stdout


_PYTHON: Final[Commits] = (
    (
        "feat: keep books on a shelf",
        {
            "README.md": """
                # Shelf

                Keeps books and finds them again. `make test` runs the tests.
                """,
            "Makefile": """
                .PHONY: test
                test:
                \tpython3 -m unittest discover --start-directory tests --top-level-directory .
                """,
            ".gitignore": "__pycache__/\n",
            "shelf/__init__.py": '''
                """A shelf of books."""

                from shelf.books import Book, Shelf

                __all__ = ["Book", "Shelf"]
                ''',
            "shelf/books.py": '''
                """Books, and the shelf that they stand on."""

                from dataclasses import dataclass, field


                @dataclass(frozen=True)
                class Book:
                    title: str
                    author: str
                    year: int


                @dataclass
                class Shelf:
                    books: list[Book] = field(default_factory=list)

                    def put(self, book: Book) -> None:
                        if book in self.books:
                            raise ValueError(f"{book.title} is on the shelf already.")
                        self.books.append(book)

                    def by(self, author: str) -> list[Book]:
                        return [book for book in self.books if book.author == author]
                ''',
            "tests/__init__.py": "",
            "tests/test_books.py": '''
                """A shelf gives back what was put on it."""

                import unittest

                from shelf import Book, Shelf

                EMMA = Book("Emma", "Austen", 1815)


                class ShelfTest(unittest.TestCase):
                    def test_finds_by_author(self) -> None:
                        shelf = Shelf([EMMA])
                        self.assertEqual(shelf.by("Austen"), [EMMA])
                        self.assertEqual(shelf.by("Verne"), [])

                    def test_takes_a_book_once(self) -> None:
                        shelf = Shelf([EMMA])
                        with self.assertRaises(ValueError):
                            shelf.put(EMMA)
                ''',
        },
    ),
    (
        "docs: tell how to put a book on the shelf",
        {
            "README.md": """
                # Shelf

                Keeps books and finds them again. `make test` runs the tests.

                    shelf = Shelf()
                    shelf.put(Book("Emma", "Austen", 1815))
                """,
        },
    ),
)

_NODE: Final[Commits] = (
    (
        "Add a tally of words",
        {
            "README.md": """
                # tally

                Counts the words of a text. Run the tests with `npm test`.
                """,
            "package.json": """
                {
                  "name": "tally",
                  "version": "1.0.0",
                  "type": "module",
                  "exports": "./src/tally.js",
                  "scripts": { "test": "node --test test/" }
                }
                """,
            "src/tally.js": """
                /** How often each word occurs, whatever its case. */
                export function tally(text) {
                  const counts = new Map()
                  for (const word of text.toLowerCase().match(/\\p{L}+/gu) ?? []) {
                    counts.set(word, (counts.get(word) ?? 0) + 1)
                  }
                  return counts
                }
                """,
            "test/tally.test.js": """
                import assert from "node:assert/strict"
                import { test } from "node:test"
                import { tally } from "../src/tally.js"

                test("counts words whatever their case", () => {
                  assert.deepEqual([...tally("One two ONE")], [["one", 2], ["two", 1]])
                })

                test("finds no words in an empty text", () => {
                  assert.equal(tally("").size, 0)
                })
                """,
        },
    ),
    (
        "Let the package be checked by everybody's machine",
        {
            ".github/workflows/test.yml": """
                on: [push, pull_request]
                jobs:
                  test:
                    runs-on: ubuntu-latest
                    steps:
                      - uses: actions/checkout@v4
                      - run: npm test
                """,
        },
    ),
)

_DOCUMENTS: Final[Commits] = (
    (
        "handbook: first pages",
        {
            "README.md": """
                # Handbook

                How we work. Begin with [the first day](pages/first-day.md).
                """,
            "pages/first-day.md": """
                # The first day

                1. Get a key.
                2. Run `scripts/backup.sh` once, to see that it works.
                """,
        },
    ),
    (
        "backup: keep one copy a day",
        {
            "scripts/backup.sh": """
                #!/bin/sh
                # Copies the handbook into a folder with today's date.
                set -eu
                into="${1:?where to}/$(date +%F)"
                mkdir -p "$into"
                cp -R README.md pages "$into"
                """,
        },
    ),
)
