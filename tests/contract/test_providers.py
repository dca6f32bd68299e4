"""Models of one's own, and the built-in rehearsal for those who have none."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from airboss.harness.providers import PLACEHOLDER_KEY
from tests.contract.conftest import SCRIPT
from tests.contract.guest import Guest, only
from tests.portal import Portal, Process

KEY = "key-of-the-house-0123456789"
SETTINGS = """
[[providers]]
name = "house"
base_url = "{base_url}"
key_variable = "HOUSE_KEY"
models = ["grand-model", "deep/er"]

[[providers]]
name = "poor"
base_url = "{base_url}"
key_variable = "POOR_KEY"
models = ["small"]

[[providers]]
name = "an"
type = "anthropic"
base_url = "{root}"
key_variable = "HOUSE_KEY"
models = ["claude"]

[[providers]]
name = "az"
type = "azure"
base_url = "{root}"
key_variable = "HOUSE_KEY"
models = ["deployed"]

[[providers]]
name = "answers"
wire = "responses"
base_url = "{base_url}"
key_variable = "HOUSE_KEY"
models = [{{ id = "m", wire_model = "other-name", prompt_tokens = 90000, vision = false }}]

[[providers]]
name = "az-versioned"
type = "azure"
auth = "bearer"
api_version = "2025-04-01-preview"
base_url = "{root}"
key_variable = "HOUSE_KEY"
models = ["deployed"]

[[providers]]
name = "az-answers"
type = "azure"
wire = "responses"
base_url = "{root}"
key_variable = "HOUSE_KEY"
models = ["deployed"]
"""


class BarePortal(Portal):
    """A server without `--rehearsal`."""

    def launch(self, words: list[str], log: Path) -> Process:
        place = words.index("--rehearsal")
        return super().launch([*words[:place], *words[place + 2 :]], log)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A model service in a process of its own; its address."""
    script = tmp_path_factory.mktemp("service") / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    words = ["-m", "airboss.runtime.rehearsal", "--script", str(script), "--key", KEY]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["base_url"]
        process.terminate()


