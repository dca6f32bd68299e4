/** A job that does not run: its chart alone, over the full width. */

import { useEffect } from "preact/hooks";
import type { RunJob, TaskItem, TaskList } from "../api/types.gen";
import { watchList } from "../live/asked";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible, visibleLines } from "../words";
import { Drawing, useDrawing } from "./drawing";
import { JobState } from "./head";
import { badge, headline, useSteps } from "./page";
import type { Box } from "./shapes";
import { type Progress, tasks } from "./states";
import { jobByName, useJob, useWatched } from "./use";

export function Preview({ jobName }: { jobName: string }) {
  const { job, trouble } = useJob(() => jobByName(jobName)).value;
  useEffect(() => {
    badge.value = { kind: "preview" };
    headline.value = `JOB: PREVIEW · ${visible(jobName)}`;
  }, [jobName]);
  if (trouble !== null) {
    return (
      <div class="gate">
        <Note kind="err" title="Could not load this job.">
          <p>{visible(trouble)}</p>
          <p>
            Choose another one in <a href="/jobs.html">Available Jobs</a>.
          </p>
        </Note>
      </div>
    );
  }
  if (job === null) {
    return (
      <p class="gate load" aria-busy="true">
        <Icon name="clock" /> Loading the job…
      </p>
    );
  }
  return <Previewed job={job} />;
}

const NOTHING_RAN: Progress = new Map();

function Previewed({ job }: { job: RunJob }) {
  const drawn = useDrawing(job, NOTHING_RAN);
  const steps = useSteps(job);
  const known = useWatched("/api/v1/tasks", watchList<TaskList>)?.state.value?.items ?? [];
  const byName = new Map(known.map((task) => [task.name, task]));
  const hint = ({ of, width }: Box): string => {
    const task = of?.kind === "step" ? byName.get(taskOf(of.label)) : undefined;
    return task === undefined ? "" : begins(task, width);
  };
  const used = [...new Set([...steps.values()].map(({ task }) => taskOf(task)))].flatMap(
    (name) => byName.get(name) ?? [],
  );
  return (
    <div class="previewed">
      <div class="jobhead">
        <JobState title="preview" />
        <p class="small muted">
          {visible(job.name)} · {tasks(steps.size)}
          {job.requireUserInput && " · needs your input"}
        </p>
      </div>
      <div class="strip info">
        <Icon name="info" />
        <span>
          This is a preview: nothing runs and nothing is billed. To start the job, go to{" "}
          <a href="/jobs.html">Available Jobs</a>.
        </span>
      </div>
      <Drawing
        drawn={drawn}
        progress={NOTHING_RAN}
        isOver={false}
        tasks={steps.size}
        selected={null}
        reveal={false}
        onChoose={null}
        hint={hint}
      />
      <Prompts tasks={used} />
    </div>
  );
}

const LETTER = 6.2;

/** How a task's prompt begins, as far as its node is wide. */
function begins({ prompt }: TaskItem, width: number): string {
  const words = visible(prompt.trim().split("\n")[0] ?? "");
  const most = Math.max(8, Math.floor(width / LETTER) - 1);
  return words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words;
}

/** What each node asks for, whole. */
function Prompts({ tasks }: { tasks: readonly TaskItem[] }) {
  if (tasks.length === 0) return null;
  return (
    <section class="prompts" aria-labelledby="prompts">
      <h2 id="prompts">Prompts</h2>
      {tasks.map(({ name, description, prompt, requireUserInput }) => (
        <details key={name}>
          <summary>
            <span class="mono">{visible(name)}</span>
            {requireUserInput && <span class="muted"> · needs your input</span>}
            {description != null && <span class="muted"> · {visible(description)}</span>}
          </summary>
          <pre class="code">{visibleLines(prompt)}</pre>
        </details>
      ))}
    </section>
  );
}

/** A label has the model behind it where a job overrides that of the task. */
const taskOf = (label: string) => label.replace(/ \([^)]*\)$/, "");
