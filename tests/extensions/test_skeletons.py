"""What a new extension begins with."""

from pathlib import Path

import pytest

from airboss.errors import Conflict, Invalid, StoreUnavailable
from airboss.extensions.skeletons import scaffold, skeleton


def test_a_new_extension_is_written_once(tmp_path: Path) -> None:
    file = scaffold(tmp_path / ".github/extensions/my-tools", "python")
    assert file.name == "extension.py"
    assert "def my_tools_hello(" in file.read_text(encoding="utf-8")
    with pytest.raises(Conflict, match="exists already"):
        scaffold(file.parent, "javascript")
    assert [one.name for one in file.parent.iterdir()] == ["extension.py"]
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Conflict):
        scaffold(tmp_path / "link", "python")
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="could not be written"):
        scaffold(tmp_path / "file/name", "python")


def test_none_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".github").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreUnavailable, match="could not be written"):
        scaffold(tmp_path / ".github/extensions/new", "python")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["Big", "a b", "-a", "..", "é", "x" * 65, "a\n"])
def test_a_name_that_cannot_be_used_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match="small letters"):
        scaffold(Path(f"{tmp_path}/{name}"), "python")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("a", "a_hello"),
        ("a-b_c", "a_b_c_hello"),
        ("9lives", "x9lives_hello"),
        ("x" * 64, "x" * 58 + "_hello"),
    ],
)
def test_its_tool_has_a_name_of_its_own_that_may_be_used(name: str, tool: str) -> None:
    assert f"def {tool}(" in skeleton(name, "python")
    assert f'name: "{tool}"' in skeleton(name, "javascript")
