/** Who or what allowed a call that no person of this session was asked about, in words. Pure. */

import { ruleInWords } from "../../parts/asking";
import type { Permission, ToolBlock } from "../../state/types";
import { visible } from "../../words";
import { callOf } from "./kinds";

/** As much of a rule as has a place in a row. */
const LONGEST_RULE = 40;

/** Reading below the folder is what every policy but one allows: nothing to say in a row. */
export function isPlainLook(tool: ToolBlock): boolean {
  const { permission } = tool;
  if (!permission?.allowed || !permission.by.startsWith("policy ")) return false;
  return ["read", "search"].includes(callOf(tool).kind);
}

/** “Allowed by rule shell pytest *”, “Allowed by policy approve-all”. */
export function permittedInWords(permission: Permission): string {
  const verdict = permission.allowed ? "Allowed" : "Denied";
  const [what, name] = parted(permission.by);
  switch (what) {
    case "rule":
      return name === "session"
        ? `${verdict} for this session`
        : `${verdict} by rule${briefly(permission)}`;
    case "policy":
      return `${verdict} by policy ${name}`;
    case "person":
      return `${verdict} earlier by ${name}`;
    case "size":
      return `${verdict}: too long to show`;
    case "limit":
      return `${verdict}: limit reached`;
    default:
      return `${verdict}: nobody decided`;
  }
}

/** The same with all of the rule, or with the reason. */
export function permittedInFull(permission: Permission): string {
  const { by, rule, allowed, reason } = permission;
  if (rule === null) return `${permittedInWords(permission)}. ${visible(reason)}`.trim();
  const verdict = allowed ? "Allowed" : "Denied";
  const [, name] = parted(by);
  const whose = name === "session" ? "a rule for this session only" : `rule ${name}`;
  return `${verdict} by ${whose}: ${ruleInWords(rule)}`;
}

function parted(by: string): [string, string] {
  const [what = "", ...rest] = by.split(" ");
  return [what, visible(rest.join(" "))];
}

function briefly({ rule }: Permission): string {
  if (rule === null) return "";
  const words = ruleInWords({ ...rule, folder: null }).replace(/ → \w+$/, "");
  return ` ${words.length > LONGEST_RULE ? `${words.slice(0, LONGEST_RULE - 1)}…` : words}`;
}
