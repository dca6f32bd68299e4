"""Who we are to Copilot: a token from the environment, in a fixed order, or the CLI's sign-in."""

from collections.abc import Mapping
from dataclasses import dataclass

# The order of the Copilot CLI itself: the most specific name first.
TOKEN_VARIABLES = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")


@dataclass(frozen=True)
class Identity:
    """How sessions sign in. The token goes along with each session, never into an environment."""

    how: str
    token: str | None = None

    def __repr__(self) -> str:
        return f"Identity(how={self.how!r})"


def find_identity(environ: Mapping[str, str]) -> Identity:
    for name in TOKEN_VARIABLES:
        token = environ.get(name, "").strip()
        if token:
            return Identity(name, token)
    return Identity("cli")
