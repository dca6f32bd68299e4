/** What work with a model costs, added up as the server adds it. */

import type { Spent, Usage } from "../api/types.gen";

const NOTHING_SPENT: Spent = {
  requests: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost: 0,
};

export const NO_USAGE: Usage = {
  ...NOTHING_SPENT,
  sub_agents: NOTHING_SPENT,
  turns: 0,
  milliseconds: 0,
  multiplier: null,
};

function spent(one: Spent, other: Spent): Spent {
  return {
    requests: one.requests + other.requests,
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    cost: one.cost + other.cost,
  };
}

function highest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}

/** An event of an older server may say less than we know. */
export function usageOf(told: Partial<Usage> | undefined): Usage {
  if (told === undefined) return NO_USAGE;
  return { ...NO_USAGE, ...told, sub_agents: { ...NOTHING_SPENT, ...told.sub_agents } };
}

export function addUsage(one: Usage, told: Partial<Usage> | undefined): Usage {
  const other = usageOf(told);
  return {
    ...spent(one, other),
    sub_agents: spent(one.sub_agents, other.sub_agents),
    turns: one.turns + other.turns,
    milliseconds: one.milliseconds + other.milliseconds,
    multiplier: highest(one.multiplier ?? null, other.multiplier ?? null),
  };
}
