/** Whether this browser is let in. Only the server's refusal says no; its silence says nothing. */

import { signal } from "@preact/signals";

export const access = signal<"asking" | "in" | "out">("asking");

/** Told of every answer: a refused one closes the page, any other opens it. */
export function judged(status: number): void {
  access.value = status === 401 ? "out" : "in";
}
