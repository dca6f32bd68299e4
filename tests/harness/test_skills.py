"""Folders of skills: what is in them, and what the runtime would pass over in silence."""

from pathlib import Path

import pytest

from airboss.errors import Invalid
from airboss.harness.setup import Said, SetupPlan
from airboss.harness.skills import skills_in
from airboss.session_keys import SessionKeys

OWL = "---\nname: owl\ndescription: All about owls\n---\nThe owl is blue.\n"


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text, "utf-8")
    return folder


def test_a_skill_has_the_name_of_its_head_or_of_its_folder(tmp_path: Path) -> None:
    write(tmp_path, "owls", OWL)
    write(tmp_path, "fox", "---\ndescription: All about foxes\n---\n")
    (tmp_path / "notes").mkdir()
    assert skills_in(tmp_path) == ["fox", "owl"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The owl is blue.", "SKILL.md: has no head"),
        ("---\nname: owl\n", "SKILL.md: has no head"),
        ("---\nname: [\n---\n", "SKILL.md: has a head that is not YAML"),
        ("---\nname: owl\nmade: 2024-13-45\n---\n", "SKILL.md: has a head that is not YAML"),
        ("---\nname: !!bool owl\n---\n", "SKILL.md: has a head that is not YAML"),
        ("---\nname: " + "[" * 5_000 + "\n---\n", "SKILL.md: has a head that is not YAML"),
        ("---\nname: owl\n---\n", "SKILL.md: `description:` is missing"),
        ("---\nname: 5\ndescription: x\n---\n", "SKILL.md: `name:` should be text"),
    ],
)
def test_a_skill_that_the_runtime_would_not_take_is_refused(
    tmp_path: Path, text: str, why: str
) -> None:
    write(tmp_path, "owl", text)
    with pytest.raises(Invalid, match=why):
        skills_in(tmp_path)


def test_a_folder_without_a_skill_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"has no skill: a skill is a file NAME/SKILL\.md"):
        skills_in(tmp_path)


def test_only_folders_of_those_who_may_widen_count(tmp_path: Path) -> None:
    folder = write(tmp_path / "skills", "owl", OWL)

    def found(*, may_widen: bool) -> tuple[Path, ...]:
        keys = SessionKeys(skills=("skills",))
        return SetupPlan([Said(keys, may_widen=may_widen)]).find_skills(tmp_path, Path)

    assert found(may_widen=True) == (folder,)
    assert found(may_widen=False) == ()
    with pytest.raises(Invalid, match=r"^skills\[0\]: The folder .* has no skill"):
        SetupPlan([Said(SessionKeys(skills=("owl",)), may_widen=True)]).find_skills(folder, Path)
