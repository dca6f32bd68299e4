"""Work trees: simplified, numbered, written to the wire."""

from airboss.entry.build import alt, loop, ref
from airboss.entry.document import Alt, Entry, Par, Seq, Work
from airboss.entry.validate import validate_entry
from airboss.entry.works import number, refs, simplify
from tests.entry.example import entry


def numbers(work: Work) -> list[tuple[str, int | None]]:
    return [(ref.task_id, ref.work_id_in_job) for ref in refs(number(work))]


def raw_seq(*works: Work) -> Seq:
    """As a file has it: the builder would flatten it at once."""
    return Seq(works=works)


def raw_par(*works: Work) -> Par:
    return Par(works=works)


def test_a_seq_directly_inside_a_seq_is_flattened_at_any_depth() -> None:
    work = raw_seq(ref("a"), raw_seq(ref("b"), raw_seq(raw_seq(ref("c")), ref("d"))), ref("e"))
    assert simplify(work) == raw_seq(*map(ref, "abcde"))


def test_a_par_directly_inside_a_par_is_flattened_at_any_depth() -> None:
    work = raw_par(raw_par(raw_par(ref("a")), ref("b")), ref("c"))
    assert simplify(work) == raw_par(*map(ref, "abc"))


def test_a_seq_in_a_par_stays_and_the_other_way_round() -> None:
    work = raw_seq(raw_par(raw_seq(ref("a"), ref("b")), ref("c")), ref("d"))
    assert simplify(work) == work


def test_a_group_of_one_stays_a_group() -> None:
    assert simplify(raw_seq(raw_seq(ref("a")))) == raw_seq(ref("a"))


def test_works_inside_loops_and_alternatives_are_simplified_too() -> None:
    deep, flat = raw_seq(raw_seq(ref("a"))), raw_seq(ref("a"))
    assert simplify(loop(deep, before=(True, deep), after=(False, deep))) == loop(
        flat, before=(True, flat), after=(False, flat)
    )
    assert simplify(alt(deep, true=deep, false=deep)) == alt(flat, true=flat, false=flat)
    assert simplify(raw_par(deep)) == raw_par(flat)


def test_refs_are_numbered_from_left_to_right() -> None:
    work = raw_seq(ref("a"), raw_par(ref("b"), ref("c")), ref("d"))
    assert numbers(work) == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]


def test_a_loop_numbers_both_conditions_before_its_body() -> None:
    work = loop(ref("body"), before=(True, ref("before")), after=(True, ref("after")))
    numbered = number(work)
    assert numbered.to_wire() == {
        "kind": "Loop",
        "preCondition": [True, {"kind": "Ref", "workIdInJob": 0, "taskId": "before"}],
        "body": {"kind": "Ref", "workIdInJob": 2, "taskId": "body"},
        "postCondition": [True, {"kind": "Ref", "workIdInJob": 1, "taskId": "after"}],
    }


def test_an_alternative_numbers_its_condition_then_true_then_false() -> None:
    work = alt(ref("c"), true=ref("t"), false=ref("f"))
    assert numbers(work) == [("c", 0), ("t", 1), ("f", 2)]
    assert numbers(Alt(condition=ref("c"), false_work=ref("f"))) == [("c", 0), ("f", 1)]


def test_numbers_in_the_file_are_overwritten_and_each_job_begins_at_0() -> None:
    data = entry()
    work = {"kind": "Ref", "taskId": "plan", "workIdInJob": 99}
    data["jobs"] = {"all": {"work": work}, "more": {"work": work}}
    loaded = validate_entry(data)
    assert [job.to_wire()["work"]["workIdInJob"] for job in loaded.jobs.values()] == [0, 0]


def test_absent_works_are_left_out_of_the_wire() -> None:
    assert loop(ref("a")).to_wire() == {"kind": "Loop", "body": ref("a").to_wire()}
    assert alt(ref("a")).to_wire() == {"kind": "Alt", "condition": ref("a").to_wire()}
    assert ref("a").to_wire() == {"kind": "Ref", "taskId": "a"}


def test_an_entry_goes_to_the_wire_with_exactly_the_fields_it_has() -> None:
    data = entry()
    data["permissions"] = "ask"
    data["limits"] = {"turns": 5, "cost": 0.5, "idleMinutes": 10, "tokens": 1000, "minutes": 60}
    data["drivingSessionRetries"] = [{"modelId": "gpt-4.1", "retries": 3}]
    data["jobs"]["all"]["limits"] = {"minutes": 5}
    data["tasks"]["plan"]["limits"] = {"turns": 1}
    data["tasks"]["plan"]["permissions"] = "read-only"
    wire = Entry.model_validate(data, by_name=False).to_wire()
    assert wire == data
    assert isinstance(wire["limits"]["turns"], int)
