"""What is given to PostgreSQL as one list for each column arrives as it is."""

from airboss.store.postgres_arrays import arrays_of
from tests.postgres import Postgres

ROWS = [
    ("", 0, b""),
    ("NULL", -1, b"NULL"),
    ('say "yes", {no}\\', 2**62, b'"\\{,}'),
    ("a line\r\nand\ta tab ", 7, bytes(range(256))),
    ("Größe 🙂 \uf8fe", None, None),
    (None, 1, b"\\x00"),
    ('{"text":"a \\"word\\" \\u0000"}', 2, b"\0"),
]


def test_rows_arrive_as_they_are(postgres: Postgres) -> None:
    asked = "SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bytea[])"
    assert postgres.answers(asked, *arrays_of(ROWS)) == ROWS
