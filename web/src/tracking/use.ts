/** What the page's parts watch while they are shown. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { RunJob } from "../api/types.gen";
import { watchSession } from "../live/session";
import type { Watched } from "../live/watched";
import { NEW_SESSION } from "../state/session";
import type { SessionState } from "../state/types";

/** Watches as long as the part is shown, anew for another name. */
export function useWatched<State>(
  name: string | null,
  watch: (name: string) => Watched<State>,
): Watched<State> | null {
  const watched = useMemo(() => (name === null ? null : watch(name)), [name]);
  useEffect(() => () => watched?.stop(), [watched]);
  return watched;
}

const NO_SESSIONS: readonly SessionState[] = [];

/** Several sessions at once; null until each is there. */
export function useSessions(names: readonly string[]): readonly SessionState[] | null {
  const key = names.join();
  const all = useMemo(() => new Map<string, ReturnType<typeof watchSession>>(), []);
  const watched = useMemo(() => {
    for (const [name, one] of all) {
      if (names.includes(name)) continue;
      one.stop();
      all.delete(name);
    }
    for (const name of names) if (!all.has(name)) all.set(name, watchSession(name));
    return names.map((name) => all.get(name)).filter((one) => one !== undefined);
  }, [key]);
  useEffect(
    () => () => {
      for (const one of all.values()) one.stop();
    },
    [all],
  );
  if (watched.length === 0) return NO_SESSIONS;
  // One that was deleted says nothing any more, and keeps nobody waiting.
  const isThere = watched.every((one) => one.loaded.value || one.trouble.value !== null);
  return isThere ? watched.map((one) => one.state.value ?? NEW_SESSION) : null;
}

const AGAIN_MS = 1_500;

/** The job with its chart: it does not change while the page is open. */
export function useJob(load: () => Promise<JobAnswer>) {
  const job = useSignal<RunJob | null>(null);
  const trouble = useSignal<string | null>(null);
  useEffect(() => {
    let left = false;
    const ask = async () => {
      const answer = await load();
      if (left) return;
      if (answer.kind === "job") job.value = answer.job;
      else if (answer.kind === "never") trouble.value = answer.why;
      else setTimeout(() => void ask(), AGAIN_MS);
    };
    void ask();
    return () => {
      left = true;
    };
  }, []);
  return useComputed(() => ({ job: job.value, trouble: trouble.value }));
}

export type JobAnswer =
  | { kind: "job"; job: RunJob }
  | { kind: "never"; why: string }
  | { kind: "later" };

export async function jobOfRun(run: string): Promise<JobAnswer> {
  const answer = await get<RunJob>(`/api/v1/runs/${encodeURIComponent(run)}/job`);
  if (answer.kind === "ok") return { kind: "job", job: answer.body };
  return answer.kind === "failed" && answer.status < 500
    ? { kind: "never", why: whyNot(answer) }
    : { kind: "later" };
}

export async function jobByName(name: string): Promise<JobAnswer> {
  const answer = await get<{ items: RunJob[] }>("/api/v1/jobs");
  if (answer.kind !== "ok") return { kind: "later" };
  const job = answer.body.items.find((one) => one.name === name);
  return job === undefined
    ? { kind: "never", why: `There is no job ${name} in the entry in use.` }
    : { kind: "job", job };
}
