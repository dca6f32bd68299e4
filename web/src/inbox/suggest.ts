/** A rule that would have spared somebody the same yes, again and again. Pure. */

import type { ApprovalAsked, InboxItem, Rule } from "../api/types.gen";
import type { Recorded } from "../state/types";

export type Suggestion = { id: string; rule: Rule; allowed: number; now: readonly InboxItem[] };

export const OFTEN = 5;

/** What a yes for good could write, the narrowest first. */
function rulesOf({ rule, options }: ApprovalAsked): readonly Rule[] {
  const lasting = (options ?? []).filter(({ until }) => until == null);
  if (lasting.length > 0) return lasting.map((option) => option.rule);
  return rule == null ? [] : [rule];
}

const rulesOfItem = ({ asked }: InboxItem): readonly Rule[] =>
  asked.kind === "approval.asked" ? rulesOf(asked) : [];

/** A field that is not given may be left out or null. */
const keyOf = (rule: Rule): string =>
  JSON.stringify(
    Object.entries(rule)
      .filter(([, value]) => value != null)
      .toSorted(),
  );

/** The narrowest rule that fits what was allowed often enough today; the most frequent of them. */
export function suggestionOf(
  events: readonly Recorded[],
  waiting: readonly InboxItem[],
  now: number,
  refused: ReadonlySet<string> = new Set(),
): Suggestion | null {
  const today = new Date(now).toDateString();
  const arrived = new Map<string, InboxItem>();
  const allowed = new Map<string, { rule: Rule; count: number; place: number }>();
  for (const { event, at } of events) {
    if (event.kind === "inbox.arrived") arrived.set(event.item.id, event.item);
    if (event.kind !== "inbox.settled" || event.outcome !== "allow-once") continue;
    const item = arrived.get(event.item);
    if (item === undefined || new Date(at).toDateString() !== today) continue;
    const rules = rulesOfItem(item);
    // Where one of its rules was written or is not wanted, a wider one is not wanted either.
    if (rules.some((rule) => refused.has(keyOf(rule)))) continue;
    for (const [place, rule] of rules.entries()) {
      const known = allowed.get(keyOf(rule));
      allowed.set(keyOf(rule), { rule, place, count: (known?.count ?? 0) + 1 });
    }
  }
  const often = [...allowed]
    .filter(([, { count }]) => count >= OFTEN)
    .sort(([, a], [, b]) => a.place - b.place || b.count - a.count);
  const [best] = often;
  if (best === undefined) return null;
  const [id, { rule, count }] = best;
  const fits = waiting.filter((item) => rulesOfItem(item).some((other) => keyOf(other) === id));
  return { id, rule, allowed: count, now: fits };
}
