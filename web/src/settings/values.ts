/** What a setting says, in words, and what somebody typed as a value. Pure. */

import type { Setting } from "../api/types.gen";

export type Value = Setting["value"];

export function valueInWords(value: Value): string {
  if (value === null) return "not set";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}

/** As it stands in the box: a list has a line for each. */
export function textOf(value: Value): string {
  if (value === null) return "";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** What was typed. What is no number goes to the server as it is, which says what is wrong. */
export function typedValue(kind: Setting["kind"], text: string): Value {
  const typed = text.trim();
  if (kind === "list") return typed === "" ? [] : typed.split("\n").map((line) => line.trim());
  if (kind === "switch") return typed === "true";
  if (typed === "") return null;
  if (kind !== "number") return typed;
  const number = Number(typed);
  return Number.isFinite(number) ? number : typed;
}

export const same = (one: Value, other: Value): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export function effectInWords(effect: Setting["effect"]): string {
  return EFFECTS[effect];
}

const EFFECTS = {
  at_once: "Takes effect immediately.",
  new_sessions: "Applies to sessions started or resumed after the change.",
  within_the_hour: "Takes effect within an hour.",
  next_start: "Takes effect after a restart.",
} as const;
