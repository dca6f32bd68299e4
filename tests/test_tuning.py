"""What is done to Python and the C library for memory and start: each part can be left off."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from airboss import tuning
from airboss.tuning import ALL, PARTS, VARIABLE, is_on, unknown_parts

ROOT = Path(__file__).parents[1]


def in_a_process(code: str, left_off: str) -> Any:
    """What `code` prints as JSON, in a process of its own."""
    environ = {**os.environ, VARIABLE: left_off}
    words = [sys.executable, "-c", f"import gc, json\nfrom airboss import tuning\n{code}"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, timeout=50, env=environ
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("", set(PARTS)),
        (" , ", set(PARTS)),
        ("freeze", set(PARTS) - {"freeze"}),
        (" one-heap, freeze ", set(PARTS) - {"freeze", "one-heap"}),
        ("typo", set(PARTS)),
        ("all", set[str]()),
        ("freeze,all", set[str]()),
    ],
)
def test_parts_are_left_off_by_their_names(text: str, on: set[str]) -> None:
    assert {part for part in PARTS if is_on(part, {VARIABLE: text})} == on


def test_all_is_on_where_nobody_says_otherwise() -> None:
    assert all(is_on(part, {}) for part in PARTS)
    assert unknown_parts({}) == []


def test_names_that_nobody_knows_are_found() -> None:
    assert unknown_parts({VARIABLE: "freeze,frieze,all, one heap"}) == ["frieze", "one heap"]


_SDK = """
from airboss.runtime.sdk import load_sdk
load_sdk()
from copilot import rpc
print(json.dumps(rpc.ModelsListRequest.__eq__ is object.__eq__))
"""


@pytest.mark.parametrize(("left_off", "is_lean"), [("", True), ("lean-sdk", False), (ALL, False)])
def test_the_sdk_is_loaded_as_it_is_where_it_is_to_be(left_off: str, is_lean: bool) -> None:
    assert in_a_process(_SDK, left_off) is is_lean


_FREEZE = """
tuning.keep_for_good()
first = gc.get_freeze_count() > 0
gc.unfreeze()
with tuning.making_what_stays():
    meanwhile = gc.isenabled()
print(json.dumps([first, meanwhile, gc.get_freeze_count() > 0, gc.isenabled()]))
"""


@pytest.mark.parametrize("left_off", ["freeze", ALL])
def test_the_collector_is_left_alone_where_it_is_to_be(left_off: str) -> None:
    assert in_a_process(_FREEZE, "") == [True, False, True, True]
    assert in_a_process(_FREEZE, left_off) == [False, True, False, True]


_HEAP = """
import ctypes
called = []
class Library:
    def mallopt(self, option, value): called.append(option)
    def malloc_trim(self, *given): called.append("malloc_trim")
ctypes.CDLL = lambda name: Library()
tuning.share_one_heap()
tuning.keep_large_apart()
tuning.give_back_freed()
print(json.dumps(called))
"""


@pytest.mark.parametrize(
    ("left_off", "called"),
    [
        ("", [-8, -3, -1, "malloc_trim"]),
        ("one-heap", [-3, -1, "malloc_trim"]),
        ("large-apart", [-8, "malloc_trim"]),
        ("give-back", [-8, -3, -1]),
        (ALL, []),
    ],
)
def test_the_c_library_is_left_alone_where_it_is_to_be(
    left_off: str, called: list[int | str]
) -> None:
    assert in_a_process(_HEAP, left_off) == called


_PYDANTIC = """
import sys
tuning.leave_out_unused()
import airboss.http.api
old = sys.modules.get("pydantic.v1")
print(json.dumps([old is not None, "/healthz" in str(airboss.http.metrics.router.routes)]))
"""


@pytest.mark.parametrize(("left_off", "is_there"), [("", False), ("one-pydantic", True)])
def test_the_first_pydantic_is_left_out_of_a_server(left_off: str, is_there: bool) -> None:
    assert in_a_process(_PYDANTIC, left_off) == [is_there, True]


def test_every_part_is_explained_to_those_who_operate() -> None:
    page = (ROOT / "docs/operating.md").read_text("utf-8")
    assert VARIABLE in page
    assert [part for part in PARTS if f"`{part}`" not in page] == []


def test_nobody_else_does_such_things() -> None:
    """So that the switch switches all of it off."""
    words = ("gc.freeze", "gc.disable", "mallopt", "malloc_trim", "meta_path")
    own = {"tuning.py", "runtime/sdk.py"}
    package = Path(tuning.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(word in path.read_text("utf-8") for word in words)
    }
    assert found == own
