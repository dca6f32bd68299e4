"""What the doctor says about skills, wishes, providers and traces."""

from pathlib import Path

from airboss.harness.provider_trial import TrialResult
from airboss.service.doctor_checks import check_skills, check_telemetry, check_trial, check_wishes
from airboss.telemetry_settings import Telemetry


def test_skills_are_named_and_a_wrong_one_is_a_failure(tmp_path: Path) -> None:
    assert check_skills(()).summary == "No skills are configured."
    file = tmp_path / "greeting" / "SKILL.md"
    file.parent.mkdir()
    file.write_text("---\nname: greeting\ndescription: How to greet.\n---\nWave.\n", "utf-8")
    found = check_skills([tmp_path])
    assert (found.state, found.detail) == ("ok", "greeting")
    file.write_text("Wave.", "utf-8")
    wrong = check_skills([tmp_path])
    assert wrong.state == "fail"
    assert "SKILL.md" in wrong.summary
    assert wrong.remedy


def test_wishes_that_are_not_granted_are_told_but_not_all_of_many() -> None:
    assert check_wishes(()).state == "ok"
    found = check_wishes([f"wish {n}" for n in range(8)])
    assert (found.state, found.detail.splitlines()[-1]) == ("warn", "and 3 more")
    assert "8 things" in found.summary


def test_a_provider_that_was_tried_answers_or_says_why_not() -> None:
    good = check_trial("house", TrialResult(ok=True, model="m", first_word_ms=12))
    assert (good.id, good.state) == ("provider.house", "ok")
    assert good.summary == "m answered, the first word came after 12 ms."
    bad = check_trial("house", TrialResult(ok=False, problem="The key is wrong."))
    assert (bad.state, bad.summary) == ("fail", "The key is wrong.")
    assert bad.remedy


def test_telemetry_is_off_unless_it_is_on() -> None:
    assert check_telemetry(Telemetry(), None).summary == "Off: no traces are sent."
