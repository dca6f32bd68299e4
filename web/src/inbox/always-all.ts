/** “Always allow” for several equal requests: what each way writes, and who writes it. Each rule is
 *  written once, with the first request that it is for; the others are allowed with it. Pure. */

import type { AlwaysOption, InboxItem, Rule } from "../api/types.gen";
import { optionsOf } from "../parts/always";

/** The ways that all of them have. Their rules may differ, since a rule may name a folder. */
export function waysOf(items: readonly InboxItem[]): readonly AlwaysOption[] {
  const [first] = items;
  if (first === undefined) return [];
  return offeredBy(first).filter(({ id }) => items.every((item) => wayOf(item, id) !== null));
}

/** All rules that one of the ways writes, each once. */
export function rulesOf(items: readonly InboxItem[], id: string): readonly Rule[] {
  const rules = new Map<string, Rule>();
  for (const item of items) {
    const way = wayOf(item, id);
    if (way !== null) rules.set(JSON.stringify(way.rule), way.rule);
  }
  return [...rules.values()];
}

type Said = { choice: "allow-always"; option?: string } | { choice: "allow-once" };

/** What is said to each of them, one after the other; told which of them the server took. */
export function alwaysAll(id: string) {
  const written = new Set<string>();
  const ruleIn = (item: InboxItem): string => JSON.stringify(wayOf(item, id)?.rule);
  return {
    next(item: InboxItem): Said {
      const isWritten = wayOf(item, id)?.until == null && written.has(ruleIn(item));
      if (isWritten) return { choice: "allow-once" };
      return { choice: "allow-always", ...(id === "" ? {} : { option: id }) };
    },
    done(item: InboxItem): void {
      written.add(ruleIn(item));
    },
  };
}

function offeredBy({ asked }: InboxItem): readonly AlwaysOption[] {
  const may = asked.kind === "approval.asked" && asked.choices.includes("allow-always");
  return may ? optionsOf(asked) : [];
}

const wayOf = (item: InboxItem, id: string): AlwaysOption | null =>
  offeredBy(item).find((way) => way.id === id) ?? null;
