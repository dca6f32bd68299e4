/** What an agent asks of a person, and what came of it, in words. Pure. */

import type { InboxItem, ItemSettled, LimitReached, Rule } from "../api/types.gen";
import { clock, duration, visible, when } from "../words";

export type Asked = InboxItem["asked"];
export type Settled = Pick<ItemSettled, "outcome" | "who" | "answer" | "reason"> & { at?: number };

export function iconOf({ kind }: Asked): "question" | "hand" | "plan" {
  if (kind === "plan.asked") return "plan";
  return kind === "question.asked" ? "question" : "hand";
}

/** On one line. */
export function titleOf(asked: Asked): string {
  switch (asked.kind) {
    case "approval.asked":
      return visible(asked.title);
    case "question.asked":
      return visible(asked.question.trim().split("\n")[0] ?? "");
    case "limit.reached":
      return `Continue? The ${visible(asked.scope)} has used ${usedOf(asked)}.`;
    case "plan.asked":
      return `Approve the plan? ${visible(headline(asked.plan ?? asked.summary))}`;
    case "sign-in.asked":
      return `Sign in at the MCP server ${visible(asked.server)}?`;
    case "switch.asked":
      return `Continue with another model? ${visible(asked.model)} is at its limit.`;
  }
}

/** The first line of a text in Markdown that says something. */
function headline(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/^[\s#>*\-+\d.]+/, "").trim());
  return lines.find((line) => line !== "") ?? "";
}

const UNITS: Record<string, string> = { idleMinutes: "idle minutes", cost: "requests" };

const amount = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });

const unit = (limit: string): string => visible(UNITS[limit] ?? limit);

const usedOf = ({ used, allowed, limit }: LimitReached): string =>
  `${amount(used)} of ${amount(allowed)} ${unit(limit)}`;

/** What a yes comes to. */
export function goingOnMeans({ more, allowed, used, limit, before_turn }: LimitReached): string {
  const next =
    more == null
      ? "Continuing removes the limit."
      : `Continuing raises the limit to ${amount(Math.max(allowed, used) + more)} ${unit(limit)}. Then you are asked again.`;
  const now = before_turn
    ? "The message has not been sent yet."
    : "Work done so far is kept either way.";
  return `${next} ${now}`;
}

const AT_THE_END: Record<Asked["kind"], string> = {
  "approval.asked": "Denied automatically",
  "question.asked": "Continues without an answer",
  "limit.reached": "Stopped automatically",
  "plan.asked": "Rejected automatically",
  "switch.asked": "Stopped automatically",
  "sign-in.asked": "Continues without it",
};

/** Since when it waits, and where somebody set a limit, what comes of it by itself. */
export function untilWhen(asked: Asked, asked_at: number, now: number): string {
  const time = clock(asked_at);
  const day = when(asked_at, now);
  const since = `Waiting since ${day === time ? time : `${day}, ${time}`}`;
  const end = endOf(asked, now);
  return end === "" ? since : `${since} · ${end}`;
}

function endOf({ kind, expires_at }: Asked, now: number): string {
  if (expires_at == null) return "";
  if (expires_at <= now) return `${AT_THE_END[kind]} now`;
  // Rounded up: at 0:01 there is still a second.
  return `${AT_THE_END[kind]} in ${duration(expires_at - now + 999)}`;
}

const OUTCOMES: Record<Settled["outcome"], string> = {
  "allow-once": "Allowed once",
  "allow-always": "Always allowed",
  deny: "Denied",
  answered: "Answered",
  declined: "Declined",
  "go-on": "Allowed to continue",
  approved: "Plan approved",
  rejected: "Plan rejected",
  "signed-in": "Signed in",
  timeout: "Timed out",
  cancelled: "Withdrawn",
};

/** One line: “Allowed once by laptop, 14:12”. */
export function becameOf(kind: Asked["kind"], { outcome, who, at, reason }: Settled): string {
  const stops = kind === "limit.reached" || kind === "switch.asked";
  const word = stops && outcome === "deny" ? "Stopped" : OUTCOMES[outcome];
  const by = who == null || who === "" ? word : `${word} by ${visible(who)}`;
  const when = at === undefined ? by : `${by}, ${clock(at)}`;
  return reason ? `${when}. ${visible(reason)}` : when;
}

export const wasYes = (outcome: Settled["outcome"]): boolean =>
  ["allow-once", "allow-always", "answered", "go-on", "approved", "signed-in"].includes(outcome);

const PARTS = ["tool", "command", "path", "host"] as const;

/** “shell npm run * in /home/me → allow”. */
export function ruleInWords(rule: Rule): string {
  const what = [rule.wish, ...PARTS.map((part) => rule[part])].filter((text) => text != null);
  const where = rule.folder == null ? "" : ` in ${rule.folder}`;
  return visible(`${what.length === 0 ? "everything" : what.join(" ")}${where} → ${rule.verdict}`);
}

/** How a form or a choice was answered, for people. */
export function answerInWords(answer: string): string {
  try {
    const fields: unknown = JSON.parse(answer);
    if (typeof fields !== "object" || fields === null) return visible(answer);
    return Object.entries(fields)
      .map(([name, value]) => `${visible(name)}: ${visible(shown(value))}`)
      .join(", ");
  } catch {
    return visible(answer);
  }
}

const shown = (value: unknown): string =>
  Array.isArray(value) ? value.map(shown).join(", ") : String(value);
