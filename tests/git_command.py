"""Git as the person has it who made a repository of a test, whatever this machine says of them."""

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    done = subprocess.run(
        ("git", *who, *words), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout
