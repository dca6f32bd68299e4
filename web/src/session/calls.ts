/** What a person may do to a session, beyond asking it something. Each says what went wrong, or nothing. */

import { type Answer, patch, post, remove, whyNot } from "../api/client";
import type {
  ChangeSession,
  CommandDone,
  CompactionResult,
  QueuedPrompt,
  SessionView,
} from "../api/types.gen";

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

/** The model reads all of the history, and writes a summary of it. */
const COMPACTION_MS = 200_000;

/** What came of it, in words, where it is not to be seen in the conversation. */
export async function compact(
  session: string,
  instructions: string,
): Promise<{ trouble: Trouble; notice: string | null }> {
  const asked = instructions === "" ? {} : { instructions };
  const answer = await post<CompactionResult>(at(session, "compact"), asked, {}, COMPACTION_MS);
  if (answer.kind !== "ok") return { trouble: whyNot(answer), notice: null };
  const { compacted, stopped } = answer.body; // a stop is said in the conversation
  const notice = compacted || stopped ? null : "There is nothing to compact yet.";
  return { trouble: null, notice };
}

/** A copy of the session, or of what was before a message; with other permissions it enters a cage.
 *  Its page is opened. */
export async function fork(session: string, wish: ForkWish = {}): Promise<Trouble> {
  const answer = await post<SessionView>(at(session, "fork"), wish, {}, COMPACTION_MS);
  if (answer.kind !== "ok") return whyNot(answer);
  location.assign(`/index.html?${new URLSearchParams({ session: answer.body.id })}`);
  return null;
}

export const resume = async (session: string): Promise<Trouble> =>
  trouble(await post(at(session, "resume")));

export const rename = async (session: string, title: string): Promise<Trouble> =>
  trouble(await patch(`/api/v1/sessions/${session}`, { title }));

export const pin = async (session: string, pinned: boolean): Promise<Trouble> =>
  trouble(await patch(`/api/v1/sessions/${session}`, { pinned }));

export type ForkWish = { before?: string; permissions?: "caged" };

export type Switch = Required<
  Pick<ChangeSession, "model" | "reasoningEffort" | "permissions" | "agent">
>;

/** What a command answers, for people; nothing where it went to the agent. */
export async function invoke(
  session: string,
  name: string,
  input: string,
): Promise<{ trouble: Trouble; text: string | null }> {
  const answer = await post<CommandDone>(at(session, "commands"), { name, input });
  if (answer.kind !== "ok") return { trouble: whyNot(answer), text: null };
  return { trouble: null, text: answer.body.text ?? null };
}

/** From the next turn on. */
export const switchTo = async (session: string, wanted: Partial<Switch>): Promise<Trouble> =>
  trouble(await patch(`/api/v1/sessions/${session}`, wanted));

/** The same request, once more. */
export const askAgain = async (session: string, text: string): Promise<Trouble> =>
  trouble(await post(at(session, "prompts"), { text }));

/** The same request to another model, in a new session of the same folder, whose page is opened. */
export async function askElsewhere(
  { cwd, limits }: SessionView,
  model: string,
  text: string,
): Promise<Trouble> {
  const wanted = { model, cwd, limits };
  const opened = await post<SessionView>("/api/v1/sessions", wanted, {}, PATIENCE_MS);
  if (opened.kind !== "ok") return whyNot(opened);
  const sent = await askAgain(opened.body.id, text);
  if (sent !== null) return `A new session was started, but your message was not sent: ${sent}`;
  location.assign(`/index.html?${new URLSearchParams({ session: opened.body.id })}`);
  return null;
}

/** The runtime may have to start first. */
const PATIENCE_MS = 60_000;

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
  return sent.kind === "ok" ? null : `This message was not sent: ${queued.text} (${whyNot(sent)})`;
}
