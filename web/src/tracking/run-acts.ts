/** What can be done with a run, for all parts of the page that offer it. */

import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { type Answer, patch, post, remove, whyNot } from "../api/client";
import { barred, type Role } from "../api/role";
import type { RunDetail, RunView } from "../api/types.gen";
import { confirmed } from "../parts/dialog";
import { visible } from "../words";
import { isPast } from "./player";
import { tasks } from "./states";

export type RunActs = {
  busy: string | null;
  trouble: string | null;
  stop: () => Promise<void>;
  retry: () => Promise<void>;
  again: () => Promise<void>;
  rename: (title: string) => Promise<boolean>;
  tag: (tags: readonly string[]) => Promise<boolean>;
  /** For good, and away from the page: asks first. */
  discard: () => Promise<void>;
  decide: () => void;
  compareAddress: string;
};

/** The same object until something about it changes, so that who shows it is not drawn again with
    each moment of the past. */
export function useRunActs(run: RunDetail, decide: () => void): RunActs {
  const busy = useSignal<string | null>(null);
  const trouble = useSignal<string | null>(null);
  const latest = useRef({ run, decide });
  latest.current = { run, decide };
  const here = `/api/v1/runs/${run.id}`;

  async function act(verb: string, ask: () => Promise<Answer<RunView>>): Promise<RunView | null> {
    busy.value = verb;
    trouble.value = null;
    const answer = await ask();
    busy.value = null;
    if (answer.kind === "ok") return answer.body;
    trouble.value = whyNot(answer);
    return null;
  }

  return useMemo(
    () => ({
      busy: busy.value,
      trouble: trouble.value,
      stop: async () => {
        const { run } = latest.current;
        if (run.running.length > 0 && !(await confirmed(stopping(run)))) return;
        await act("stop", () => post<RunView>(`${here}/stop`));
      },
      retry: async () => {
        await act("retry", () => post<RunView>(`${here}/retry`));
      },
      again: async () => {
        const started = await act("again", () => post<RunView>(`${here}/again`));
        if (started === null) return;
        const asked = new URLSearchParams({ jobName: started.job, jobId: started.id });
        location.assign(`/jobTracking.html?${asked}`);
      },
      rename: async (title) => (await act("rename", () => patch(here, { title }))) !== null,
      tag: async (tags) => (await act("tag", () => patch(here, { tags }))) !== null,
      discard: async () => {
        if (!(await confirmed(DISCARDING))) return;
        busy.value = "delete";
        const answer = await remove(here);
        busy.value = null;
        if (answer.kind === "ok") location.assign("/history.html");
        else trouble.value = whyNot(answer);
      },
      decide: () => latest.current.decide(),
      compareAddress: `/compare.html?a=${encodeURIComponent(run.id)}`,
    }),
    [run.id, busy.value, trouble.value],
  );
}

const DISCARDING = {
  title: "Delete this run?",
  body: "This permanently deletes the run with its tasks, sessions and conversations. Files in its folder are not changed.",
  action: "Delete",
  keep: "Cancel",
};

const IN_THE_PAST = "You are viewing the past. Go back to live or to the end first.";

/** For what is done with the run: not by every role, and not in the past. Spread last. */
export const barredHere = (needed: Role): ReturnType<typeof barred> =>
  isPast.value ? { disabled: true, title: IN_THE_PAST } : barred(needed);

const stopping = (run: RunDetail) => ({
  title: "Stop this job?",
  body: `${tasks(run.running.length)} running: ${run.running
    .slice(0, 4)
    .map((work) => visible(work.task))
    .join(
      ", ",
    )}${run.running.length > 4 ? ", …" : ""}. Their agents stop now. Finished tasks are kept, and you can retry the failed part.`,
  action: "Stop Job",
  keep: "Keep running",
});
