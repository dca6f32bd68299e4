"""Does what a document says: writes the files that it shows, and runs its commands in one terminal.

- A block with a title is a file: ```yaml title="airboss.yaml"
- A `console` block is a terminal. Lines that begin with `$ ` are run; the lines below each are what
  it prints, with `…` for anything.
- Every line of an `sh` block is a command.
- `run_…`, `itm_…` and the like in a command stand for the last such id that was printed.
"""

import re
import subprocess
import textwrap
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(
    r'^(?P<indent> *)```(\w*)(?: title="([^"]+)")?\n(.*?)^(?P=indent)```$', re.MULTILINE | re.DOTALL
)
_ID = re.compile(r"\b(run|itm|ses|tsk|pro|rul)_[0-9a-z]{26}\b")
_LEFT_OUT = re.compile(r"\b(run|itm|ses|tsk|pro|rul)_…")
_COMMENT = re.compile(r"(?: +|^)# .*$")
_SECONDS = 120
# Goes where the last command went, with what it exported, and notes both for the next one.
_TERMINAL = """
cd "$AT" || exit 70
{command}
code=$?
pwd >"$NOTES/folder"; env -0 >"$NOTES/environ"
exit $code
"""


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


@dataclass(frozen=True)
class Command:
    words: str
    shown: tuple[str, ...] = ()


def blocks(document: str) -> list[Block]:
    return [
        Block(language, title, textwrap.dedent(text))
        for _, language, title, text in _BLOCK.findall(document)
    ]


def commands(block: Block) -> list[Command]:
    if block.language == "sh":
        lines = block.text.replace("\\\n", " ").splitlines()
        words = [" ".join(_COMMENT.sub("", line).split()) for line in lines]
        return [Command(one) for one in words if one]
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert parts[0] == "", f"what stands before the first command: {parts[0]}"
    lines = [part.splitlines() for part in parts[1:]]
    return [Command(first, tuple(shown)) for first, *shown in lines]


@dataclass
class Reader:
    """Somebody with one terminal, who does one thing after the other."""

    folder: Path
    environ: Mapping[str, str]
    notes: Path
    # Commands that a test does in another way, by their words.
    instead: Mapping[str, Callable[["Reader"], None]] = field(
        default_factory=dict[str, Callable[["Reader"], None]]
    )
    # Commands that only look: what they show may take a moment to be there.
    looks: frozenset[str] = frozenset()
    # The exit codes of commands that do not end with 0.
    codes: Mapping[str, int] = field(default_factory=dict[str, int])
    # What a document names as an example, and what is meant by it here.
    names: dict[str, str] = field(default_factory=dict[str, str])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    # What the last command said.
    heard: str = ""
    done: list[str] = field(default_factory=list[str])

    def follow(self, document: str) -> None:
        for block in blocks(document):
            if block.title:
                (self.folder / block.title).write_text(block.text, encoding="utf-8")
            else:
                assert block.language == "console", f"neither a file nor a terminal: {block.text}"
                for command in commands(block):
                    self.do(command)

    def do(self, command: Command) -> None:
        if command.words in self.instead:
            self.instead[command.words](self)
        else:
            until = time.monotonic() + _SECONDS
            code = self.codes.get(command.words, 0)
            said = self.run(command.words, code)
            while (missing := not_said(command.shown, said)) and self._may_look_again(
                command, until
            ):
                time.sleep(0.2)
                said = self.run(command.words, code)
            assert missing is None, f"{command.words} does not say “{missing}” but:\n{said}"
        self.done.append(command.words)

    def _may_look_again(self, command: Command, until: float) -> bool:
        return command.words in self.looks and time.monotonic() < until

    def meant(self, words: str) -> str:
        """With real ids and names, where the document leaves them out."""
        words = _LEFT_OUT.sub(lambda named: self.ids[named[1]], words)
        for name, real in self.names.items():
            words = words.replace(name, real)
        return words

    def run(self, words: str, code: int = 0) -> str:
        places = {"AT": str(self.folder), "NOTES": str(self.notes)}
        ran = subprocess.run(
            ["bash", "-c", _TERMINAL.format(command=self.meant(words))],
            env={**self.environ, **places},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert ran.returncode == code, f"{words} ended with {ran.returncode}:\n{ran.stdout}"
        self.folder = Path((self.notes / "folder").read_text("utf-8").strip())
        lines = (self.notes / "environ").read_text("utf-8").split("\0")
        self.environ = dict(line.split("=", 1) for line in lines if "=" in line)
        self.ids |= {found[1]: found[0] for found in _ID.finditer(ran.stdout)}
        self.heard = ran.stdout
        return ran.stdout


def not_said(shown: tuple[str, ...], said: str) -> str | None:
    """The first line of the document that the output does not have, in this order."""
    lines = iter([" ".join(line.split()) for line in said.splitlines()])
    for line in shown:
        parts = [re.escape(" ".join(part.split())) for part in line.split("…")]
        pattern = re.compile(r"\s*.*?\s*".join(parts))
        if line.strip() != "…" and not any(pattern.fullmatch(output) for output in lines):
            return line
    return None
