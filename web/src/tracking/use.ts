/** What the page's parts watch while they are shown. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
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

type OneSession = ReturnType<typeof watchSession>;

/** So long a session is still watched that nobody shows any more: who drags along the timeline comes
    back to it at once, and a long one is not read twice. */
const LINGERS_MS = 10_000;
const open = new Map<string, { one: OneSession; users: number }>();

function take(name: string): OneSession {
  const known = open.get(name) ?? { one: watchSession(name), users: 0 };
  known.users += 1;
  open.set(name, known);
  return known.one;
}

function giveBack(name: string): void {
  const known = open.get(name);
  if (known === undefined) return;
  known.users -= 1;
  setTimeout(() => {
    if (known.users > 0 || open.get(name) !== known) return;
    open.delete(name);
    known.one.stop();
  }, LINGERS_MS);
}

export type Sessions = {
  /** Null until each is there. The same list until one of them has changed. */
  states: readonly SessionState[] | null;
  /** Whether what was said before the end is still on its way. */
  earlier: boolean;
};

/** Several sessions at once. */
export function useSessions(names: readonly string[]): Sessions {
  const all = useMemo(() => new Map<string, OneSession>(), []);
  const watched = useMemo(() => {
    for (const name of [...all.keys()]) {
      if (names.includes(name)) continue;
      all.delete(name);
      giveBack(name);
    }
    for (const name of names) if (!all.has(name)) all.set(name, take(name));
    return names.map((name) => all.get(name)).filter((one) => one !== undefined);
  }, [names.join()]);
  useEffect(
    () => () => {
      for (const name of all.keys()) giveBack(name);
    },
    [all],
  );
  const before = useRef<readonly SessionState[]>([]);
  if (watched.length === 0) return { states: NO_SESSIONS, earlier: false };
  // One that was deleted says nothing any more, and keeps nobody waiting.
  const isThere = watched.every((one) => one.loaded.value || one.trouble.value !== null);
  const earlier = watched.some((one) => one.earlier.value);
  if (!isThere) return { states: null, earlier };
  const states = watched.map((one) => one.state.value ?? NEW_SESSION);
  const isSame = states.every((one, place) => one === before.current[place]);
  if (!isSame || states.length !== before.current.length) before.current = states;
  return { states: before.current, earlier };
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
    ? { kind: "never", why: `The current entry has no job named ${name}.` }
    : { kind: "job", job };
}
