"""The SDK, loaded without the methods that nobody calls: it works, and nobody else is changed."""

import json
import subprocess
import sys
from typing import Any


def after_loading(code: str) -> Any:
    """What `code` prints as JSON, in a process that loaded nothing before."""
    begin = "import json, dataclasses\nfrom airboss.runtime.sdk import load_sdk\nload_sdk()\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + code], capture_output=True, text=True, check=True, timeout=50
    )
    return json.loads(done.stdout)


def test_what_the_sdk_generates_has_no_methods_that_nobody_calls() -> None:
    """When this fails, the SDK's generated modules moved, and `sdk.py` must follow."""
    code = """
from copilot import rpc
from copilot.generated import session_events
kinds = (rpc.ModelsListRequest, rpc.PermissionDecisionReject, session_events.SessionEvent)
print(json.dumps([[k.__eq__ is object.__eq__, k.__repr__ is object.__repr__] for k in kinds]))
"""
    assert after_loading(code) == [[True, True]] * 3


def test_what_it_generates_does_not_describe_itself_which_only_an_heir_would_ask_for() -> None:
    """When an heir is found, `sdk.py` must leave its parent as it is."""
    code = """
import sys
kinds = [
    kind
    for name in ("copilot.generated.rpc", "copilot.generated.session_events")
    for kind in vars(sys.modules[name]).values()
    if isinstance(kind, type) and kind.__module__ == name
]
made = [kind for kind in kinds if "__init__" in vars(kind)]
heirs = [kind.__name__ for kind in kinds if set(kind.__mro__[1:]) & set(made)]
print(json.dumps([len(made) > 1000, sum(map(dataclasses.is_dataclass, kinds)), heirs]))
"""
    assert after_loading(code) == [True, 0, []]


def test_what_it_generates_still_reads_and_writes_the_wire() -> None:
    code = """
from copilot import rpc
no = rpc.PermissionDecisionReject.from_dict({"kind": "reject", "feedback": "no"})
print(json.dumps(no.to_dict()))
"""
    assert after_loading(code) == {"kind": "reject", "feedback": "no"}


def test_dataclasses_of_others_are_what_they_were() -> None:
    code = """
@dataclasses.dataclass
class Point:
    x: int
print(json.dumps([Point(1) == Point(1), repr(Point(2))]))
"""
    assert after_loading(code) == [True, "Point(x=2)"]


def test_loading_twice_is_harmless_also_at_the_same_time() -> None:
    code = """
import sys, threading
others = [threading.Thread(target=load_sdk) for _ in range(4)]
for other in others: other.start()
for other in others: other.join()
print(json.dumps([type(finder).__module__ for finder in sys.meta_path]))
"""
    assert "airboss.runtime.sdk" not in after_loading(code)
