/** A rule as somebody writes it in the form. Pure. */

import type { Rule } from "../api/types.gen";

/** What a request of that kind has, that a rule may name; null where the rule names the kind alone. */
export const REQUESTS = {
  shell: "command",
  write: "path",
  read: "path",
  url: "host",
  host: "host",
  mcp: "tool",
  "custom-tool": "tool",
} as const;

export type RequestName = keyof typeof REQUESTS;

export const NAMED: Record<(typeof REQUESTS)[RequestName], { label: string; like: string }> = {
  command: { label: "Command", like: "git diff*" },
  path: { label: "Path", like: "docs/*" },
  host: { label: "Host", like: "*.example.com" },
  tool: { label: "Tool", like: "github/*" },
};

export type Draft = {
  verdict: Rule["verdict"];
  wish: RequestName;
  pattern: string;
  folder: string;
  first: boolean;
};

export const NEW_DRAFT: Draft = {
  verdict: "allow",
  wish: "shell",
  pattern: "",
  folder: "",
  first: true,
};

export function ruleOf({ verdict, wish, pattern, folder }: Draft): Rule {
  return {
    verdict,
    wish,
    ...(pattern.trim() !== "" && { [REQUESTS[wish]]: pattern.trim() }),
    ...(folder.trim() !== "" && { folder: folder.trim() }),
  };
}

/** The ids in their new order, after one has moved by a step. */
export function moved(ids: readonly string[], id: string, step: 1 | -1): string[] {
  const place = ids.indexOf(id);
  const other = place + step;
  if (place === -1 || other < 0 || other >= ids.length) return [...ids];
  const next = ids.filter((one) => one !== id);
  next.splice(other, 0, id);
  return next;
}

export const patternOf = ({ tool, command, path, host }: Rule): string =>
  [tool, command, path, host].filter((text) => text != null).join(" ");
