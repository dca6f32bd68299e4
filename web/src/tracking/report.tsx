/** The report of a run: outcome, words, what next, what was tried and asked, and what came of it. */

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { NextStep, Report as Told, TriedAttempt } from "../api/types.gen";
import { now } from "../live/feed";
import { CopyButton } from "../parts/copy";
import { Icon, type IconName } from "../parts/icon";
import { duration, fully, visible, visibleLines, when } from "../words";
import { Inline } from "./inline";
import { Decisions, Times } from "./report-figures";
import { Files } from "./report-files";
import { Part } from "./report-part";
import { TaskLines } from "./report-tasks";
import { barredHere, type RunActs } from "./run-acts";
import { Tags } from "./run-name";
import { Diffs } from "./use-report";

type Props = {
  report: Told;
  acts: RunActs;
  onTask: (work: number) => void;
  onEvent: (seq: number) => void;
  onChanges: () => void;
};

const LEADS: Partial<Record<Told["state"], [string, IconName]>> = {
  succeeded: ["ok", "tick"],
  failed: ["bad", "cross"],
  canceled: ["off", "slashed"],
};

export function Report({ report, acts, onTask, onEvent, onChanges }: Props) {
  const [look, icon] = LEADS[report.state] ?? ["run", "play"];
  const isBad = report.state === "failed" || report.state === "canceled";
  // On a phone it stays at the foot, and its place in the list has only the words.
  const retry = isBad ? report.next.find((step) => step.act === "retry") : undefined;
  const diffs = useMemo(() => new Diffs(report.id, report.seq), [report.id, report.seq]);
  return (
    <div class="report">
      <section class={`lead ${look}`} aria-label="Outcome">
        <Icon name={icon} />
        <div>
          <p class="say">
            <b>{visible(report.outcome.head)}</b> <Inline text={report.outcome.text} />
          </p>
          {!isBad && <Steps report={report} acts={acts} />}
        </div>
      </section>
      {report.words != null && (
        <Words words={report.words} onEvent={onEvent} onTask={onTask} report={report} />
      )}
      {isBad && <Next report={report} acts={acts} />}
      {report.tried.length > 0 && <Tried tried={report.tried} name={report.words?.task ?? ""} />}
      <Asked report={report} acts={acts} />
      <TaskLines report={report} onTask={onTask} />
      <Part
        title="What changed"
        aside={<Changed report={report} />}
        end={
          report.changes.files.length > 0 && (
            <button type="button" class="link" onClick={onChanges}>
              View all changes
            </button>
          )
        }
      >
        <Files changes={report.changes} diffs={diffs} open={report.state === "succeeded" ? 1 : 0} />
      </Part>
      <div class="pair">
        <Decisions report={report} />
        <Times report={report} />
      </div>
      {retry !== undefined && (
        <div class="stick">
          <Act step={retry} acts={acts} primary />
        </div>
      )}
    </div>
  );
}

export function Changed({ report }: { report: Told }) {
  const { files, added, removed, more } = report.changes;
  const count = files.length.toLocaleString("en");
  if (files.length === 0) return <>nothing</>;
  return (
    <>
      {more && "more than "}
      {files.length === 1 ? "1 file" : `${count} files`}, <span class="plus">+{added}</span>{" "}
      <span class="minus">−{removed}</span>, by all tasks
    </>
  );
}

type WordsProps = {
  report: Told;
  words: NonNullable<Told["words"]>;
  onTask: (work: number) => void;
  onEvent: (seq: number) => void;
};

/** Never cut and never restyled. */
function Words({ report, words, onTask, onEvent }: WordsProps) {
  const work = report.tasks.find((line) => line.task_run === words.task_run)?.work;
  const show = () => {
    if (work !== undefined) onTask(work);
    onEvent(words.seq);
  };
  return (
    <section class="words" aria-label="What the failed check said">
      <header>
        <b>What the failed check said</b>
        <span class="cut grow">
          {visible(words.field)}, attempt #{words.attempt}, {fully(words.at).slice(-8)}
        </span>
        <button type="button" class="link desk" onClick={show}>
          event {words.seq}
        </button>
        <CopyButton text={words.text} what="what the check said" />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what may scroll can be reached by keys */}
      <pre tabIndex={0}>{visibleLines(words.text)}</pre>
    </section>
  );
}

const ACTS: Record<NextStep["act"], [string, IconName]> = {
  retry: ["Retry the failed part", "play"],
  "open-session": ["Open the failed session", "terminal"],
  "run-again": ["Run again", "turn"],
  compare: ["Compare with…", "search"],
  decide: ["Decide", "hand"],
};

function Act({ step, acts, primary }: { step: NextStep; acts: RunActs; primary: boolean }) {
  const [word, icon] = ACTS[step.act];
  const look = primary ? "btn primary" : "btn";
  if (step.act === "open-session") {
    return (
      <a class={look} href={`/index.html?session=${step.session}`}>
        <Icon name={icon} />
        {word}
      </a>
    );
  }
  if (step.act === "compare") {
    return (
      <a class={look} href={acts.compareAddress}>
        <Icon name={icon} />
        {word}
      </a>
    );
  }
  const press = { retry: acts.retry, "run-again": acts.again, decide: acts.decide }[step.act];
  const needed = step.act === "decide" ? "decide" : "operate";
  return (
    <button
      type="button"
      class={look}
      disabled={acts.busy !== null}
      {...barredHere(needed)}
      onClick={() => void press()}
    >
      <Icon name={icon} />
      {word}
    </button>
  );
}

function Steps({ report, acts }: { report: Told; acts: RunActs }) {
  if (report.next.length === 0) return null;
  return (
    <div class="acts">
      {report.next.map((step) => (
        <Act key={step.act} step={step} acts={acts} primary={step.act === "decide"} />
      ))}
    </div>
  );
}

function Next({ report, acts }: { report: Told; acts: RunActs }) {
  return (
    <Part title="What to do next">
      <ul class="next">
        {report.next.map((step, at) => (
          <li key={step.act} class={step.act === "retry" ? "stuck" : ""}>
            <Act step={step} acts={acts} primary={at === 0} />
            <p>
              {at === 0 && <b class="on-phone">{ACTS[step.act][0]}. </b>}
              {visible(step.words)}
            </p>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Tried({ tried, name }: { tried: readonly TriedAttempt[]; name: string }) {
  const whole = tried.reduce((sum, one) => sum + one.milliseconds, 0);
  const count = tried.length === 1 ? "1 attempt" : `${tried.length} attempts`;
  return (
    <Part
      title="What was tried"
      aside={[visible(name), count, duration(whole)].filter(Boolean).join(", ")}
    >
      <table class="tried">
        <thead>
          <tr>
            <th class="w1" scope="col">
              Attempt
            </th>
            <th scope="col">What it did</th>
            <th class="w2" scope="col">
              What the check said
            </th>
            <th class="w3" scope="col">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {tried.map((one) => (
            <tr key={one.attempt}>
              <td class="n">Attempt #{one.attempt}</td>
              <td>
                <Inline text={one.said || "No conclusion."} />
              </td>
              <td class="chk">
                <Inline text={one.check} />
              </td>
              <td class="num small">
                <a
                  href={`/index.html?session=${one.session}`}
                  aria-label={`Session of attempt #${one.attempt}`}
                >
                  Session
                </a>{" "}
                <span class="faint">
                  {duration(one.milliseconds)} · {one.requests} req.
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

const SHORT = 700;

function Asked({ report, acts }: { report: Told; acts: RunActs }) {
  const whole = useSignal(false);
  const isLong = report.input.length > SHORT;
  const text = whole.value || !isLong ? report.input : `${report.input.slice(0, SHORT)} …`;
  return (
    <Part
      title="What was asked"
      end={
        isLong && (
          <button
            type="button"
            class="link"
            aria-expanded={whole.value}
            onClick={() => {
              whole.value = !whole.value;
            }}
          >
            {whole.value ? "Show less" : "Show full input"}
          </button>
        )
      }
    >
      <div class="asked">
        <blockquote>
          {report.input.trim() === "" ? (
            <span class="muted">The job takes no input.</span>
          ) : (
            visibleLines(text.trim())
          )}
        </blockquote>
        <dl class="facts">
          <dt>Folder</dt>
          <dd class="mono">{visible(report.folder)}</dd>
          <dt>Started</dt>
          <dd title={fully(report.started_at)}>
            {when(report.started_at, now.value)} by {visible(report.who)}
          </dd>
          <dt>Model</dt>
          <dd>{report.models.map(visible).join(", ") || "None yet"}</dd>
          <dt>Tags</dt>
          <dd class="tags">
            <Tags tags={report.tags} onChange={acts.tag} />
          </dd>
        </dl>
      </div>
    </Part>
  );
}
