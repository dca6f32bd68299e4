/** A job that does not run: its chart alone, over the full width. */

import { useEffect } from "preact/hooks";
import type { RunJob, TaskList } from "../api/types.gen";
import { watchList } from "../live/list";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";
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
        <Note kind="err" title="This job cannot be shown.">
          <p>{visible(trouble)}</p>
          <p>
            <a href="/jobs.html">Available Jobs</a> has those that can be started.
          </p>
        </Note>
      </div>
    );
  }
  if (job === null) {
    return (
      <p class="gate load" aria-busy="true">
        <Icon name="clock" /> Reading the job …
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
  const needsInput = new Set(
    known.filter((task) => task.requireUserInput).map((task) => task.name),
  );
  const hint = ({ of }: Box): string =>
    of?.kind === "step" && needsInput.has(taskOf(of.label)) ? "needs your input" : "";
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
          Nothing runs here and nothing is charged. To start it, go back to{" "}
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
    </div>
  );
}

/** A label has the model behind it where a job overrides that of the task. */
const taskOf = (label: string) => label.replace(/ \([^)]*\)$/, "");
