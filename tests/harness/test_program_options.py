"""Options that a wildcard may stand for: only those that a table calls harmless."""

from airboss.harness.program_options import Argument, Options, ReadOptions, any_free, each

TABLE = Options(
    flags="ab",
    valued="n",
    spelled="x",
    longs=each("all"),
    long_valued=each("name"),
    exact=each("-exact"),
)


def said(*texts: str) -> list[Argument]:
    return [Argument(text, is_free=False) for text in texts]


def free(*texts: str) -> list[Argument]:
    return [Argument(text, is_free=True) for text in texts]


def test_values_and_operands_are_told_apart() -> None:
    found = TABLE.read(free("-a", "-n", "5", "--name=x", "--name", "y", "file"))
    assert found is not None
    assert [one.text for one in found.operands] == ["file"]
    assert [(name, value.text) for name, value in found.values] == [
        ("n", "5"),
        ("name", "x"),
        ("name", "y"),
    ]


def test_what_the_table_does_not_know_a_wildcard_may_not_stand_for() -> None:
    for unknown in ("-z", "--zip", "-az", "-x"):
        assert TABLE.read(free(unknown)) is None
        assert TABLE.read(said(unknown)) == ReadOptions([], [])
    for harmless in ("-ab", "--all", "-exact", "-n5"):
        assert TABLE.read(free(harmless)) is not None


def test_the_word_behind_an_unknown_option_may_be_its_value() -> None:
    assert TABLE.read([*said("-z"), *free("value")]) is None
    assert TABLE.read([*said("-z"), *said("value")]) is not None


def test_behind_two_dashes_nothing_is_an_option_unless_somebody_makes_one_of_it() -> None:
    found = TABLE.read(said("--", "-z"))
    assert found is not None
    assert [one.text for one in found.operands] == ["-z"]
    assert TABLE.read([*said("--"), *free("-z")]) is None


def test_where_the_first_operand_ends_it_the_rest_belongs_to_somebody_else() -> None:
    found = TABLE.read(free("-a", "program", "-z"), stops=True)
    assert found is not None
    assert [one.text for one in found.operands] == ["program", "-z"]
    assert any_free(found.operands)
    assert TABLE.read(said("-z", "program"), stops=True) is None
