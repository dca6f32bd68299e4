"""The table of the benchmark, when single rows are measured again."""

from bench.table import Line, Neighbours, page, renewed


def test_rows_that_are_measured_again_take_the_place_of_the_old_ones() -> None:
    neighbours = Neighbours()
    whole = page([Line("a", "a turn", "1 ms"), Line("b", "a flood", "2 ms")], neighbours)
    again = renewed(whole, [Line("b", "a flood", "3 ms"), Line("c", "viewers", "4")], neighbours)
    rows = [row for row in again.splitlines() if row.startswith("|")]
    assert rows[2:] == [
        "| a | a turn | 1 ms |  |  |",
        "| b | a flood | 3 ms |  |  |",
        "| c | viewers | 4 |  |  |",
    ]
    assert "Measured again by themselves: b, c." in again


def test_a_table_can_be_renewed_more_than_once() -> None:
    neighbours = Neighbours()
    again = page([Line("a", "a turn", "1 ms")], neighbours)
    for found in ("2 ms", "3 ms"):
        again = renewed(again, [Line("l", "a page", found)], neighbours)
    assert "| l | a page | 3 ms |  |  |" in again
    assert "| 2 ms |" not in again
    assert again.count("Measured again by themselves") == 1
