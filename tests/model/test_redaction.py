"""Secrets leave a text, whole or in pieces, and nothing else does."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from airboss.model.redaction import MASK, Redactor

# Values that overlap, contain each other, look like a published shape, or have odd letters.
VALUES = (
    "hunter2-hunter2",
    "hunter2-hunter2-and-more",
    "unter2-hXYZ",
    "abcdefghsk-1234567",
    "two\nlines\nof secret",
    "schlüssel😀geheim",
    "xxxxxxxx",
    "ghp_" + "A" * 36,
)
LINES = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
KEYS = (
    f"-----BEGIN PRIVATE KEY-----\n{LINES}\n{LINES}\nMzEf/Q==\n-----END PRIVATE KEY-----",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\r\n{LINES}\r\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0A1B\n\n"
    f"{LINES}\nabc=\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\\n{LINES}\\nMzEf/Q==\\n-----END PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n+{LINES}\n+abc\n+-----END PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n 2. {LINES}\n 3. {LINES}\n 4. -----END PRIVATE KEY-----",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{LINES}\n=Ab1+\n"
    "-----END PGP PRIVATE KEY BLOCK-----",
    f"-----BEGIN EC PRIVATE KEY-----\n{LINES}\n{LINES}",
    f"-----BEGIN PRIVATE KEY-----{LINES * 40}-----END PRIVATE KEY-----",
)
SHAPED = (
    *KEYS,
    "ASIAIOSFODNN7EXAMPLE",
    "hf_" + "aB3" * 12,
    "pypi-AgEIcHlwaS5vcmc" + "aB3_-" * 30,
    "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "rk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "whsec_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "npm_" + "aB3x" * 9,
    "xoxe.xoxp-1-" + "aB3" * 12,
    "xoxc-123456789012-abc",
    "xapp-1-A0123-456-" + "aB3" * 12,
    "ya29.a0Af" + "B3_-" * 20,
    "GOCSPX-" + "aB3_" * 7,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "x_9" * 10,
    "sk-ant-" + "k" * 40,
    "sk-proj-" + "k-_" * 20,
    "xoxb-123456789012",
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "b" * 35,
    "glpat-" + "c" * 20,
    "airboss_" + "d" * 32,
)
ORDINARY = (
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    LINES,
    "Version: 1",
    "-----",
    "---",
    "aws_secret_access_key = ",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "https://hooks.slack.com/services/T01234567/B01234567/",
    "aB3aB3aB3aB3aB3aB3aB3aB3",
    "1//0g" + "aB3_" * 12,
    "1",
    "//0",
    "task-force ",
    "risk-",
    "gh",
    "sk",
    "ghp",
    "github_pat",
    " ",
    "\n",
    "x",
    "A",
    "-",
    "_",
    "é",
)

redactor = Redactor(VALUES)
texts = st.lists(
    st.one_of(
        st.sampled_from(VALUES),
        st.sampled_from(SHAPED),
        st.sampled_from(ORDINARY),
        st.sampled_from([value[:9] for value in VALUES]),
        st.sampled_from([value[-9:] for value in VALUES]),
        st.text(max_size=5),
    ),
    max_size=12,
).map("".join)


def in_pieces(text: str, cuts: list[int]) -> str:
    stream = redactor.stream()
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    return "".join([*(stream.feed(piece) for piece in pieces), stream.finish()])


@settings(max_examples=600, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 10_000), max_size=30))
@example(text="hunter2-hunter2XYZ", cuts=[15])
@example(text="abcdefghsk-1234567", cuts=[13])
@example(text="word" + SHAPED[0], cuts=[4])
def test_a_text_in_pieces_is_told_as_the_whole_text_would_be(text: str, cuts: list[int]) -> None:
    assert in_pieces(text, cuts) == redactor.text(text)


@settings(max_examples=100, deadline=None)
@given(text=texts)
def test_a_text_letter_by_letter_is_told_as_the_whole_text_would_be(text: str) -> None:
    assert in_pieces(text, list(range(len(text)))) == redactor.text(text)


@settings(max_examples=200, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 10_000), max_size=30))
def test_no_known_value_is_ever_told(text: str, cuts: list[int]) -> None:
    told = in_pieces(text, cuts)
    assert [value for value in VALUES if value in told] == []


@settings(max_examples=100, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 10_000), max_size=30))
def test_what_was_told_is_never_taken_back(text: str, cuts: list[int]) -> None:
    stream, told, whole = redactor.stream(), "", redactor.text(text)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    for a, b in itertools.pairwise(places):
        told += stream.feed(text[a:b])
        assert whole.startswith(told)


@pytest.mark.parametrize("secret", [*VALUES, *SHAPED])
def test_a_secret_leaves_the_sentence_around_it(secret: str) -> None:
    text = f"Use {secret} for it."
    assert redactor.text(text) == f"Use {MASK} for it."
    assert redactor.count(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "task-0123456789012345678901234567890",
        "the risk-averse",
        "ghp_tooshort",
        "my_ghp_" + "a" * 36,
        "short",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redactor.text(text) == text
    assert redactor.count(text) == 0


@pytest.mark.parametrize(
    ("before", "secret"),
    [
        ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("export AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ('"SecretAccessKey": "', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ('\\"secretAccessKey\\": \\"', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("refresh 1", "//0g" + "aB3_-" * 12),
        ("curl https://hooks.slack.com/services/", "T01234567/B01234567/aB3aB3aB3aB3aB3aB3aB3aB3"),
    ],
)
def test_what_is_secret_by_its_name_leaves_and_the_name_stays(before: str, secret: str) -> None:
    text = f"{before}{secret} and more"
    assert redactor.text(text) == f"{before}{MASK} and more"
    assert in_pieces(text, list(range(len(text)))) == redactor.text(text)


@pytest.mark.parametrize(
    "text",
    [
        "A file that begins with -----BEGIN PRIVATE KEY----- and then goes on in plain words.",
        'if text.startswith("-----BEGIN RSA PRIVATE KEY-----"):\n    return parsed(text)\n',
        f"-----BEGIN CERTIFICATE-----\n{LINES}\n-----END CERTIFICATE-----",
        f"-----BEGIN PUBLIC KEY-----\n{LINES}\n-----END PUBLIC KEY-----",
        "-----BEGIN PRIVATE KEY-----\ntouch PWN\n-----END PRIVATE KEY-----",
        "aws_secret_access_key = $SECRET",
        "the pypi-server package, sk_live_ keys and hf_hub_download",
    ],
)
def test_what_only_speaks_of_keys_stays(text: str) -> None:
    assert redactor.text(text) == text
    assert in_pieces(text, list(range(len(text)))) == text


@pytest.mark.parametrize(
    "text",
    [
        "python sk-learn-tutorial-notebook-part-one --fast",
        "./ghp_a1B2a1B2a1B2a1B2a1B2a1B2",
        "cat '/tmp/x/ghp_a1B2a1B2a1B2a1B2a1B2a1B2'",
        "cat ghp_a1B2a1B2a1B2a1B2a1B2a1B2.txt",
        "sh named/AKIAIOSFODNN7EXAMPLE",
        '{"path": "../AKIAIOSFODNN7EXAMPLE"}',
    ],
)
def test_the_name_of_a_file_stays_readable_where_a_person_decides(text: str) -> None:
    assert MASK in redactor.text(text)
    assert redactor.sparing(["named/AKIAIOSFODNN7EXAMPLE"]).text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "export TOKEN=ghp_a1B2a1B2a1B2a1B2a1B2a1B2",
        "curl -H 'Authorization: token ghp_a1B2a1B2a1B2a1B2a1B2a1B2'",
        "git clone https://ghp_a1B2a1B2a1B2a1B2a1B2a1B2@github.com/x/y",
        "curl https://example.com/x/AKIAIOSFODNN7EXAMPLE",
        "sed s/OLD/ghp_a1B2a1B2a1B2a1B2a1B2a1B2/ x",
        "cat ./hunter2-hunter2.txt",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        *KEYS,
    ],
)
def test_a_secret_leaves_also_where_a_person_decides(text: str) -> None:
    told = redactor.sparing(["named/sk-AAAAAAAAAAAAAAAAAAAAA1", "hunter2-hunter2"]).text(text)
    assert MASK in told
    hidden = ("a1B2a1B2", "IOSFODNN7", "hunter2", "wJalrX", LINES)
    assert [part for part in hidden if part in told] == []


def test_no_command_hides_between_the_lines_of_a_key() -> None:
    hiding = f"-----BEGIN PRIVATE KEY-----\n{LINES}\n/opt/run/{'a' * 60}\nreboot\n"
    told = redactor.sparing([]).text(f"{hiding}-----END PRIVATE KEY-----")
    assert "/opt/run/" in told
    assert "reboot" in told
    assert LINES not in told


def test_ordinary_text_does_not_wait_for_more() -> None:
    stream = Redactor(VALUES).stream()
    assert [stream.feed(piece) for piece in ("Hello, ", "wörld. ", "Go ")] == [
        "Hello, ",
        "wörld. ",
        "Go ",
    ]


def test_what_might_become_a_secret_waits_until_it_did_not() -> None:
    stream = redactor.stream()
    told = [stream.feed("see hunter2-"), stream.feed("hunt"), stream.feed("ed! ")]
    assert told == ["see ", "", "hunter2-hunted! "]


def test_an_endless_run_of_letters_is_told_in_the_end() -> None:
    stream = redactor.stream()
    told = stream.feed("sk-" + "a" * 200) + stream.feed("b" * 400) + stream.finish()
    assert told == redactor.text("sk-" + "a" * 200 + "b" * 400)
    assert told.startswith(MASK)


def test_a_value_may_come_from_a_file_with_a_line_break_at_its_end() -> None:
    assert Redactor(("0123456789abc\n",)).text("is 0123456789abc!") == f"is {MASK}!"


def test_values_that_are_too_short_to_be_secrets_are_left_alone() -> None:
    assert Redactor(("yes", "", "1234567")).text("yes 1234567") == "yes 1234567"


def test_a_value_that_comes_later_is_taken_out_by_all_who_have_the_redactor() -> None:
    redactor = Redactor(("one-secret-value",))
    stream, sparing = redactor.stream(), redactor.sparing(["a file"])
    told = stream.feed("It is ")
    redactor.learn("another-secret-value", "one-secret-value")
    told += stream.feed("another") + stream.feed("-secret-value, told.") + stream.finish()
    assert told == f"It is {MASK}, told."
    assert redactor.text("one-secret-value another-secret-value") == f"{MASK} {MASK}"
    assert sparing.text("one-secret-value") == MASK
    assert len(redactor.values) == 2


def test_a_redactor_does_not_show_what_it_knows() -> None:
    assert Redactor() == Redactor()
    assert "hunter2" not in repr(redactor.stream().redactor)


@pytest.mark.parametrize("text", [*SHAPED, " and ".join(VALUES)])
def test_the_places_of_secrets_are_where_the_masks_stand(text: str) -> None:
    redactor = Redactor(VALUES)
    said, at = "", 0
    for begin, end in redactor.places(f"x {text} y"):
        said, at = f"{said}{f'x {text} y'[at:begin]}{MASK}", end
    assert MASK in said
    assert said + f"x {text} y"[at:] == redactor.text(f"x {text} y")


def test_of_tokens_that_are_renewed_again_and_again_the_newest_are_secrets() -> None:
    redactor = Redactor(("first-secret-value",))
    redactor.learn("first-secret-value", of="account a")
    for number in range(1000):
        redactor.learn(f"minted-secret-value-{number}.", "client-secret-value", of="account a")
        redactor.learn("other-secret-value", of="account b")
    assert len(redactor.values) < 30
    for kept in ("first-secret-value", "client-secret-value", "other-secret-value"):
        assert redactor.text(kept) == MASK
    assert redactor.text("minted-secret-value-998.") == MASK
    assert redactor.text("minted-secret-value-1.") != MASK
