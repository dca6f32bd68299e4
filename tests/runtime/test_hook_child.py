"""What a hook's Python function answers, inside its process."""

from pathlib import Path

import pytest

from airboss.runtime.hook_child import answer


def test_a_function_is_given_the_input_and_its_dict_is_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "hooks.py"
    file.write_text("def f(given):\n    return {'n': given['n'] + 1}\ndef g(x): ...\n", "utf-8")
    assert answer(str(file), "f", "", {"n": 1}) == {"n": 2}
    assert answer(str(file), "g", "", {}) == {}
    with pytest.raises(SystemExit, match="has no function h"):
        answer(str(file), "h", "", {})
    with pytest.raises(SystemExit, match="has changed"):
        answer(str(file), "f", "0" * 64, {})
