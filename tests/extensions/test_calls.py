"""What an extension's process may answer to a call."""

from typing import Any

import pytest

from airboss.extensions.calls import MOST_RESULT, CallCut, Calls
from airboss.runtime.tools import ToolImage, ToolPictures, ToolRefusal

DOT = {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}
TOO_LONG = "x" * (MOST_RESULT + 1)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"result": "text"}, "text"),
        ({"result": None}, ""),
        ({"result": 7}, "7"),
        ({"result": {"textResultForLlm": "text"}}, "text"),
        (
            {"result": {"textResultForLlm": "no", "resultType": "denied"}},
            ToolRefusal("no", "denied"),
        ),
        ({"error": "It went wrong."}, ToolRefusal("It went wrong.")),
        ({}, ToolRefusal("The tool failed.")),
        ({"result": {"text": "x"}}, ToolRefusal("The tool gave a result that is none.")),
        (
            {"result": {"textResultForLlm": "x", "resultType": "odd"}},
            ToolRefusal("The tool gave a result that is none."),
        ),
        (
            {"result": {"textResultForLlm": "x", "resultType": ["success"]}},
            ToolRefusal("The tool gave a result that is none."),
        ),
        (
            {"result": {"textResultForLlm": "a dot", "binaryResultsForLlm": [DOT]}},
            ToolPictures("a dot", (ToolImage("image/png", "aGVsbG8="),)),
        ),
        *(
            (
                {"result": {"textResultForLlm": "x", "binaryResultsForLlm": wrong}},
                ToolRefusal(
                    "The tool gave binary results that are not images: each has data in base64 "
                    "and a mimeType, and all of them have at most 3 MiB."
                ),
            )
            for wrong in (
                [{**DOT, "mimeType": "text/html"}],
                [{**DOT, "data": "?"}],
                [{**DOT, "data": "aGVs" * (1 << 20)}],
                [7],
                {"a": 7},
            )
        ),
        (
            {"result": TOO_LONG},
            ToolRefusal("The tool's result has more than 1 MiB, so it was left out."),
        ),
    ],
)
async def test_an_answer_is_read_once(said: dict[str, Any], read: object) -> None:
    calls = Calls()
    request, answer = calls.begin()
    assert calls.answer({"requestId": request, **said})
    assert await answer == read
    assert not calls.answer({"requestId": request, **said})
    assert not calls.answer({"requestId": "another", **said})


async def test_what_waits_is_told_why_it_was_cut() -> None:
    calls = Calls()
    _, answer = calls.begin()
    calls.cut("It ended.")
    with pytest.raises(CallCut, match=r"It ended\."):
        await answer
