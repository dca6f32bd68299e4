/** Words for people: times, states, and text that others wrote. */

import { HIDDEN, HIDDEN_IN_PROSE } from "./hidden.gen";

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

/** The same with the time of another day. */
export function began(ms: number, now: number): string {
  const day = when(ms, now);
  return day === clock(ms) ? day : `${day}, ${clock(ms)}`;
}

/** What a title of a time says in full. */
export function fully(ms: number): string {
  const time = new Date(ms);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${clock(ms)}:${two(time.getSeconds())}`;
}

/** How long something took or takes: 0:07, 12:05, 1:00:09. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** How long something took that takes no minutes: 412 ms, 1.2 s. */
export const instant = (ms: number): string =>
  ms < 1_000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`;

/** How long ago, or how long by now, in the largest unit that says enough: 40 s, 3 min, 2 h, 5 days. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? "1 day" : `${days} days`;
}

export const ago = (ms: number, now: number): string =>
  now - ms < 5_000 ? "just now" : `${span(now - ms)} ago`;

/** Tokens for a glance: 812, 12.4k, 1.2M. */
export function tokens(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 9_950) return `${trimmed(count / 1_000)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return `${trimmed(count / 1_000_000)}M`;
}

const trimmed = (value: number) => value.toFixed(1).replace(/\.0$/, "");

/** In the unit that is billed: requests, each as often as its model counts. Copilot calls them so; how
 *  often models were called is another number. */
export function cost(requests: number): string {
  const count = billed(requests);
  return `${count} premium ${count === "1" ? "request" : "requests"}`;
}

/** The same where the unit is known, as in a column of its own. */
export const billed = (requests: number): string =>
  Number(requests.toFixed(2)).toLocaleString("en");

/** Of a text that was too long: how much of it is not there. The server says it in the same words. */
export function leftOut(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "character" : "characters"} left out`;
}

const WHOLE = new RegExp(`[${HIDDEN}]`, "gu");
const IN_PROSE = new RegExp(HIDDEN_IN_PROSE, "gu");

const marked = (hidden: string): string => `⟨${code(hidden)}⟩`;

/** A model's or a stranger's text on one line, with what cannot be seen made visible. */
export function visible(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, " ")
    .replace(WHOLE, marked)
    .trim();
}

/** The same for a text of many lines, which counts letter by letter: tabs and line ends stay. */
export function visibleLines(text: string): string {
  return text.replace(WHOLE, (hidden) =>
    hidden === "\n" || hidden === "\t" ? hidden : marked(hidden),
  );
}

/** For a path, an address, a rule: tabs and line ends are marked as well, and nothing is trimmed. */
export const visibleWhole = (text: string): string => text.replace(WHOLE, marked);

/** For what is written to be read: emoji stay whole, spaces of all widths stay, `\r\n` is one. */
export const visibleProse = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(IN_PROSE, marked);

/** A person, a token, or the task that a session belongs to: its id tells people nothing. */
export const byTask = (text: string): string =>
  text.replace(/\btask tsk_[0-9a-z]{26}\b/g, "its task");

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
  waiting_for_person: "you",
  resumed: "resumed",
  closed: "ok",
  succeeded: "ok",
  failed: "failed",
  crashed: "failed",
  interrupted: "canceled",
  canceled: "canceled",
};

/** Where people say it in another way than the server. */
const WORDS: Record<string, string> = {
  waiting_for_person: "waiting for you",
  asking: "waiting for you",
};

/** How a state looks and what it is called. What a newer server calls otherwise is shown as it says it. */
export function stateOf(state: string, stale: boolean): { look: Look; word: string } {
  const key = state.toLowerCase().replace(/[\s-]+/g, "_");
  const said = visible((WORDS[key] ?? key).replaceAll("_", " "));
  const word = said.charAt(0).toUpperCase() + said.slice(1);
  const look = LOOKS[key] ?? "waiting";
  if (stale && look === "running") return { look: "stale", word: `Stale, was ${word}` };
  return { look, word };
}
