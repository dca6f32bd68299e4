/** Whether this browser is let in. Only the server's refusal says no; its silence says nothing. */

import { signal } from "@preact/signals";

export const access = signal<"asking" | "in" | "out">("asking");

/** Told of every answer: a refused one closes the page, a good one opens it. */
export function judged(status: number): void {
  if (status === 401) access.value = "out";
  else if (status < 500) access.value = "in";
}
