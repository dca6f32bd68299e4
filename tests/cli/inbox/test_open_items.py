"""What waits, as the events of the inbox say it."""

from typing import Any

from airboss.cli.heard import Record
from airboss.cli.inbox.open_items import OpenItems


def item(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "session": "ses_1", "asked": {"kind": "question.asked"}, **more}


def arrived(seq: int, one: dict[str, Any], stream: str = "inbox") -> Record:
    return Record(seq, 0, {"kind": "inbox.arrived", "item": one}, stream)


def settled(seq: int, name: str) -> Record:
    return Record(seq, 0, {"kind": "inbox.settled", "item": name, "outcome": "answered"}, "inbox")


def test_only_what_it_is_about_comes_and_goes() -> None:
    items = OpenItems({"run": "run_1"})
    mine, more = item("itm_1", run="run_1"), item("itm_2", run="run_1", task_run="tsk_2")
    items.hear(arrived(1, mine))
    items.hear(arrived(2, item("itm_3", run="run_2")))
    items.hear(arrived(3, item("itm_4")))
    items.hear(arrived(4, more))
    assert items.all == [mine, more]
    items.hear(settled(5, "itm_1"))
    items.hear(settled(6, "itm_3"))
    assert items.all == [more]


def test_other_streams_and_words_of_a_newer_server_are_passed_over() -> None:
    items = OpenItems({"run": "run_1"})
    items.hear(arrived(1, item("itm_1", run="run_1"), stream="ses_1"))
    items.hear(Record(2, 0, {"kind": "inbox.moved", "item": "itm_1"}, "inbox"))
    assert items.all == []
