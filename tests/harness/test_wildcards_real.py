"""What a wildcard does not stand for, tried with the real programs: each of them runs or writes.

A table of options that nobody tried would be a guess.
"""

import os
import subprocess
from pathlib import Path

import pytest

from airboss.harness.rules import holds
from airboss.model.rules import Rule
from airboss.runtime.permission import permission_request

REAL = {
    "git *": """
        git -c alias.x='!touch PWN' x
        git -c core.sshCommand='touch PWN #' fetch ssh://nowhere/x
        git -'c' core.fsmonitor='touch PWN #' status
        git diff --output=PWN HEAD
        git grep -O'touch PWN #' text
        git rebase -f -x 'touch PWN' HEAD~1
        git fetch --upload-pa 'touch PWN #' .
        git fetch 'ext::touch PWN'
        git bisect run touch PWN
        git config core.fsmonitor 'touch PWN #' && git status
        git mv hook .git/hooks/post-checkout ; git checkout -q HEAD
        git mv hook way/post-checkout ; git checkout -q HEAD
        git push bare.git HEAD:refs/heads/x
    """,
    "find *": """
        find . -name page -exec touch PWN {} +
        find . -name page -fprint PWN
    """,
    "find . -name page -exec git *": """
        find . -name page -exec git -c alias.x='!touch PWN' x \\;
    """,
    "sort *": "sort -o PWN page",
    "tar *": """
        tar -cf x.tar page --checkpoint=1 --checkpoint-action=exec='touch PWN'
        tar cfI PWN cat page
    """,
    "sed *": """
        sed '1e touch PWN' page
        sed 's/text/touch PWN/e' page
        sed -n 'w PWN' page
    """,
    "awk *": "awk -f script page",
    "xargs *": "xargs touch PWN",
    "env *": "env -S 'touch PWN'",
    "make *": """
        make -f script.mk
        make --ev='x:;touch PWN' x
    """,
}


REPOSITORY = """
    git init -q .
    git config user.name me
    git config user.email me@example.com
    printf '#!/bin/sh\\ntouch "$HOME/PWN"\\n' > hook
    chmod +x hook
    ln -s .git/hooks way
    git add page hook
    git commit -qm one
    git init -q --bare bare.git
    cp hook bare.git/hooks/post-receive
    echo more >> page
    git commit -qam two
    echo still more >> page
"""


def run(command: str, folder: Path) -> None:
    """Protocols that a system may have switched off are on, and nobody sits at an editor."""
    own = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
    allowed = {"GIT_ALLOW_PROTOCOL": "ext:file:ssh"}
    subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, **own, **allowed},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("pattern", "command"),
    [(rule, line.strip()) for rule, text in REAL.items() for line in text.strip().splitlines()],
)
def test_what_does_run_or_write_is_not_allowed(tmp_path: Path, pattern: str, command: str) -> None:
    (tmp_path / "page").write_text("text\n", encoding="utf-8")
    (tmp_path / "script").write_text('BEGIN { system("touch PWN") }', encoding="utf-8")
    (tmp_path / "script.mk").write_text("all:\n\ttouch PWN\n", encoding="utf-8")
    run(REPOSITORY, tmp_path)
    if "rebase" in command:
        run("git checkout -q page", tmp_path)
    if "bisect" in command:
        run("git checkout -q page; git bisect start HEAD HEAD~1", tmp_path)
    run(command, tmp_path)
    assert (tmp_path / "PWN").exists()
    said = permission_request({"permissionRequest": {"kind": "shell", "fullCommandText": command}})
    assert not holds(Rule(verdict="allow", wish="shell", command=pattern), said, tmp_path)
