"""Ids are told apart, sorted by their time, and never guessed."""

import re
import time

from airboss.model.ids import new_id, new_prompt_id, new_session_id, new_turn_id


def test_an_id_begins_with_what_it_names() -> None:
    letters = "[0-9abcdefghjkmnpqrstvwxyz]{26}"
    made = [new_session_id(), new_prompt_id(), new_turn_id(), new_id("tok")]
    for prefix, name in zip(("ses", "pro", "trn", "tok"), made, strict=True):
        assert re.fullmatch(f"{prefix}_{letters}", name)


def test_ids_sort_by_the_time_they_were_made() -> None:
    made: list[str] = []
    for _ in range(20):
        made.append(new_session_id())
        time.sleep(0.002)
    assert made == sorted(made)


def test_ids_made_in_the_same_moment_differ_in_eighty_bits() -> None:
    made = [new_id("ses") for _ in range(20_000)]
    assert len(set(made)) == 20_000
    assert len({name[-16:] for name in made}) == 20_000
