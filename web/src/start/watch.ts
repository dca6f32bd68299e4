/** Keeps the Start page's knowledge current: asks every few seconds, and at once when asked to. */

import { signal } from "@preact/signals";
import { type Answer, get } from "../api/client";
import { readSessions, readStatus } from "../api/read";
import { type Happening, NOTHING_YET, reduce, type Trouble } from "./state";

export const EVERY_MS = 3_000;

export const start = signal(NOTHING_YET);
export const now = signal(Date.now());

const tell = (happening: Happening) => {
  start.value = reduce(start.value, happening);
  now.value = Date.now();
};

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

const trouble = (answer: Answer): Trouble =>
  answer.kind === "failed" ? { kind: "failed", detail: answer.detail } : { kind: "lost" };

export function watch(): void {
  void askNow();
  document.addEventListener("visibilitychange", () => document.hidden || void askNow());
  setInterval(() => {
    now.value = Date.now();
    if (!document.hidden && start.value.gate !== "out") void askNow();
  }, EVERY_MS);
}
