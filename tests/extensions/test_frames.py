"""Messages out of whatever an extension's process writes."""

import contextlib
import json
import time

import pytest

from airboss.extensions.child import Child, HeardPace
from airboss.extensions.frames import (
    MOST_DEPTH,
    MOST_FRAME,
    MOST_NOISE,
    MOST_VALUES,
    BadMessage,
    FrameReader,
    frame,
)


def test_messages_come_out_whole_however_they_are_cut_up() -> None:
    said = [{"id": number, "text": "ü" * number} for number in range(20)]
    whole = b"".join(frame(one) for one in said)
    for size in (1, 7, 64, len(whole)):
        reader = FrameReader()
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        assert [one for piece in pieces for one in reader.feed(piece)] == said


def test_what_stands_between_frames_is_passed_over_with_and_without_a_line_end() -> None:
    heard: list[bytes] = []
    reader = FrameReader(heard.append)
    noise = [b"hello\n", b"no line end", b"\r\n\r\n", b"Content-Length: many\n\n", b"Content-"]
    found: list[object] = []
    for number, piece in enumerate(noise):
        found += reader.feed(piece + frame({"id": number}))
    assert found == [{"id": number} for number in range(len(noise))]
    assert b"".join(heard) == b"".join(noise)


def read_all(reader: FrameReader, said: bytes) -> None:
    for at in range(0, len(said), 1 << 16):
        list(reader.feed(said[at : at + (1 << 16)]))


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"Content-Length: 100000000000\r\n\r\n", "100,000,000,000 bytes"),
        (b"Content-Length: " + b"9" * 400 + b"\r\n\r\n", "far too many"),
        (f"Content-Length: {MOST_FRAME + 1}\r\n\r\n".encode(), "4,194,304 are the most"),
        (b"Content-Length: 3\r\n\r\n{x}", "not JSON"),
        (b"Content-Length: 2\r\n\r\n[]", "not a JSON object"),
        (framed(b'{"a":%s%s}' % (b"[" * MOST_DEPTH, b"]" * MOST_DEPTH)), "than 100 levels deep"),
        (b"x" * (MOST_NOISE + 100), "more than 1 MiB"),
        (b"x\n" * MOST_NOISE, "more than 1 MiB"),
        (framed(b"[%s[]]" % (b"[]," * (1 << 20))), "more than 50,000 values"),
        (framed(b"[%s0]" % (b"0," * MOST_VALUES)), "more than 50,000 values"),
        (framed(b'["%s"]' % (b'","' * (1 << 20))), "more than 50,000 values"),
        (framed(b'["%s"]' % (b'\\\\","' * 500_000)), "more than 50,000 values"),
    ],
)
def test_what_cannot_be_talked_with_is_ended_in_words(said: bytes, why: str) -> None:
    with pytest.raises(BadMessage, match=why):
        read_all(FrameReader(), said)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (b'{"a":NaN,"b":[Infinity,-Infinity,1e999],"c":1.5}', [None, [None, None, None], 1.5]),
        (
            b'{"a":"\\ud83d!","b":["\\uDE00"],"c":{"\\ud800":1}}',
            ["\ufffd!", ["\ufffd"], {"\ufffd": 1}],
        ),
        (b'{"a":"\\ud83d\\ude00","b":"\\\\ud83d","c":1}', ["\U0001f600", "\\ud83d", 1]),
        (b'{"a":"\xed\xa0\xbd","b":"\xff","c":1}', ["\ufffd" * 3, "\ufffd", 1]),
        (b'{"a":"%s","b":1,"c":1}' % (b"[" * 300), ["[" * 300, 1, 1]),
    ],
)
def test_what_the_agent_runtime_could_not_read_is_heard_so_that_it_can(
    said: bytes, heard: list[object]
) -> None:
    [message] = FrameReader().feed(framed(said))
    assert list(message.values()) == heard


def test_of_two_lengths_the_one_at_the_message_counts() -> None:
    noise: list[bytes] = []
    printed = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
    said = frame({"id": 1}).replace(b"\r\n\r\n", b"\r\nContent-Type: application/json\r\n\r\n")
    assert [*FrameReader(noise.append).feed(printed + said)] == [{"id": 1}]
    assert b"".join(noise) == printed


def test_half_a_character_can_be_said() -> None:
    [said] = FrameReader().feed(frame({"text": "a\ud83d"}))
    assert json.dumps(said).startswith('{"text": "a')


def test_what_is_hard_to_read_takes_no_time() -> None:
    heavy = [
        b"Content-Length:1\n" * 3855,
        b"Content-Length:1\r\nx: y\r\n" * 2600,
        b"Content-Length:\n\n" * 3600,
        b"\n" * 65_536,
        b"Content-Length:" + b"1" * 65_000,
        framed(b"[%s[]]" % (b"[]," * (1 << 20))),
        framed(b'["%s"]' % (b'","' * (1 << 20))),
        framed(b"[" * 200 + b"]" * (4 << 20)),
        framed(b'{"a":"%s"}' % (b"\xed\xa0\x80" * 1_390_000)),
        framed(b'{"a":"%s"}' % (b',\\"' * 1_390_000)),
    ]
    for said in heavy:
        began = time.thread_time()
        with contextlib.suppress(BadMessage):
            list(FrameReader().feed(said))
        assert time.thread_time() - began < 0.1, said[:40]


def test_a_text_of_marks_is_one_value() -> None:
    for text in ("[]," * 300_000, '"[' * 300_000, "\\" * 300_001):
        assert [*FrameReader().feed(frame({"text": text}))] == [{"text": text}]


def test_who_says_too_much_is_read_more_slowly_and_who_was_silent_is_not() -> None:
    pace = HeardPace()
    assert pace.pause_behind(3_000) == 0
    assert 0.9 < pace.pause_behind(3_000) <= 1
    pace.since -= 60
    assert pace.pause_behind(4_000) == 0
    assert pace.pause_behind(2_000) > 0.9


def test_who_sends_much_at_a_time_is_read_more_slowly_too() -> None:
    heard: list[object] = []
    child = Child(heard.append, lambda why: pytest.fail(why))
    said = frame({"text": "x" * (3 << 20)})
    pauses = [child.take_output(said) for _ in range(16)]
    assert pauses[0] == 0
    assert pauses[-1] > 0.1
    assert len(heard) == 16
