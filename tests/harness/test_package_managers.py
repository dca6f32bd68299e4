"""A wildcard behind a manager of packages stands for what only queries, and for no script."""

import pytest

from tests.harness.test_wildcards import allows

# Most of these names are commands of npm; the others take them for scripts of the project.
SCRIPTS = {
    "yarn *": "build dlx root list ls view outdated explain prefix whoami ping show la ll",
    "pnpm *": "build dlx view show info explain prefix whoami ping recursive",
    "bun *": "build dlx ls list la ll outdated view info show explain why root prefix bin pm",
}


@pytest.mark.parametrize("pattern", SCRIPTS)
def test_it_stands_for_no_script_of_the_project(pattern: str) -> None:
    names = SCRIPTS[pattern].split()
    assert [name for name in names if allows(pattern, pattern.replace("*", name))] == []


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("yarn *", "yarn --silent"),
        ("yarn *", "yarn --frozen-lockfile"),
        ("yarn workspace *", "yarn workspace app run build"),
        ("yarn workspaces *", "yarn workspaces foreach run build"),
        ("pnpm recursive *", "pnpm recursive run build"),
        ("pnpm approve-builds *", "pnpm approve-builds evil"),
        ("bun pm *", "bun pm trust evil"),
        ("bun *", "bun evil.ts"),
        ("* app", "yarn build app"),
        ("* app", "nice pnpm build app"),
    ],
)
def test_it_stands_for_no_way_around_that_to_one(pattern: str, command: str) -> None:
    assert not allows(pattern, command)


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("yarn *", "yarn why left-pad"),
        ("yarn *", "yarn info left-pad --json"),
        ("yarn add *", "yarn add left-pad"),
        ("yarn run *", "yarn run build"),
        ("pnpm *", "pnpm ls --depth 0"),
        ("pnpm *", "pnpm outdated"),
        ("pnpm add *", "pnpm add left-pad"),
        ("bun pm ls *", "bun pm ls --all"),
        ("bun add *", "bun add left-pad"),
        ("npm *", "npm root"),
        ("npm *", "npm view left-pad"),
    ],
)
def test_it_stands_for_queries_and_for_what_a_command_in_the_rule_takes(
    pattern: str, command: str
) -> None:
    assert allows(pattern, command)
