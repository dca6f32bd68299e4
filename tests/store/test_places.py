"""Temporary folders and long outputs: private, kept as long as a session could come back."""

from pathlib import Path

import pytest

from airboss.errors import StoreUnavailable
from airboss.store.places import Places

LIFE, LATER = "rtl_000000000000000000000001", "rtl_000000000000000000000002"


@pytest.fixture
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return Places(tmp_path_factory.mktemp("p"))


def mode_of(path: Path) -> str:
    return oct(path.stat().st_mode)[-3:]


def files_below(folder: Path) -> set[str]:
    return {file.name for file in folder.rglob("*") if file.is_file()}


def test_all_of_it_is_for_its_owner_only(places: Places) -> None:
    temporary = places.begin(LIFE)
    outputs = places.join(LIFE, "ses_a")
    assert {mode_of(place) for place in (temporary, outputs)} == {"700"}
    assert {mode_of(place) for place in places.folder.iterdir()} == {"700"}


def test_a_temporary_folder_goes_with_the_last_session_that_was_there(places: Places) -> None:
    temporary = places.begin(LIFE)
    (temporary / "scratch").write_text("x", "utf-8")
    for session in ("ses_a", "ses_b"):
        places.join(LIFE, session)
    places.end(LIFE)
    places.begin(LATER)
    places.join(LATER, "ses_b")
    places.forget("ses_a")
    assert temporary.exists(), "the other one could come back to it"
    places.forget("ses_b")
    assert not temporary.exists()
    places.end(LATER)
    assert list((places.folder / "tmp").iterdir()) == []


def test_one_that_is_in_use_stays_when_its_last_session_is_deleted(places: Places) -> None:
    temporary = places.begin(LIFE)
    places.join(LIFE, "ses_a")
    places.forget("ses_a")
    assert temporary.exists()
    places.start()
    assert not temporary.exists(), "a server that starts finds no life of an earlier one"


def test_outputs_are_put_aside_while_a_session_is_closed_and_come_back(places: Places) -> None:
    places.begin(LIFE)
    outputs = places.join(LIFE, "ses_a")
    (outputs / "long.txt").write_text("long", "utf-8")
    places.put_aside("ses_a")
    assert not outputs.exists(), "what the runtime would delete is not there"
    assert (places.join(LIFE, "ses_a") / "long.txt").read_text("utf-8") == "long"
    places.put_aside("ses_a")
    places.put_aside("ses_a")
    (places.outputs_of("ses_a")).mkdir()
    (places.outputs_of("ses_a") / "more.txt").write_text("more", "utf-8")
    places.put_aside("ses_a")
    assert files_below(places.join(LIFE, "ses_a")) == {"long.txt", "more.txt"}
    places.put_aside("ses_a")
    places.forget("ses_a")
    assert files_below(places.folder / "outputs") == set()


def test_a_session_without_long_outputs_leaves_no_folder(places: Places) -> None:
    places.begin(LIFE)
    places.join(LIFE, "ses_a")
    places.put_aside("ses_a")
    assert not any((places.folder / "outputs").iterdir())


def test_a_folder_that_cannot_be_made_is_an_error_in_words(places: Places) -> None:
    (places.folder / "tmp").write_text("a file is in the way", "utf-8")
    with pytest.raises(StoreUnavailable, match="cannot be made"):
        places.begin(LIFE)
