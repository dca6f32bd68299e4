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
        (ServerSetup(command=("x",), on_host=True), "It is to run outside of the cage"),
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
            hooks=(HookSetup(hook="agentStop", command=("x",), on_host=True),),
        )
    )


def test_a_hook_runs_outside_only_where_the_settings_say_so() -> None:
    hook = HookSetup(hook="agentStop", command=("x",), place="entry.hooks.agentStop[0]")
    with pytest.raises(Invalid, match=r"^entry.hooks.agentStop\[0\]: A hook runs outside"):
        check_guests(Setup(cage=CAGE, hooks=(hook,)))


def test_servers_outside_of_the_cage_are_known_by_name() -> None:
    servers = {"a": ServerSetup(command=("x",), on_host=True), "b": ServerSetup(command=("x",))}
    assert outside(Setup(cage=CAGE, mcp_servers=servers)) == ("a",)
    assert outside(Setup(mcp_servers=servers)) == ()
