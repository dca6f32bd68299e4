"""What people look for in a project is there, and a release that cannot be is refused."""

import re
from pathlib import Path

import pytest
import yaml

from scripts.release import Release, ReleaseRefused, with_heading
from tests.git_command import git

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PUBLIC = (
    "SECURITY.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".github/ISSUE_TEMPLATE/bug.yml",
    ".github/ISSUE_TEMPLATE/feature.yml",
)
REGISTRIES = re.compile(
    r"npmjs|pypi\.org|pythonhosted|docker\.io|ghcr\.io|quay\.io"
    r"|(?<!emit-)index-url|registry[.=]|twine|publish"
)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_people_look_for_first_is_there(name: str) -> None:
    assert len((ROOT / name).read_text("utf-8")) > 200


def test_the_workflows_run_the_same_two_commands_as_everybody() -> None:
    gate = (ROOT / ".ci/run").read_text("utf-8")
    words = {word for line in re.findall(r"^make .+$", gate, re.MULTILINE) for word in line.split()}
    commands = {"make check", "make test"}
    assert {"check", "test"} <= words
    assert WORKFLOWS
    run: set[str] = set()
    for workflow in WORKFLOWS:
        said = yaml.safe_load(workflow.read_text("utf-8"))
        assert said["permissions"] == {"contents": "read"}
        for job in said["jobs"].values():
            run |= {step["run"] for step in job["steps"] if "run" in step}
    assert run == commands


def test_nothing_that_builds_or_releases_names_a_registry() -> None:
    files = [*GITHUB.rglob("*.*"), ROOT / "Makefile", ROOT / "scripts/release.py"]
    named = {
        str(file.relative_to(ROOT)): found
        for file in files
        if (found := REGISTRIES.findall(file.read_text("utf-8")))
    }
    assert named == {}


@pytest.mark.parametrize("form", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")))
def test_a_form_for_issues_has_what_the_page_needs(form: Path) -> None:
    said = yaml.safe_load(form.read_text("utf-8"))
    assert {"name", "description", "body"} <= said.keys()
    asked = [part for part in said["body"] if part["type"] != "markdown"]
    assert all(part["id"] and part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


# Releases

CHANGES = "# Changelog\n\n## Unreleased\n\n- Something new.\n\n## 0.1.0 (2026-01-31)\n\n- All.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/api.json").write_text('{\n  "version": "0.1.0"\n}\n', "utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n', "utf-8")
    (tmp_path / "CHANGELOG.md").write_text(CHANGES, "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "First")
    git(tmp_path, "tag", "v0.1.1")
    return tmp_path


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("", "make release VERSION=1.2.3"),
        ("v1", "make release VERSION=1.2.3"),
        ("0.1.0", "has a heading for 0.1.0 already"),
        ("0.1.1", "There is a tag v0.1.1 already"),
    ],
)
def test_a_version_that_cannot_be_is_refused(project: Path, version: str, words: str) -> None:
    with pytest.raises(ReleaseRefused, match=words):
        Release(project, version).refuse_what_is_not_ready()


def test_changes_that_are_not_committed_are_named(project: Path) -> None:
    Release(project, "0.2.0").refuse_what_is_not_ready()
    (project / "new.txt").write_text("new", "utf-8")
    with pytest.raises(ReleaseRefused, match=r"Commit them first:\n\?\? new\.txt"):
        Release(project, "0.2.0").refuse_what_is_not_ready()


def test_the_news_get_the_version_as_their_heading() -> None:
    made = with_heading(CHANGES, "0.2.0", "2026-02-01")
    assert made == CHANGES.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 (2026-02-01)\n")
    with pytest.raises(ReleaseRefused, match="nothing below its heading"):
        with_heading(made, "0.3.0", "2026-02-02")


def a_failing_release(project: Path) -> None:
    with Release(project, "0.2.0").written():
        assert 'version = "0.2.0"' in (project / "pyproject.toml").read_text("utf-8")
        assert '"version": "0.2.0"' in (project / "docs/api.json").read_text("utf-8")
        assert "## 0.2.0 (" in (project / "CHANGELOG.md").read_text("utf-8")
        raise ReleaseRefused("The doctor fails.")


def test_a_release_that_fails_leaves_the_files_as_they_were(project: Path) -> None:
    with pytest.raises(ReleaseRefused, match="The doctor fails"):
        a_failing_release(project)
    assert git(project, "status", "--porcelain") == ""
