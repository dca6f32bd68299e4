"""Every command that a document names exists, with the options that it names, and what it shows
of settings and scripts can be used."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from airboss.cli.main import app
from airboss.runtime.rehearsal import load_script
from airboss.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
ALL = typer.main.get_command(app)
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
# At the beginning of a line, behind a prompt, a pipe, `&&`, variables or a path.
_COMMAND = re.compile(r"(?:^|[|&] ?|\$ |=\S* |bin/) *(airboss [a-z-][^\n|&;<>]*)", re.MULTILINE)
_INLINE = re.compile(r"`(airboss [^`\n]+)`")


def commands_of(page: str) -> set[str]:
    fences = _FENCE.findall(page)
    rest = _FENCE.sub("", page)
    found = {line for fence in fences for line in _COMMAND.findall(fence)}
    return found | set(_INLINE.findall(rest))


def wrong_with(line: str) -> str | None:
    words = shlex.split(line.replace("…", "x").replace("'", ""), comments=True)[1:]
    command = ALL
    while isinstance(command, TyperGroup) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    if isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        return f"there is no command {words[0]}"
    known = {option for parameter in command.params for option in parameter.opts}
    known |= {"-h", "--help"} | {"--version"}
    options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return f"there is no option {sorted(options - known)}" if options - known else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_document_names_commands_that_exist(page: Path) -> None:
    named = commands_of(page.read_text("utf-8"))
    assert {line: wrong for line in sorted(named) if (wrong := wrong_with(line))} == {}


def blocks(language: str) -> list[tuple[str, str]]:
    """What the documents show in a language, without what indents it."""
    fence = re.compile(rf"^( *)```{language}\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
    return [
        (f"{page.name}-{place}", re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))
        for page in PAGES
        for place, (indent, text) in enumerate(fence.findall(page.read_text("utf-8")))
    ]


@pytest.mark.parametrize("shown", blocks("toml"), ids=lambda shown: shown[0])
def test_the_settings_that_a_document_shows_can_be_used(
    shown: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(shown[1], encoding="utf-8")
    assert isinstance(load_settings(file, {}), Settings), "or it is refused in words"


def test_the_script_that_the_rehearsals_page_shows_can_be_played(tmp_path: Path) -> None:
    scripts = [text for name, text in blocks("yaml") if name.startswith("rehearsal.md")]
    assert scripts
    for script in scripts:
        (tmp_path / "script.yaml").write_text(script, encoding="utf-8")
        assert load_script(tmp_path / "script.yaml").rules


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert commands_of("```\n$ airboss flee --now\n```\n") == {"airboss flee --now"}
    assert commands_of("say `airboss run x`") == {"airboss run x"}
    assert commands_of("```\nA=b airboss link\n0 2 * * * ~/bin/airboss runs\n```") == {
        "airboss link",
        "airboss runs",
    }
    assert wrong_with("airboss flee --now") == "there is no command flee"
    assert wrong_with("airboss run x --now") == "there is no option ['--now']"
    assert wrong_with("airboss token add ci --role view --until 90d # ninety days") is None
