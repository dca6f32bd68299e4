/** Equal requests are one row: sorted by risk, then by age. Pure. */

import type { ApprovalAsked, InboxItem } from "../api/types.gen";

export type Risk = ApprovalAsked["severity"] | "none";

/** `id` stays the same while equal requests come and go. Its items are the oldest first. */
export type Group = { id: string; risk: Risk; items: readonly [InboxItem, ...InboxItem[]] };
export type Section = { risk: Risk; groups: readonly Group[]; count: number };

const RISKS: readonly Risk[] = ["high", "medium", "low", "none"];

/** Questions and limits are each answered for themselves. */
const riskOf = ({ asked }: InboxItem): Risk =>
  asked.kind === "approval.asked" ? asked.severity : "none";

/** Same kind, same command (or change, address, arguments) and same risk. */
function keyOf({ id, asked }: InboxItem): string {
  if (asked.kind !== "approval.asked") return id;
  const { command, diff, path, address, arguments: all } = asked.subject;
  const named = [command, diff, path, address].some((text) => text != null);
  const what = named ? [command, diff, path, address] : [all];
  return JSON.stringify([asked.wish, asked.tool, asked.severity, ...what]);
}

export function groupsOf(items: readonly InboxItem[]): Group[] {
  const groups = new Map<string, [InboxItem, ...InboxItem[]]>();
  for (const item of items.toSorted((a, b) => a.asked_at - b.asked_at)) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups]
    .map(([id, equal]) => ({ id, risk: riskOf(equal[0]), items: equal }))
    .sort(
      (a, b) =>
        RISKS.indexOf(a.risk) - RISKS.indexOf(b.risk) || a.items[0].asked_at - b.items[0].asked_at,
    );
}

export function sectionsOf(groups: readonly Group[]): Section[] {
  return RISKS.map((risk) => {
    const mine = groups.filter((group) => group.risk === risk);
    return { risk, groups: mine, count: mine.reduce((sum, { items }) => sum + items.length, 0) };
  }).filter(({ count }) => count > 0);
}

/** “14 wait for you, in 7 groups”. */
export function countInWords(items: number, groups: number): string {
  if (items === 0) return "";
  const wait = items === 1 ? "1 waiting for you" : `${items} waiting for you`;
  if (groups === items) return wait;
  return `${wait}, in ${groups} ${groups === 1 ? "group" : "groups"}`;
}