@pytest.fixture(scope="module")
def providing_portal(service: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = BarePortal(tmp_path_factory.mktemp("providing"), extra_environ={"HOUSE_KEY": KEY})
    portal.data.mkdir()
    settings = SETTINGS.format(base_url=service, root=service.removesuffix("/v1"))
    (portal.data / "settings.toml").write_text(settings, encoding="utf-8")
    portal.start()
    yield portal
    portal.stop()


async def test_models_of_ones_own_are_named_after_their_provider(providing_portal: Portal) -> None:
    async with Guest.of(providing_portal) as guest:
        assert (await guest.seed("copilot/models"))["models"] == [
            {"name": "grand-model (house)", "id": "house/grand-model", "multiplier": 0},
            {"name": "deep/er (house)", "id": "house/deep/er", "multiplier": 0},
            {"name": "small (poor)", "id": "poor/small", "multiplier": 0},
            {"name": "claude (an)", "id": "an/claude", "multiplier": 0},
            {"name": "deployed (az)", "id": "az/deployed", "multiplier": 0},
            {"name": "m (answers)", "id": "answers/m", "multiplier": 0},
            {"name": "deployed (az-versioned)", "id": "az-versioned/deployed", "multiplier": 0},
            {"name": "deployed (az-answers)", "id": "az-answers/deployed", "multiplier": 0},
        ]
        told = await guest.seed("copilot/session/start/rehearsal")
        assert told == {"error": "ModelIdNotFound"}  # the built-in script is for who has nothing


@pytest.mark.parametrize(
    "model",
    [
        "house/grand-model",
        "house/deep/er",
        "house%2Fdeep%2Fer",
        "an/claude",
        "az/deployed",
        "answers/m",
        "az-versioned/deployed",
        "az-answers/deployed",
    ],
)
async def test_a_session_works_on_ones_own_model_with_the_key_of_its_variable(
    providing_portal: Portal, model: str
) -> None:
    async with Guest.of(providing_portal) as guest:
        session = await guest.start(model)
        events = await guest.turn(session, "greet")
        assert only("turn.ended", events)[0]["outcome"] == "done"
        assert only("message.ended", events)[0]["text"] == "Hello, captain. Ünïcödé 🛫 too."
        assert KEY not in json.dumps(events)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
async def test_the_key_is_in_no_process_and_no_file_of_an_agent(providing_portal: Portal) -> None:
    async with Guest.of(providing_portal) as guest:
        session = await guest.open(model="house/grand-model")
        await guest.turn(session, "greet")
        runtime = (await guest.http.get("/api/v1/status")).json()["runtime"]["pid"]
        assert providing_portal.note
        below = psutil.Process(providing_portal.note["pid"]).children(recursive=True)
        assert runtime in {process.pid for process in below}
        for process in below:
            assert KEY not in f"{process.environ()} {process.cmdline()}"
        said = await asyncio.to_thread(memory_of, runtime)
        assert PLACEHOLDER_KEY.encode() in said, "its memory was not read"
        assert KEY.encode() not in said
        exported = await guest.http.get(f"/api/v1/sessions/{session}/export")
        assert exported.status_code == 200
        assert KEY not in exported.text
    files = [path for path in providing_portal.folder.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def memory_of(pid: int) -> bytes:
    """All that a process can write to, as far as it is there."""
    found: list[bytes] = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text("ascii").splitlines():
            place, rights, *_ = line.split()
            begin, end = (int(text, 16) for text in place.split("-"))
            if rights.startswith("rw") and "[v" not in line:
                with contextlib.suppress(OSError, OverflowError):
                    memory.seek(begin)
                    found.append(memory.read(end - begin))
    return b"".join(found)


async def test_a_wrong_key_is_an_error_of_the_session(providing_portal: Portal) -> None:
    async with Guest.of(providing_portal) as guest:
        session = await guest.start("poor/small")
        events = await guest.turn(session, "greet")
        assert only("turn.ended", events)[0]["outcome"] == "failed"
        errors = only("session.error", events)
        assert len(errors) == 1
        assert "401" in str(errors[0]) or "key" in str(errors[0])


async def test_a_missing_key_is_told_by_status_and_doctor(providing_portal: Portal) -> None:
    async with Guest.of(providing_portal) as guest:
        status = (await guest.http.get("/api/v1/status")).json()
        assert {one["name"]: one["key"] for one in status["providers"]} == {
            "house": "set",
            "poor": "missing",
            "an": "set",
            "az": "set",
            "answers": "set",
            "az-versioned": "set",
            "az-answers": "set",
        }
        assert KEY not in json.dumps(status)
        checks = (await guest.http.get("/api/v1/doctor")).json()["checks"]
        check = next(check for check in checks if check["id"] == "providers")
        assert (check["state"], check["summary"]) == ("fail", "No key in POOR_KEY.")
        assert check["remedy"] == "Set POOR_KEY before `airboss serve`."


async def test_who_has_no_sign_in_and_no_provider_gets_the_built_in_rehearsal(
    tmp_path: Path,
) -> None:
    portal = BarePortal(tmp_path)
    portal.start()
    async with Guest.of(portal) as guest:
        assert (await guest.seed("copilot/models"))["models"] == [
            {"name": "Rehearsal (free, scripted)", "id": "rehearsal", "multiplier": 0}
        ]
        status = (await guest.http.get("/api/v1/status")).json()
        assert status["rehearsal"] == {"on": True, "builtin": True, "script": None}
        events = await guest.turn(await guest.start(), "hello")
        assert "rehearsal model" in only("message.ended", events)[0]["text"]
    portal.stop()


async def test_a_wrong_key_names_the_variable_of_the_provider(providing_portal: Portal) -> None:
    async with Guest.of(providing_portal) as guest:
        session = await guest.open(model="poor/small")
        await guest.prompt(session, "hello")
        await guest.until(session, "idle", seconds=30)
        [error] = only("session.error", await guest.follow_to(session, "session.idle"))
        assert "check the variable POOR_KEY of the provider poor" in error["message"]
        assert "COPILOT_PROVIDER" not in error["message"]


async def test_a_session_goes_on_at_another_provider_with_its_history(
    providing_portal: Portal,
) -> None:
    async with Guest.of(providing_portal) as guest:
        session = await guest.open(model="house/grand-model")
        await guest.turn(session, "greet me")
        path = f"/api/v1/sessions/{session}"
        for model in ("an/claude", "az/deployed", "house/deep/er"):
            answer = await guest.http.patch(path, json={"model": model})
            assert answer.status_code == 200, answer.text
            events = await guest.turn(session, "greet me again")
            [ended] = [told["event"] for told in events if told["event"]["kind"] == "turn.ended"]
            assert (ended["outcome"], ended["models"]) == ("done", [model.partition("/")[2]])
        asked = await guest.http.post(f"{path}/compact")
        assert asked.json()["removed"] >= 7, "all that was said before is still known"


async def test_a_provider_that_does_not_answer_fails_the_turn_and_the_way_back_works(
    providing_portal: Portal,
) -> None:
    async with Guest.of(providing_portal) as guest:
        session = await guest.open(model="house/grand-model")
        await guest.turn(session, "greet me")
        path = f"/api/v1/sessions/{session}"
        await guest.http.patch(path, json={"model": "poor/small"})
        events = await guest.turn(session, "greet me again")
        ends = [told["event"] for told in events if told["event"]["kind"] == "turn.ended"]
        assert ends[0]["outcome"] == "failed"
        await guest.http.patch(path, json={"model": "house/grand-model"})
        events = await guest.turn(session, "greet me again")
        ends = [told["event"] for told in events if told["event"]["kind"] == "turn.ended"]
        assert ends[0]["outcome"] == "done"


async def test_a_deep_examination_calls_a_model_of_each_provider(providing_portal: Portal) -> None:
    async with Guest.of(providing_portal) as guest:
        answer = await guest.http.post("/api/v1/doctor", timeout=60)
        assert answer.status_code == 200, answer.text
        found = {check["id"]: check for check in answer.json()["checks"]}
        assert found["provider.house"]["state"] == "ok", found["provider.house"]
        assert found["provider.poor"]["state"] == "fail"
        assert {found[name]["state"] for name in ("processes", "skills", "wishes")} == {"ok"}
        plain = (await guest.http.get("/api/v1/doctor")).json()["checks"]
        assert not any(check["id"].startswith("provider.") for check in plain)
