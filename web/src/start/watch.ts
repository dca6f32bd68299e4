/** Keeps the Start page's knowledge current: asks every few seconds, and at once when asked to. */

import { signal } from "@preact/signals";
import { type Answer, get } from "../api/client";
import { readSessions, readStatus } from "../api/read";
import { signIn, takeCode } from "../signin";
import { type Happening, NOTHING_YET, reduce, type Trouble } from "./state";

export const EVERY_MS = 3_000;

export const start = signal(NOTHING_YET);
export const now = signal(Date.now());

const tell = (happening: Happening) => {
  start.value = reduce(start.value, happening);
  now.value = Date.now();
};

let code: string | null = null;
let asking = false;
let again = false;

export async function askNow(): Promise<void> {
  if (asking) {
    again = true; // what is under way may have begun before the reason to ask
    return;
  }
  asking = true;
  do {
    again = false;
    await round();
  } while (again);
  asking = false;
}

async function round(): Promise<void> {
  if (code !== null && !(await exchanged(code))) return;
  code = null;
  const [status, sessions] = await Promise.all([
    get("/api/v1/status"),
    get("/api/v1/sessions?limit=20"),
  ]);
  if (status.kind === "refused" || sessions.kind === "refused") return tell({ kind: "signed out" });
  if (status.kind !== "ok") return tell({ kind: "trouble", trouble: trouble(status) });
  if (sessions.kind !== "ok") return tell({ kind: "trouble", trouble: trouble(sessions) });
  tell({
    kind: "heard",
    at: Date.now(),
    status: readStatus(status.body),
    page: readSessions(sessions.body),
  });
}

/** Whether the server has judged the code. One that it never got is kept for the next try. */
async function exchanged(unused: string): Promise<boolean> {
  const answer = await signIn(unused);
  if (answer.kind === "refused") tell({ kind: "code refused", detail: answer.detail });
  if (answer.kind === "ok" || answer.kind === "refused") return true;
  tell({ kind: "trouble", trouble: trouble(answer) });
  return false;
}

const trouble = (answer: Answer): Trouble =>
  answer.kind === "failed" ? { kind: "failed", detail: answer.detail } : { kind: "lost" };

function arrive(): void {
  code = takeCode() ?? code;
  void askNow();
}

export function watch(): void {
  arrive();
  // A new address pasted over this page changes the fragment only: the page is not loaded again.
  addEventListener("hashchange", arrive);
  document.addEventListener("visibilitychange", () => document.hidden || void askNow());
  setInterval(() => {
    now.value = Date.now();
    if (!document.hidden && start.value.gate !== "out") void askNow();
  }, EVERY_MS);
}
