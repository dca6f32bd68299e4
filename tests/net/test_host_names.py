"""The names of hosts."""

import pytest

from airboss.net.host_names import host_fits, host_name


def test_a_star_stands_for_hosts_below_another() -> None:
    assert host_fits("*", "x.de")
    assert host_fits("*.x.de", "a.x.de")
    assert not host_fits("*.x.de", "x.de")
    assert not host_fits("*.x.de", "ax.de")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Example.ORG.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("0177.0.0.1", None),
        ("2130706433", None),
        ("a..b", None),
        ("a b", None),
        ("-a.example", None),
    ],
)
def test_a_name_is_what_the_network_knows_it_by(written: str, name: str | None) -> None:
    assert host_name(written) == name
