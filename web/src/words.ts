/** Words for people: times, states, and text that others wrote. */

const two = (n: number) => String(n).padStart(2, "0");

/** 24 h, local. */
export function clock(ms: number): string {
  const time = new Date(ms);
  return `${two(time.getHours())}:${two(time.getMinutes())}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The time for today, else the day. */
export function when(ms: number, now: number): string {
  const time = new Date(ms);
  if (time.toDateString() === new Date(now).toDateString()) return clock(ms);
  const day = `${time.getDate()} ${MONTHS[time.getMonth()]}`;
  return time.getFullYear() === new Date(now).getFullYear() ? day : `${day} ${time.getFullYear()}`;
}

/** What a title of a time says in full. */
export function fully(ms: number): string {
  const time = new Date(ms);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${clock(ms)}:${two(time.getSeconds())}`;
}

// Controls, and characters that turn the direction of what follows: they could make a text lie.
const HIDDEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A model's or a stranger's text on one line, with what cannot be seen made visible. */
export function visible(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, " ")
    .replace(HIDDEN, (hidden) => `⟨${code(hidden)}⟩`)
    .trim();
}

const code = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

export type Look =
  | "waiting"
  | "running"
  | "you"
  | "resumed"
  | "ok"
  | "failed"
  | "canceled"
  | "stale";

const LOOKS: Record<string, Look> = {
  running: "running",
  working: "running",
  asking: "you",
  waiting_for_you: "you",
  resumed: "resumed",
  closed: "ok",
  succeeded: "ok",
  failed: "failed",
  interrupted: "canceled",
  canceled: "canceled",
};

/** How a state looks and what it is called. What a newer server calls otherwise is shown as it says it. */
export function stateOf(state: string, stale: boolean): { look: Look; word: string } {
  const key = state.toLowerCase().replace(/[\s-]+/g, "_");
  const said = visible(key.replaceAll("_", " "));
  const word = said.charAt(0).toUpperCase() + said.slice(1);
  const look = LOOKS[key] ?? "waiting";
  if (stale && look === "running") return { look: "stale", word: `Stale, was ${word}` };
  return { look, word };
}
