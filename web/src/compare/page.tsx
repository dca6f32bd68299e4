/** Two runs side by side: where they parted, figures, tasks, checks, and what the results differ in. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { ComparedRun, Comparison } from "../api/types.gen";
import { now } from "../live/feed";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { Status } from "../parts/status";
import { runAddress } from "../start/rows";
import { costOf, requestsOf } from "../state/figures";
import { Inline } from "../tracking/inline";
import { cost, duration, fully, visible, when } from "../words";
import { Choose } from "./choose";
import { ComparedFiles } from "./files";
import { Checks, Steps } from "./tables";

export const compareAddress = (a: string, b: string) =>
  `/compare.html?${new URLSearchParams(b === "" ? { a } : { a, b })}`;

export function ComparePage({ a, b }: { a: string; b: string }) {
  const told = useSignal<Comparison | null>(null);
  const trouble = useSignal<string | null>(null);
  const isWhole = a !== "" && b !== "";
  useEffect(() => {
    if (!isWhole) return;
    const asked = new URLSearchParams({ a, b });
    void get<Comparison>(`/api/v1/run-comparison?${asked}`).then((answer) => {
      if (answer.kind === "ok") told.value = answer.body;
      else trouble.value = whyNot(answer);
    });
  }, [a, b]);
  return (
    <div class="page cmp">
      <div class="row cmp-top">
        <h1>Compare two runs</h1>
        {told.value !== null && <span class="muted">of {jobsOf(told.value)}</span>}
        <span class="grow" />
        {isWhole && (
          <>
            <a class="btn ghost sm" href={compareAddress(b, a)}>
              <Icon name="turn" />
              Swap A and B
            </a>
            <a class="btn sm" href={compareAddress(a, "")}>
              Choose another run
            </a>
          </>
        )}
      </div>
      {trouble.value !== null && (
        <Note kind="err" title="Could not compare these runs.">
          {visible(trouble.value)}
        </Note>
      )}
      {!isWhole && <Choose a={a} />}
      {isWhole && told.value === null && trouble.value === null && (
        <p class="load" aria-busy="true">
          <Icon name="clock" /> Loading both runs…
        </p>
      )}
      {told.value !== null && <Compared told={told.value} />}
    </div>
  );
}

const jobsOf = ({ a, b }: Comparison) =>
  a.job === b.job ? visible(a.job) : `${visible(a.job)} and ${visible(b.job)}`;

function Compared({ told }: { told: Comparison }) {
  return (
    <>
      <div class="panel">
        <div class="cmp-head">
          <RunCard run={told.a} letter="A" />
          <RunCard run={told.b} letter="B" />
        </div>
        <div class="verdict">
          <Icon name="parted" />
          <p class="say">
            <b>{visible(told.head)}</b> <Inline text={told.text} />
          </p>
        </div>
        <Figures told={told} />
      </div>
      <Steps told={told} />
      <Checks told={told} />
      <ComparedFiles told={told} />
    </>
  );
}

export function Letter({ of }: { of: "A" | "B" }) {
  return (
    <span class={of === "A" ? "ab" : "ab b"}>
      <span class="vh">Run </span>
      {of}
    </span>
  );
}

function RunCard({ run, letter }: { run: ComparedRun; letter: "A" | "B" }) {
  const models = run.models.map(visible).join(", ");
  return (
    <div class="runcard">
      <div class="row">
        <Letter of={letter} />
        <a class="ttl cut quiet" href={runAddress(run.job, run.id)}>
          {visible(run.title || run.job)}
        </a>
        <Status state={run.state} />
      </div>
      <p class="small muted num" title={fully(run.started_at)}>
        {when(run.started_at, now.value)}, by {visible(run.who)} · {visible(run.folder)}
        {models !== "" && ` · ${models}`}
      </p>
    </div>
  );
}

function Figures({ told: { a, b, files_alike } }: { told: Comparison }) {
  const longer = b.worked_ms - a.worked_ms;
  const more = requestsOf(b.usage) - requestsOf(a.usage);
  return (
    <dl class="figures">
      <Figure
        name="Worked"
        a={duration(a.worked_ms)}
        b={duration(b.worked_ms)}
        words={
          Math.abs(longer) < 1000
            ? "same time"
            : `B ${duration(Math.abs(longer))} ${longer > 0 ? "longer" : "shorter"}`
        }
      />
      <Figure
        name="Cost"
        a={cost(costOf(a.usage))}
        b={cost(costOf(b.usage))}
        words={`${requestsOf(a.usage)} and ${requestsOf(b.usage)} requests${
          more === 0 ? "" : `, B ${Math.abs(more)} ${more > 0 ? "more" : "fewer"}`
        }`}
      />
      <Figure
        name="Tasks that succeeded"
        a={`${a.tasks_succeeded} of ${a.tasks}`}
        b={`${b.tasks_succeeded} of ${b.tasks}`}
        words=""
      />
      <Figure
        name="Waited for you"
        a={duration(a.waited_for_person_ms)}
        b={duration(b.waited_for_person_ms)}
        words=""
      />
      <Figure
        name="Changed"
        a={changed(a)}
        b={changed(b)}
        words={
          files_alike === 0
            ? ""
            : files_alike === 1
              ? "1 file is the same"
              : `${files_alike} files are the same`
        }
      />
    </dl>
  );
}

const changed = ({ files, added, removed }: ComparedRun) =>
  `${files === 1 ? "1 file" : `${files} files`} +${added} −${removed}`;

type FigureProps = { name: string; a: string; b: string; words: string };

function Figure({ name, a, b, words }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Letter of="A" /> <b>{a}</b>
      </dd>
      <dd>
        <Letter of="B" /> <b>{b}</b>
      </dd>
      <dd class="d">{words}</dd>
    </div>
  );
}
