"""What fits into a cage, and what is refused there by name."""

import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import Invalid
from airboss.harness.cage_guests import check_guests, outside
from airboss.model.setup import CageSetup, HookSetup, ServerSetup, Setup

CAGE = CageSetup(profile="web", terms=CageProfile(hosts=("*.example.org",)))


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (ServerSetup(command=("x",), env={"A": "$KEY"}), "It needs the variable KEY"),
        (ServerSetup(url="https://a.example.org", token_variable="KEY"), "It needs the variable"),
        (ServerSetup(url="https://example.com/mcp"), "example.com is not one of the hosts"),
        (ServerSetup(url="https://a.example.org:8443/x"), "a.example.org:8443 is not one of"),
        (ServerSetup(url="http://10.0.0.1/mcp", private=True), "10.0.0.1 is on this machine or"),
        (ServerSetup(url="https://a.example.org", client_id="us"), "A person has to sign in"),
    ],
)
def test_a_server_that_needs_what_is_outside_is_refused(server: ServerSetup, words: str) -> None:
    setup = Setup(mcp_servers={"it": server})
    check_guests(setup)
    with pytest.raises(Invalid, match=f"^mcpServers.it: {words}"):
        check_guests(setup.model_copy(update={"cage": CAGE}))


def test_what_fits_is_let_in() -> None:
    program = ServerSetup(command=("x",), env={"A": "$$b"})
    check_guests(
        Setup(
            cage=CAGE,
            mcp_servers={"a": program, "b": ServerSetup(url="https://a.example.org/mcp")},
            hooks=(HookSetup(hook="agentStop", command=("x",)),),
        )
    )


def test_what_the_settings_have_outside_needs_a_way_there() -> None:
    outside = ServerSetup(command=("x",), env={"A": "$KEY"}, on_host=True)
    setup = Setup(cage=CAGE, mcp_servers={"it": outside})
    check_guests(setup)
    with pytest.raises(Invalid, match="a narrow cage has no network"):
        check_guests(setup, "narrow")


def test_servers_outside_of_the_cage_are_known_by_name() -> None:
    servers = {"a": ServerSetup(command=("x",), on_host=True), "b": ServerSetup(command=("x",))}
    assert outside(Setup(cage=CAGE, mcp_servers=servers)) == ("a",)
    assert outside(Setup(mcp_servers=servers)) == ()
