"""Options hold over changes, those over the file, it over defaults; and each place is known."""

from pathlib import Path
from typing import cast

import pytest
from pydantic import BaseModel

from airboss.errors import SettingsInvalid
from airboss.setting_facts import SETTING_FACTS
from airboss.setting_sources import SettingSources
from airboss.settings import Settings

FILE = """\
# port = 1
max_sessions = 50
keep_days = 3

[loop_detection]
warning = 7

[loop_detection.detectors]
poll = false

[[providers]]
name = "local"
base_url = "http://127.0.0.1:1/v1"
models = ["a"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "settings.toml").write_text(FILE, "utf-8")
    return tmp_path / "settings.toml"


def test_an_option_holds_over_a_change_and_a_change_over_the_file(file: Path) -> None:
    sources = SettingSources.read(file, {"keep_days": 9.0, "port": None}, {})
    changed = sources.settings({"max_sessions": 60, "keep_days": 5, "loop_detection.blocks": 2})
    assert (changed.max_sessions, changed.keep_days) == (60, 9)
    loops = changed.loop_detection
    assert (loops.blocks, loops.warning, loops.detectors.poll) == (2, 7, False)
    assert sources.settings({}).max_sessions == 50
    assert sources.settings({"loop_detection.detectors.poll": True}).loop_detection.warning == 7
    assert file.read_text("utf-8") == FILE


def test_the_line_of_each_name_is_known(file: Path) -> None:
    sources = SettingSources.read(file, {"port": 3}, {})
    names = ("max_sessions", "loop_detection.warning", "loop_detection.detectors.poll", "providers")
    assert [sources.line_of(name) for name in names] == [2, 6, 9, 11]
    assert all(sources.is_in_file(name) for name in names)
    assert (sources.has_option("port"), sources.is_in_file("port")) == (True, False)


def test_a_table_in_one_line_has_the_line_of_the_table(file: Path) -> None:
    file.write_text("\nloop_detection = { warning = 4 }\n", "utf-8")
    sources = SettingSources.read(file, {}, {})
    assert (sources.is_in_file("loop_detection.warning"), sources.line_of("port")) == (True, None)
    assert sources.line_of("loop_detection.warning") == 2


def test_a_variable_stands_for_what_neither_an_option_nor_the_file_says(file: Path) -> None:
    environ = {"AIRBOSS_DATA": "/d", "COPILOT_CLI_PATH": "/c"}
    assert SettingSources.read(file, {"data": "/o"}, environ).variables == {
        "copilot_cli": ("COPILOT_CLI_PATH", "/c")
    }


def test_a_change_that_cannot_be_used_is_refused_in_the_words_of_the_file(file: Path) -> None:
    sources = SettingSources.read(file, {}, {})
    with pytest.raises(SettingsInvalid, match=r"^max_tasks: Input should be greater than 0$"):
        sources.settings({"max_tasks": 0})


def test_every_setting_has_its_facts() -> None:
    assert sorted(SETTING_FACTS) == sorted(_names(Settings()))


def _names(model: BaseModel, before: str = "") -> list[str]:
    found: list[str] = []
    for name in type(model).model_fields:
        value = getattr(model, name)
        inner = isinstance(value, BaseModel)
        within = cast("BaseModel", value)
        found += _names(within, f"{before}{name}.") if inner else [f"{before}{name}"]
    return found
