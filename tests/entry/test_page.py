"""What docs/entry.md shows is valid: who writes from it begins well."""

import re
from pathlib import Path

import pytest

from airboss.entry.document import Entry, Limits, Task
from airboss.entry.load import check_file, check_text
from airboss.entry.prompts import RUNTIME_VARIABLES
from airboss.entry.tools import JOB_TOOLS

PAGE = (Path(__file__).parents[2] / "docs/entry.md").read_text("utf-8")


def shown(language: str) -> list[str]:
    return re.findall(
        rf'^```{language}(?: title="airboss.yaml")?\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize("text", shown("yaml"))
def test_every_yaml_on_the_page_is_a_valid_entry(text: str) -> None:
    assert check_text(text, "yaml").violations == ()


@pytest.mark.parametrize("text", shown("python"))
def test_every_program_on_the_page_gives_a_valid_entry(text: str, tmp_path: Path) -> None:
    file = tmp_path / "airboss.py"
    file.write_text(text, encoding="utf-8")
    assert check_file(file, trusted=True).violations == ()


def test_the_page_has_examples() -> None:
    assert (len(shown("yaml")), len(shown("python"))) == (7, 1)


@pytest.mark.parametrize("part", [Entry, Task, Limits])
def test_the_page_names_every_field(part: type[Entry | Task | Limits]) -> None:
    names = {field.alias or "" for field in part.model_fields.values()}
    assert {name for name in names if name not in PAGE} == set()


def test_the_page_names_every_variable_and_tool() -> None:
    assert {name for name in RUNTIME_VARIABLES if f"`${name}`" not in PAGE} == set()
    assert {name for name in JOB_TOOLS if f"`{name}`" not in PAGE} == set()
