/** What a person may do to a session, beyond asking it something. Each says what went wrong, or nothing. */

import { type Answer, get, patch, post, remove, whyNot } from "../api/client";
import type { QueuedPrompt, RunList, Status } from "../api/types.gen";

/** Null: it was done. */
export type Trouble = string | null;

const trouble = (answer: Answer): Trouble => (answer.kind === "ok" ? null : whyNot(answer));

const at = (session: string, rest: string) => `/api/v1/sessions/${session}/${rest}`;

export async function abort(session: string, taskRun: string | null): Promise<Trouble> {
  if (taskRun !== null) {
    const stopped = await post(`/api/v1/task-runs/${taskRun}/stop`);
    if (stopped.kind !== "ok") return trouble(stopped);
  }
  return trouble(await post(at(session, "abort")));
}

export const close = async (session: string): Promise<Trouble> =>
  trouble(await post(at(session, "close")));

export const resume = async (session: string): Promise<Trouble> =>
  trouble(await post(at(session, "resume")));

export const rewrite = async (session: string, prompt: string, text: string): Promise<Trouble> =>
  trouble(await patch(at(session, `queue/${prompt}`), { text }));

export const move = async (session: string, prompt: string, position: number): Promise<Trouble> =>
  trouble(await patch(at(session, `queue/${prompt}`), { position }));

export const drop = async (session: string, prompt: string): Promise<Trouble> =>
  trouble(await remove(at(session, `queue/${prompt}`)));

/** What waits goes into the running turn. It is taken out of the queue first, so that it is never there twice. */
export async function steer(session: string, queued: QueuedPrompt): Promise<Trouble> {
  const taken = await remove(at(session, `queue/${queued.prompt}`));
  if (taken.kind !== "ok") return trouble(taken);
  const sent = await post(at(session, "prompts"), { text: queued.text, delivery: "steer" });
  return sent.kind === "ok" ? null : `It was not sent: ${queued.text} (${whyNot(sent)})`;
}

/** What the end of the server would mean, for the question before it. */
export async function whatEnds(): Promise<string> {
  const [status, runs] = await Promise.all([
    get<Status>("/api/v1/status"),
    get<RunList>("/api/v1/runs?state=running&limit=200"),
  ]);
  const sessions = status.kind === "ok" ? status.body.sessions.open : 1;
  const jobs = runs.kind === "ok" ? runs.body.items.length : 0;
  const ends = sessions === 1 ? "1 session ends." : `${sessions} sessions end.`;
  const pauses =
    jobs === 0
      ? ""
      : jobs === 1
        ? " 1 job pauses and goes on at the next start; finished tasks are kept."
        : ` ${jobs} jobs pause and go on at the next start; finished tasks are kept.`;
  return `${ends}${pauses} Conversations are kept in History.`;
}

/** The session first: the server's end alone would only interrupt it. */
export async function stopServer(session: string): Promise<Trouble> {
  const closed = await post(at(session, "close"));
  if (closed.kind === "lost") return trouble(closed);
  return trouble(await post("/api/v1/stop"));
}
