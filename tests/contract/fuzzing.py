"""Asks a real server all that the API's description allows, and much that it does not.

Schemathesis makes the requests and looks at the answers; the server has a run, sessions, a task
run, rules, sign-ins and open items in it, so that most requests reach something. `make test` runs a
small share with a fixed seed, `make trials` (`python -m tests.contract.fuzzing`) as much as wanted.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from tests.contract.asking import SCRIPT as ASKING
from tests.contract.asking import AskedGuest
from tests.contract.job_guest import SCRIPT as JOBS
from tests.contract.job_guest import entry_of, ref, seq
from tests.pauses import pauses
from tests.portal import Portal
from tests.signing import sign_in_anew

ROOT: Final = Path(__file__).parents[2]
DESCRIPTION: Final = ROOT / "docs/api.json"
# What is never asked for, and why.
LEFT_OUT: Final = {
    "stop_server": "ends the server that is asked",
    "follow_events": "goes on for as long as its session is open",
    "follow_task_events": "goes on for as long as its task run",
    "follow_run_events": "goes on for as long as its run",
    "follow_inbox": "goes on for ever",
    "follow_feed": "goes on for ever",
    "follow_audit": "goes on for ever",
}
# What is asked for and may never succeed, and why; the other tests of this folder do it.
HARD_TO_REACH: Final = {
    "sign_in": "needs a code that is good once",
    "end_sign_in": "all of them may have been ended by then",
    "trust_path": "needs the digest of what was looked at",
    "distrust_path": "nothing was trusted",
    "save_entry_file": "needs the digest of the version that is there",
    "start_rehearsal": "needs an entry without errors",
    "show_rehearsal": "none was started",
    "cancel_rehearsal": "none was started",
    "test_known_provider": "no provider was added",
    "examine_deeply": "it calls models, and takes its time",
    "change_provider": "no provider was added",
    "remove_provider": "no provider was added",
    "remove_secret": "no secret was kept",
    "add_account": "needs a token that could be one",
    "test_account": "needs a token that could be one",
    "test_known_account": "no account was added",
    "change_account": "no account was added",
    "remove_account": "no account was added",
    "compact_session": "needs an open session that has a history",
    "fork_session": "needs an idle session that has a history",
    "arrange_rules": "needs every rule by its name",
    "show_image": "no image was sent",
    "change_queued": "nothing waits in the queue",
    "drop_queued": "nothing waits in the queue",
    "resume_session": "only what was interrupted goes on",
    "move_run": "there is one machine",
    "abort_turn": "the session may be closed",
    "ask_aside": "the session may be closed",
    "send_prompt": "the session may be closed",
    "clear_queue": "the session may be closed",
}
CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "unsupported_method",
    "allow_header_conformance",
)
# A request that is right may still name what is not there, or what is in another state. Every other
# refusal has to be in the operation's description.
ALWAYS_POSSIBLE: Final = ("2xx", "404", "409")
# How a wrong request may be refused: also for its size, before anybody reads what is wrong.
REFUSED: Final = ("400", "401", "403", "404", "405", "409", "413", "414", "415", "422", "429")
_SPARES: Final = 3
_SECONDS: Final = 3600


@dataclass(frozen=True)
class Outcome:
    """What Schemathesis said, and how many requests it made."""

    code: int
    report: str
    # How often each operation was answered with each status.
    answers: Counter[tuple[str, int]]

    @property
    def never_reached(self) -> set[str]:
        """Operations that were asked for, and never did what they are for."""
        done = {name for name, status in self.answers if status < 300}
        return {name for name, _ in self.answers} - done - set(HARD_TO_REACH)


@contextmanager
def furnished_portal(folder: Path) -> Generator[tuple[Portal, Path]]:
    """A server with something of everything, and the file that has its names."""
    entry = folder / "work/jobs.json"  # where agents may work, so that it can be installed again
    entry.parent.mkdir()
    entry.write_text(json.dumps(entry_of({"job": seq(ref("yes")), "bad": ref("no")})), "utf-8")
    options = ("--permissions", "ask", "--entry", str(entry))
    portal = Portal(folder, options, JOBS.replace("rules:", f"rules:\n{_rules_of(ASKING)}", 1))
    # New extensions of the user are written there, and not into the home of whoever tests.
    portal.extra_environ["COPILOT_HOME"] = str(folder / "copilot")
    for root in (portal.work / ".github", folder / "copilot"):
        (root / "extensions/guard").mkdir(parents=True)
        (root / "extensions/guard/extension.py").write_text("# nothing yet\n", "utf-8")
    portal.start()
    try:
        names = folder / "names.json"
        names.write_text(json.dumps(asyncio.run(_furnish(portal))), "utf-8")
        yield portal, names
    finally:
        portal.stop()


def _rules_of(script: str) -> str:
    return script.partition("rules:\n")[2].rstrip()


async def _furnish(portal: Portal) -> dict[str, list[str]]:
    """The names of all that is there, by what they are."""
    async with AskedGuest.of(portal) as guest:

        async def made(path: str, **body: Any) -> str:
            answer = await guest.http.post(f"/api/v1/{path}", json=body)
            assert answer.status_code == 201, answer.text
            return str(answer.json()["id"])

        session = await made("sessions", model="driver")
        await guest.turn(session, "hello")
        approvals = [(await guest.ask("touch it"))["id"] for _ in range(2)]
        questions = [(await guest.ask("what name"))["id"] for _ in range(4)]
        rules = [
            await made("rules", rule={"verdict": "ask", "wish": "shell", "command": f"make {n} *"})
            for n in range(_SPARES)
        ]
        runs = [await made("runs", job="job") for _ in range(_SPARES)]
        failed = [await made("runs", job="bad")]
        tasks = [await made("task-runs", task="yes") for _ in range(_SPARES)]
        failed_tasks = [await made("task-runs", task="no")]
        spare = [await made("sessions", model="driver") for _ in range(_SPARES)]
        for one in spare:
            await guest.do(one, "close")
        sign_ins = [sign_in_anew(portal.url, portal.token) for _ in range(_SPARES)]
        listed = (await guest.http.get("/api/v1/signins")).json()["items"]
        assert len(listed) == len(sign_ins)
        async with asyncio.timeout(60):
            for run in (*runs, *failed):
                await _until_over(guest, run)
            for task in (*tasks, *failed_tasks):
                await _until_over(guest, task, "task-runs")
    return {
        "session": [session],
        "closed session": spare,
        "run": [runs[0]],
        "ended run": runs[1:],
        "failed run": failed,
        "task_run": [tasks[0]],
        "ended task": tasks[1:],
        "failed task": failed_tasks,
        "approval": approvals,
        "question": questions,
        "rule": rules,
        "sign_in": [one["id"] for one in listed],
        "extension": ["guard"],
        "job": ["job"],
        "task": ["yes"],
        "cwd": [str(portal.work)],
        "model": ["driver"],
        "answer": ["Ada"],
        "path": [str(portal.work / "jobs.json")],
    }


async def _until_over(guest: AskedGuest, run: str, kind: str = "runs") -> None:
    state = "running"
    pause = pauses()
    while state in ("waiting", "running"):
        await asyncio.sleep(next(pause))
        state = (await guest.http.get(f"/api/v1/{kind}/{run}")).json()["state"]


def fuzz(
    portal: Portal,
    names: Path,
    *,
    seed: int,
    examples: int,
    one_of: int = 1,
    more: tuple[str, ...] = (),
) -> Outcome:
    """Every operation but those left out, with so many requests each; and for one of so many
    operations, every bound of every field in turn."""
    config, answers = names.with_name("schemathesis.toml"), names.with_name("answers.txt")
    config.write_text(_config(one_of), "utf-8")
    left_out = [word for name in LEFT_OUT for word in ("--exclude-operation-id", name)]
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"),
        *(str(DESCRIPTION), "--url", portal.url, "-H", f"Authorization: Bearer {portal.token}"),
        *("--checks", ",".join(CHECKS), "--seed", str(seed), "--max-examples", str(examples)),
        *("--phases", "examples,coverage,fuzzing", "--generation-database", "none"),
        *("--suppress-health-check", "all", "--request-timeout", "30", "--no-color"),
        *("--continue-on-failure", "--warnings", "off", *left_out, *more),
    ]
    environ = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "tests.contract.fuzz_hooks",
        "AIRBOSS_FUZZ_NAMES": str(names),
        "AIRBOSS_FUZZ_ANSWERS": str(answers),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "120",
    }
    done = subprocess.run(
        command, capture_output=True, text=True, env=environ, cwd=names.parent, timeout=_SECONDS
    )
    lines = answers.read_text("utf-8").splitlines() if answers.exists() else []
    counted = Counter((name, int(status)) for name, status in map(str.split, lines))
    return Outcome(done.returncode, f"{done.stdout}{done.stderr}", counted)


def described() -> list[dict[str, Any]]:
    """All operations, as the description has them."""
    paths = cast("dict[str, Any]", json.loads(DESCRIPTION.read_text("utf-8")))["paths"]
    return [operation for methods in paths.values() for operation in methods.values()]


def is_bounded(name: str, one_of: int) -> bool:
    """Whether the bounds of an operation's fields are tried: by its name, so that one more
    operation changes nothing for the others."""
    return zlib.crc32(name.encode()) % one_of == 0


def _config(one_of: int) -> str:
    """Which refusals each operation describes, as Schemathesis wants to be told."""
    parts = [f"checks.negative_data_rejection.expected-statuses = {json.dumps(REFUSED)}"]
    for operation in described():
        refusals = [status for status in operation["responses"] if status.startswith("4")]
        allowed = json.dumps([*ALWAYS_POSSIBLE, *refusals])
        parts += [
            "[[operations]]",
            f'include-operation-id = "{operation["operationId"]}"',
            f"checks.positive_data_acceptance.expected-statuses = {allowed}",
        ]
        if not is_bounded(operation["operationId"], one_of):
            parts.append("phases.coverage.enabled = false")
    return "\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzzes a real server by its own description.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=200, help="requests for each operation")
    parser.add_argument("--only", action="append", default=[], help="an operation's id")
    asked = parser.parse_args()
    only = tuple(word for name in asked.only for word in ("--include-operation-id", name))
    with tempfile.TemporaryDirectory() as folder, furnished_portal(Path(folder)) as (portal, names):
        outcome = fuzz(portal, names, seed=asked.seed, examples=asked.examples, more=only)
        errors = [line for line in portal.log.splitlines() if "Traceback" in line]
    told = [
        f"{name:20} {status} {count:6}" for (name, status), count in sorted(outcome.answers.items())
    ]
    never = ", ".join(sorted(outcome.never_reached)) or "none"
    told.append(f"{outcome.answers.total()} answers; never reached: {never}.")
    told.append(f"{len(errors)} tracebacks in the server's log.")
    sys.stdout.write("\n".join([outcome.report, *told, ""]))
    return outcome.code or bool(errors or (outcome.never_reached and not only))


if __name__ == "__main__":
    sys.exit(main())
