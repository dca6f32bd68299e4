"""What a doctor looks at beyond the server's own state: processes, skills, wishes, providers,
traces and transcripts."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import psutil
from pydantic import BaseModel, ConfigDict

from airboss.errors import Invalid
from airboss.harness.skills import skills_in
from airboss.harness.trial_result import TrialResult
from airboss.net.server_reach import server_troubles
from airboss.runtime.pool import Pool
from airboss.session_keys import ServerKeys
from airboss.telemetry_settings import Telemetry

if TYPE_CHECKING:
    from airboss.service.mirror import Mirror
    from airboss.telemetry.tracing import Tracing

_MEGABYTE: Final = 1024 * 1024
_MOST_WISHES: Final = 5


class Check(BaseModel):
    """One thing the doctor looked at."""

    model_config = ConfigDict(frozen=True)

    id: str
    state: Literal["ok", "warn", "fail"]
    summary: str
    detail: str = ""
    remedy: str = ""
    ms: int = 0


def check_telemetry(telemetry: Telemetry, tracing: "Tracing | None") -> Check:
    if tracing is None:
        return Check(id="telemetry", state="ok", summary="Off: no traces are sent.")
    sender = tracing.sender
    counts = f"{sender.sent} spans sent, {sender.waiting} waiting, {sender.lost} lost"
    what = "with content" if telemetry.content else "without content"
    if sender.trouble:
        summary = f"Traces cannot be sent to {telemetry.host}: {sender.trouble}."
        remedy = "Check that the collector runs, and [telemetry] in settings.toml. Work goes on."
        return Check(id="telemetry", state="warn", summary=summary, detail=counts, remedy=remedy)
    summary = f"Traces are sent to {telemetry.host}, {what}."
    return Check(id="telemetry", state="ok", summary=summary, detail=counts)


def check_transcripts(mirror: "Mirror | None") -> Check:
    if mirror is None:
        return Check(id="transcripts", state="ok", summary="Off: no transcripts are written.")
    where = f"Transcripts are written to {mirror.folder}."
    if not mirror.incomplete:
        return Check(id="transcripts", state="ok", summary=where, detail="audit: complete")
    sessions = ", ".join(sorted(mirror.incomplete)[:5])
    why = next(iter(mirror.incomplete.values()))
    return Check(
        id="transcripts",
        state="warn",
        summary=f"{len(mirror.incomplete)} transcripts are incomplete.",
        detail=f"audit: incomplete. {sessions}: {why}",
        remedy="Make the folder of transcripts writable, or free some space. The rest of a "
        "transcript is written with the next event of its session.",
    )


async def check_servers(servers: Mapping[str, ServerKeys], environ: Mapping[str, str]) -> Check:
    if not servers:
        return Check(id="mcp-servers", state="ok", summary="No MCP servers are configured.")
    if wrong := await server_troubles(servers, environ):
        summary = f"Not there: {'; '.join(wrong)}."
        remedy = "Sessions go on without a server that fails. Fix it in settings.toml, or here."
        return Check(id="mcp-servers", state="warn", summary=summary, remedy=remedy)
    summary = f"{len(servers)} configured, all found."
    return Check(id="mcp-servers", state="ok", summary=summary, detail=", ".join(servers))


async def check_processes(pool: Pool) -> Check:
    """The runtimes, with what agents started below them."""
    found = await pool.status()
    below = [await asyncio.to_thread(_below, said.pid) for said in found]
    size = sum(size for _, size in below) // _MEGABYTE
    sessions, restarts = sum(said.sessions for said in found), pool.restarts
    summary = f"{len(found)} runtimes, {size} MB, {sessions} sessions, {restarts} restarts"
    detail = f"Processes that agents started: {sum(count for count, _ in below)}."
    return Check(id="processes", state="ok", summary=summary, detail=detail)


def _below(pid: int | None) -> tuple[int, int]:
    if pid is None:  # somebody else's
        return 0, 0
    try:
        process = psutil.Process(pid)
        return len(process.children(recursive=True)), process.memory_info().rss
    except psutil.Error:  # it has ended meanwhile
        return 0, 0


def check_skills(folders: Sequence[Path | str]) -> Check:
    """Those of the settings. The runtime passes over what is wrong in silence."""
    if not folders:
        return Check(id="skills", state="ok", summary="No skills are configured.")
    names: list[str] = []
    for folder in folders:
        try:
            names += skills_in(Path(folder))
        except Invalid as error:
            remedy = "Fix it, or remove the folder from [session] skills in settings.toml."
            return Check(id="skills", state="fail", summary=str(error), remedy=remedy)
    summary = f"{len(names)} in {len(folders)} folders"
    return Check(id="skills", state="ok", summary=summary, detail=", ".join(names))


def check_wishes(ungranted: Sequence[str]) -> Check:
    """What an entry asks for and does not get, because nobody trusts its file."""
    if not ungranted:
        return Check(id="wishes", state="ok", summary="The entry asks for nothing more.")
    more = len(ungranted) - _MOST_WISHES
    told = [*ungranted[:_MOST_WISHES], *([f"and {more} more"] if more > 0 else [])]
    remedy = "Read the file, then run `airboss trust FILE` if these are right."
    summary = f"The entry asks for {len(ungranted)} things that are not granted."
    detail = "\n".join(told)
    return Check(id="wishes", state="warn", summary=summary, detail=detail, remedy=remedy)


def check_trial(name: str, tried: TrialResult) -> Check:
    """One call to a model of a provider."""
    row = f"provider.{name}"
    if tried.ok:
        first = (
            f", the first word came after {tried.first_word_ms} ms" if tried.first_word_ms else ""
        )
        return Check(id=row, state="ok", summary=f"{tried.model} answered{first}.")
    remedy = "Fix the provider on the Settings page or in settings.toml."
    summary = tried.problem or "It does not work."
    return Check(id=row, state="fail", summary=summary, remedy=remedy)
