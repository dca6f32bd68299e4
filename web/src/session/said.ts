/** What blocks say of themselves in a line: their headings, and what is in them while they are closed. */

import type { Block, TextBlock } from "../state/types";
import { visible } from "../words";

const TYPES = { user: "User", reasoning: "Reasoning", message: "Message" } as const;

const SUMMARY = 160;

export type Heading = { type: string; title: string | null };

export function heading(block: TextBlock): Heading {
  return { type: TYPES[block.kind], title: block.title?.slice(0, SUMMARY) ?? null };
}

/** Whether a block is open before anybody has touched it. */
export function opensItself(block: Block): boolean {
  return block.kind === "user" || block.kind === "message";
}

/** The first line that says something, without the marks of markdown. */
export function firstLine(text: string): string {
  const head = text.slice(0, 4_000);
  const line = head.split("\n").find((each) => /[\p{L}\p{N}]/u.test(each)) ?? "";
  return visible(
    line.replace(/^\s*(#{1,6}|[-*+>]|\d{1,3}[.)])\s+/, "").replace(/\*\*|__|`/g, ""),
  ).slice(0, SUMMARY);
}

const LONGEST_ARGUMENTS = 200_000;

/** Arguments come as JSON; what is not, or is too long to look into, is taken as it is. */
export function argumentsOf(text: string): Record<string, unknown> | null {
  if (text.length > LONGEST_ARGUMENTS) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** How long something took, to read at a glance; from a minute on as m:ss. */
export function took(ms: number): string {
  const least = Math.max(0, ms);
  if (least > 0 && least < 100) return "< 0.1 s";
  if (least < 10_000) return `${(least / 1000).toFixed(1)} s`;
  const seconds = Math.round(least / 1000);
  if (seconds < 60) return `${seconds} s`;
  const two = (n: number) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** The end of a text that is still coming: more than this is never in view. */
const LAST = 3_000;

export const theEnd = (text: string): string => (text.length <= LAST ? text : text.slice(-LAST));
