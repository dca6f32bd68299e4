"""A server with every kind of secret in its environment, on a stand-in of Copilot's service."""

import asyncio
import secrets
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from platformdirs import user_cache_path

from tests.portal import Portal
from tests.runtime.copilot_service import Stage, on_stage

# The model says a secret in pieces of three letters, thinks it, and hands it to a tool.
SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
chunk_chars: 3
rules:
  - when: "tell me"
    steps:
      - reasoning: "I remember SECRET, and should not."
      - say: "It is SECRET, is it not?"
      - call: {tool: bash, arguments: {description: "SECRET", command: "echo SECRET | tee told"}}
      - call: {tool: bash, arguments: {description: "read", command: "cat secret.txt SECRET"}}
      - say: "So SECRET it is: SECRETSECRET."
  - when: "look"
    steps:
      - call: {tool: view, arguments: {path: "{cwd}/way-out/outside.txt"}}
      - call: {tool: view, arguments: {path: "{cwd}/../outside/outside.txt"}}
      - call: {tool: view, arguments: {path: "{cwd}/inside.txt"}}
      - call: {tool: bash, arguments: {description: "read", command: "cat way-out/outside.txt"}}
      - say: "That is what I saw."
  - when: "wait"
    steps: [{say: "Wait."}, {sleep: 30}]
"""

SETTINGS = """
[[providers]]
name = "house"
base_url = "ADDRESS/v1"
key_variable = "HOUSE_LLM"
models = ["stand-in"]
"""


def made_up(begin: str) -> str:
    return begin + secrets.token_hex(20)


@dataclass
class Vault:
    """Everything that must not be seen, by the variable that holds it."""

    token: str = field(default_factory=lambda: made_up("portal-"))
    given: dict[str, str] = field(
        default_factory=lambda: {
            "COPILOT_GITHUB_TOKEN": made_up("no-shape-of-ours-"),
            "GH_TOKEN": made_up("gho_"),
            "GITHUB_TOKEN": made_up("ghp_"),
            "HOUSE_LLM": made_up("house-llm-"),
        }
    )
    # Not ours to know, and not for agents either.
    others: dict[str, str] = field(
        default_factory=lambda: {
            "AWS_SECRET_ACCESS_KEY": made_up("aws-"),
            "NPM_TOKEN": made_up("npm-"),
            "DATABASE_URL": f"postgres://me:{made_up('word-')}@db.invalid/x",
        }
    )

    # What a person's own profile exports to every login shell.
    profile: str = field(default_factory=lambda: made_up("gho_"))

    @property
    def known(self) -> tuple[str, ...]:
        """What the server knows to be secret."""
        return (self.token, *self.given.values())


@dataclass
class Guarded:
    """The server, the service behind it, and what it must keep to itself."""

    portal: Portal
    stage: Stage
    vault: Vault


@pytest.fixture(scope="session")
def closed_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """One for all who knock from outside and leave it as it is."""
    portal = Portal(tmp_path_factory.mktemp("closed"))
    portal.start()
    yield portal
    portal.stop()


@contextmanager
def staged() -> Generator[Stage]:
    """The stand-in, in a thread of its own: many tests share it, each with its own event loop."""
    stage, loop = Stage(), asyncio.new_event_loop()
    serving, over = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with on_stage(stage):
            serving.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert serving.wait(10)
        yield stage
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    vault, folder = Vault(), tmp_path_factory.mktemp("guarded")
    places = ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    addresses = ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL")
    with staged() as stage:
        portal = Portal(
            folder,
            ("--permissions", "approve-all"),
            SCRIPT.replace("SECRET", vault.given["HOUSE_LLM"]),
            {
                "AIRBOSS_TOKEN": vault.token,
                **vault.given,
                **vault.others,
                "HOME": str(folder / "home"),
                "XDG_CACHE_HOME": str(user_cache_path()),
                **{name: str(folder / name) for name in places},
                **dict.fromkeys(addresses, stage.address),
            },
        )
        portal.data.mkdir()
        (folder / "home").mkdir()
        for name in (".profile", ".bash_profile", ".bashrc"):
            (folder / "home" / name).write_text(f"export GH_TOKEN={vault.profile}\n", "utf-8")
        settings = SETTINGS.replace("ADDRESS", stage.address)
        (portal.data / "settings.toml").write_text(settings, "utf-8")
        portal.work.mkdir()
        (portal.work / "secret.txt").write_text(f"a {vault.given['GH_TOKEN']} b\n", "utf-8")
        portal.start()
        try:
            yield Guarded(portal, stage, vault)
        finally:
            portal.stop()
