/** A session as a page knows it: its view and its conversation. Pure: no clock, no network. */

import type { SessionView } from "../api/types.gen";
import { type Draft, tell } from "./blocks";
import type { Event, Recorded, SessionState } from "./types";
import { beginView, changes } from "./view";

export const NEW_SESSION: SessionState = {
  view: null,
  blocks: new Map(),
  order: [],
  renamed: new Map(),
  head: 0,
  context: null,
};

export function isDelta(event: Event): boolean {
  return event.kind.endsWith(".delta");
}

function contextOf(event: Event, before: number | null): number | null {
  if (event.kind !== "turn.usage" || !event.usage.requests) return before;
  return event.usage.input_tokens + event.usage.output_tokens;
}

/** All is copied once for the whole batch. What was told before is passed over. */
export function reduceSession(
  state: SessionState,
  events: readonly Recorded[],
  id: string,
): SessionState {
  const draft: Draft = {
    blocks: new Map(state.blocks),
    order: [...state.order],
    renamed: new Map(state.renamed),
    own: new Set(),
  };
  let view: SessionView | null = state.view && { ...state.view };
  let { head, context } = state;
  for (const recorded of events) {
    const { seq, at, event } = recorded;
    if (seq <= head) continue;
    head = seq;
    tell(draft, recorded, view, id);
    if (isDelta(event)) continue;
    context = contextOf(event, context);
    if (view === null) view = beginView(id, recorded);
    else Object.assign(view, changes(view, at, event), { seq, updated_at: at });
  }
  if (head === state.head) return state;
  const { blocks, order, renamed } = draft;
  return { view, blocks, order, renamed, head, context };
}
