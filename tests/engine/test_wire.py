"""What the engine keeps comes back as it was, and is plain JSON."""

import json

from airboss.engine import wire
from airboss.engine.walk import Branch, RunTask, Walked
from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.works import number


def test_works_come_back_with_their_numbers_and_models() -> None:
    tree = seq(
        ref("a", model="gpt"),
        par(ref("b", category="cheap"), loop(ref("c"), before=(True, ref("d")))),
        alt(ref("e"), false=ref("f")),
    )
    branch = Branch("0.1.it2", number(tree), previous=("a", "b"))
    kept = json.dumps(wire.branch_to_wire(branch))
    assert wire.branch_of_wire(json.loads(kept)) == branch
    task = RunTask("0", ref("a", model="gpt"), previous=())
    assert wire.task_of_wire(json.loads(json.dumps(wire.task_to_wire(task)))) == task
    walked = Walked(succeeded=False, previous=("a", "b"))
    assert wire.walked_of_wire(json.loads(json.dumps(wire.walked_to_wire(walked)))) == walked
