"""`airboss rules`: what agents may do, written down in the terminal."""

import json

from tests.portal import Portal


def test_rules_are_made_listed_and_removed(portal: Portal) -> None:
    assert portal.run("rules").stderr.startswith("No rules. Add one with: airboss rules add")
    done = portal.run("rules", "add", "allow", "--kind", "shell", "--command", "git *")
    assert (done.returncode, done.stderr) == (0, "From now on: allow kind shell, command git *\n")
    git = done.stdout.strip()
    done = portal.run("rules", "add", "deny", "--command", "git push*", "--place", "1")
    push = done.stdout.strip()
    lines = portal.run("rules").stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [
        ("1", "deny", "command git push*", push),
        ("2", "allow", "kind shell, command git *", git),
    ]
    told = json.loads(portal.run("rules", "--json").stdout)["items"]
    assert [item["id"] for item in told] == [push, git]
    for rule in (push, git):
        done = portal.run("rules", "remove", rule)
        assert (done.returncode, done.stderr) == (0, f"Removed the rule {rule}.\n")
    done = portal.run("rules", "remove", git)
    assert (done.returncode, done.stderr) == (2, f"error: There is no rule {git}.\n")


def test_a_folder_is_written_out_in_full_and_a_file_as_it_was_meant(portal: Portal) -> None:
    words = ("--wish", "read", "--path", "docs/*", "--folder", ".", "--json")
    made = json.loads(portal.run("rules", "add", "ask", *words).stdout)
    rule = {name: text for name, text in made["rule"].items() if text is not None}
    folder = str(portal.work.resolve())
    assert rule == {"verdict": "ask", "wish": "read", "path": "docs/*", "folder": folder}
    assert portal.run("rules", "remove", made["id"]).returncode == 0


def test_a_rule_that_would_allow_too_much_is_refused_in_words(portal: Portal) -> None:
    done = portal.run("rules", "add", "allow", "--command", "ls")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: A rule that allows must name the kind of request, or only a tool.\n"
    )
