/** Whether this browser is let in. Only the server's refusal says no; its silence says nothing. */

import { signal } from "@preact/signals";

export const access = signal<"asking" | "in" | "out">("asking");
/** Why a browser that was let in before is not any more, in the server's words. */
export const endedBy = signal<string | null>(null);

/** How the server refuses a browser that it had let in before. */
const ENDED = ["signed_out", "key_needed", "sign_in_outdated"];

type Refusal = { code?: string | null; detail?: string | null };

/** Why a sign-in has ended; null for a browser that had none. */
export const whyEnded = ({ code, detail }: Refusal): string | null =>
  ENDED.includes(code ?? "") ? (detail ?? null) : null;

/** Told of every answer: a refused one closes the page, a good one opens it. */
export function judged(status: number, why: string | null = null): void {
  if (status === 401) {
    access.value = "out";
    endedBy.value = why ?? endedBy.value;
  } else if (status < 500) {
    access.value = "in";
    endedBy.value = null;
  }
}
