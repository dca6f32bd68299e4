"""What agents are told about our tools, questions and approvals: of exactly those they have."""

from pathlib import Path

from airboss.cage_settings import CageProfile
from airboss.harness.own_words import MOST_CHARACTERS, has_unseen_repository, own_words
from airboss.model.setup import CageSetup, Setup, SystemMessageSetup, ToolSetup
from airboss.model.tool_lists import ToolList


def told(**tools: tuple[str, ...]) -> str:
    words = own_words(Setup(tools=ToolSetup(lists=(ToolList.model_validate(tools),))))
    assert words is not None
    return words


def test_a_session_with_all_tools_is_told_of_questions_jobs_approvals_and_agents() -> None:
    words = told()
    assert "`ask_user` asks a person" in words
    assert "`job_boolean_true`" in words
    assert "approval" in words
    assert "Agents that you hand work to" in words
    assert len(words) <= MOST_CHARACTERS


def test_what_it_does_not_have_is_not_named() -> None:
    words = told(deny=("ask_user", "job_boolean_true", "task"))
    assert "ask_user" not in words
    assert "Nobody can be asked" in words
    assert "job_boolean_true" not in words
    assert "`job_boolean_false`" in words
    assert "hand work to" not in words
    assert "job" not in told(deny=("@ours",))


def test_in_a_cage_it_is_told_how_a_tool_reaches_the_network() -> None:
    words = own_words(Setup(cage=CageSetup(profile="default", terms=CageProfile())))
    assert words is not None
    assert "`HTTPS_PROXY`" in words
    assert "option of its own" in words
    assert len(words) <= MOST_CHARACTERS
    assert "HTTPS_PROXY" not in told()


def test_in_a_cage_below_the_top_of_a_repository_it_is_told_that_git_does_not_work(
    tmp_path: Path,
) -> None:
    caged = Setup(cage=CageSetup(profile="default", terms=CageProfile()))
    sub = tmp_path / "repository/sub"
    sub.mkdir(parents=True)
    assert not has_unseen_repository(caged, sub)
    (sub.parent / ".git").mkdir()
    assert has_unseen_repository(caged, sub)
    assert not has_unseen_repository(caged, sub.parent)
    assert not has_unseen_repository(Setup(), sub)
    assert not has_unseen_repository(
        caged.model_copy(update={"directories": (f"{tmp_path}",)}), sub
    )
    words = own_words(caged, lacks_git=True)
    assert words is not None
    assert "git does not work here" in words
    assert len(words) <= MOST_CHARACTERS


def test_a_text_in_the_place_of_all_others_stands_alone() -> None:
    assert own_words(Setup(system_message=SystemMessageSetup(replace="Only this."))) is None
    assert own_words(Setup(system_message=SystemMessageSetup(append="And this."))) is not None
