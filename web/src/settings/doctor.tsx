/** The doctor: what is well, what is not, and what to do about it. */

import { useEffect, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import { serverTime } from "../api/clock";
import type { Check, DoctorReport } from "../api/types.gen";
import { CopyButton } from "../parts/copy";
import { Icon, type IconName } from "../parts/icon";
import { Note } from "../parts/note";
import { clock, visible } from "../words";
import { piecesOf } from "./remedy";

const LOOKS: Record<Check["state"], { look: string; word: string; icon: IconName }> = {
  fail: { look: "failed", word: "Failed", icon: "cross" },
  warn: { look: "you", word: "Warning", icon: "hand" },
  ok: { look: "ok", word: "OK", icon: "tick" },
};

const NAMES: Record<string, string> = {
  store: "Data folder",
  runtime: "Agent runtime",
  "sign-in": "GitHub Copilot",
  accounts: "Accounts",
  homes: "Folders of the agent runtime",
  models: "Models",
  providers: "Providers",
  entry: "Entry",
  exposure: "Exposure",
  "agents-user": "User that agents run as",
  memory: "Secrets in memory",
  telemetry: "Telemetry",
  transcripts: "Transcripts",
  processes: "Processes",
  skills: "Skills",
  wishes: "What entries asked for but did not get",
  hooks: "Hooks",
  bindings: "Sessions that can be resumed",
  "mcp-servers": "MCP servers",
  extensions: "Extensions",
};

const URGENCY = { fail: 0, warn: 1, ok: 2 };
// Each check has 25 s, and all are made at once.
const PATIENCE_MS = 40_000;

type Examined = { checks: readonly Check[]; at: number };

export function Doctor({ onNeed }: { onNeed: (count: number) => void }) {
  const [examined, know] = useState<Examined | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  const [checking, check] = useState(true);
  // asked for again by `checking` alone
  useEffect(() => {
    if (!checking) return;
    let gone = false;
    void get<DoctorReport>("/api/v1/doctor", PATIENCE_MS).then((answer) => {
      if (gone) return;
      check(false);
      tell(answer.kind === "ok" ? null : whyNot(answer));
      if (answer.kind !== "ok") return;
      const checks = answer.body.checks.toSorted((a, b) => URGENCY[a.state] - URGENCY[b.state]);
      know({ checks, at: serverTime() });
      onNeed(checks.filter(({ state }) => state !== "ok").length);
    });
    return () => {
      gone = true;
    };
  }, [checking]);
  const needs = examined?.checks.filter(({ state }) => state !== "ok").length ?? 0;
  return (
    <section class="panel" id="doctor" aria-labelledby="doctor-title" aria-busy={checking}>
      <header>
        <h2 id="doctor-title">Doctor</h2>
        <span class="small muted" role="status">
          {checking && "Checking…"}
          {!checking && examined !== null && (
            <>
              {needs === 0
                ? "All checks passed"
                : `${needs} of ${examined.checks.length} need attention`}
              , checked {clock(examined.at)}
            </>
          )}
        </span>
        <span class="grow" />
        {examined !== null && (
          <button type="button" class="btn ghost sm" onClick={() => download(examined)}>
            <Icon name="download" size="s" />
            Download the report
          </button>
        )}
        <button type="button" class="btn sm" disabled={checking} onClick={() => check(true)}>
          <Icon name="turn" size="s" />
          Check again
        </button>
      </header>
      {trouble !== null && (
        <div class="pad">
          <Note kind="err" title="Could not run the doctor.">
            {visible(trouble)}
          </Note>
        </div>
      )}
      <ul class="doc">
        {examined?.checks.map((one) => (
          <Row key={one.id} check={one} />
        ))}
      </ul>
    </section>
  );
}

function Row({ check }: { check: Check }) {
  const { look, word, icon } = LOOKS[check.state];
  return (
    <li>
      <span class={`st ${look}`}>
        <Icon name={icon} />
        {word}
      </span>
      <div>
        <span class="b">{NAMES[check.id] ?? visible(check.id)}</span>
        <small>{visible(check.summary)}</small>
        {check.detail !== "" && <small>{visible(check.detail)}</small>}
        {check.state !== "ok" && check.remedy !== "" && <Remedy words={check.remedy} />}
      </div>
      <span class="num small faint">{(check.ms / 1000).toFixed(1)} s</span>
    </li>
  );
}

function Remedy({ words }: { words: string }) {
  return (
    <div class="fix">
      {piecesOf(visible(words)).map(({ kind, text }) =>
        kind === "words" ? (
          <span key={text}>{text}</span>
        ) : (
          <span key={text} class="row">
            <code>{text}</code>
            <CopyButton text={text} what="the command" />
          </span>
        ),
      )}
    </div>
  );
}

function download({ checks, at }: Examined): void {
  const report = JSON.stringify({ at: new Date(at).toISOString(), checks }, null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([report], { type: "application/json" }));
  link.download = "airboss-doctor.json";
  link.click();
  URL.revokeObjectURL(link.href);
}
