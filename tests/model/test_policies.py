"""Of several policies the narrowest holds, and a file widens nothing before a person trusts it."""

import pytest

from airboss.model.policies import (
    POLICIES,
    granted_policy,
    is_wider,
    may_be_caged,
    narrowest_policy,
)
from airboss.settings import Policy


def test_policies_from_the_narrowest_to_the_widest() -> None:
    assert POLICIES == ("deny-all", "read-only", "ask", "caged", "approve-all")


@pytest.mark.parametrize("wide", POLICIES)
@pytest.mark.parametrize("narrow", POLICIES)
def test_the_narrowest_policy_holds(narrow: Policy, wide: Policy) -> None:
    if POLICIES.index(narrow) <= POLICIES.index(wide):
        assert narrowest_policy(wide, None, narrow) == narrow
        assert narrowest_policy(narrow, wide, None) == narrow


def test_alone_a_policy_holds() -> None:
    assert narrowest_policy("ask", None, None) == "ask"


@pytest.mark.parametrize(
    ("server", "of_entry", "of_task", "trusted", "granted"),
    [
        ("read-only", "approve-all", None, False, "read-only"),
        ("read-only", "approve-all", None, True, "approve-all"),
        ("read-only", "approve-all", "ask", True, "ask"),
        ("read-only", None, "approve-all", False, "read-only"),
        ("read-only", None, "approve-all", True, "approve-all"),
        ("approve-all", "ask", "deny-all", False, "deny-all"),
        ("approve-all", "ask", None, False, "ask"),
        ("approve-all", "deny-all", "approve-all", True, "deny-all"),
        ("ask", None, None, True, "ask"),
        ("ask", "caged", None, False, "ask"),
        ("ask", "caged", "ask", True, "ask"),
        ("approve-all", None, "caged", False, "caged"),
    ],
)
def test_only_a_trusted_file_widens_the_servers_policy(
    server: Policy, of_entry: Policy | None, of_task: Policy | None, trusted: bool, granted: Policy
) -> None:
    assert granted_policy(server, of_entry, of_task, trusted=trusted) == granted


@pytest.mark.parametrize(
    ("server", "of_entry", "of_task", "granted"),
    [
        ("ask", "caged", None, "caged"),
        ("ask", None, "caged", "caged"),
        ("ask", "approve-all", "caged", "caged"),
        ("ask", "caged", "approve-all", "caged"),
        ("ask", "caged", "ask", "ask"),
        ("ask", "read-only", "caged", "read-only"),
        ("ask", "approve-all", None, "ask"),
        ("read-only", "caged", None, "read-only"),
        ("deny-all", None, "caged", "deny-all"),
        ("caged", None, None, "caged"),
    ],
)
def test_where_cages_are_offered_a_wish_for_one_counts_without_trust(
    server: Policy, of_entry: Policy | None, of_task: Policy | None, granted: Policy
) -> None:
    found = granted_policy(server, of_entry, of_task, trusted=False, offers_cage=True)
    assert found == granted


def test_an_unknown_policy_is_as_narrow_as_can_be() -> None:
    assert not is_wider("whatever", "deny-all")
    assert is_wider("caged", "ask")
    assert is_wider("approve-all", "caged")
    assert not may_be_caged("ask", "approve-all")
