"""Server-sent events are read as the protocol says."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from airboss.cli.sent_events import sent_events

TOLD = (
    "retry: 1000\n\n"
    'id: 1\ndata: {"seq":1}\n\n'
    ": a comment\n\n"
    'event: heartbeat\ndata: {"seq":1}\r\n\r\n'
    "data: two\ndata: lines\u2028and no more\n\n"
    "event:end\ndata:{}\n\n"
    "data: the connection ends in the middle of th"
).encode()
HEARD = [
    ("message", '{"seq":1}'),
    ("heartbeat", '{"seq":1}'),
    ("message", "two\nlines\u2028and no more"),
    ("end", "{}"),
]


def test_events_have_a_name_and_data() -> None:
    assert list(sent_events([TOLD])) == HEARD


@given(st.lists(st.integers(0, len(TOLD))))
def test_it_does_not_matter_how_the_network_cuts_them(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(TOLD)]
    chunks = [TOLD[start:end] for start, end in pairwise(places)]
    assert list(sent_events(chunks)) == HEARD
