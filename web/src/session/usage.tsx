/** What a session took so far: how full its context is, tokens, requests, cost, and its limits. */

import type { OfferedModel, SessionView, Usage, UsageLimits } from "../api/types.gen";
import { cost, tokens } from "../words";

export type Brief = {
  context: number | null;
  /** How much the model holds; null where nobody says. */
  size: number | null;
  input: number;
  output: number;
  requests: number;
  multiplier: number | null;
  cost: number;
  limits: readonly string[];
};

/** The context is as the runtime counts it; in what earlier versions wrote, as the last call of the model took it. */
export function briefOf(
  view: SessionView,
  lastCall: number | null,
  model: OfferedModel | null,
): Brief {
  const sum = (of: (usage: Usage) => number) => of(view.usage) + of(view.spending);
  const { usage } = view;
  return {
    context: view.context?.tokens ?? lastCall,
    size: view.context?.limit ?? model?.context_tokens ?? null,
    input: sum((each) => each.input_tokens + each.sub_agents.input_tokens),
    output: sum((each) => each.output_tokens + each.sub_agents.output_tokens),
    requests: sum((each) => each.requests + each.sub_agents.requests),
    multiplier: usage.multiplier ?? model?.multiplier ?? null,
    cost: sum((each) => each.cost + each.sub_agents.cost),
    limits: inWords(view.limits),
  };
}

function inWords(limits: UsageLimits): string[] {
  const one = (count: number | null | undefined, word: string) =>
    count == null ? [] : [`${count.toLocaleString("en")} ${count === 1 ? word : `${word}s`}`];
  return [
    ...one(limits.turns, "turn"),
    ...one(limits.tokens, "token"),
    ...(limits.cost == null ? [] : [cost(limits.cost)]),
    ...one(limits.minutes, "minute"),
    ...one(limits.idle_minutes, "idle minute"),
  ];
}

/** How full the context is, in percent; null where the model's size is not known. */
export const fill = ({ context, size }: Brief): number | null =>
  context === null || size === null || size <= 0
    ? null
    : Math.min(100, Math.round((100 * context) / size));

const SOON = 75;

export function Meter({ percent }: { percent: number }) {
  return (
    <svg
      class="meter"
      role="img"
      aria-label={`${percent} %`}
      preserveAspectRatio="none"
      viewBox="0 0 100 6"
    >
      <rect class="t" width="100" height="6" />
      <rect class={percent >= SOON ? "w" : "v"} width={percent} height="6" />
    </svg>
  );
}

/** Words for the context alone: `78k of 128k`. */
const held = ({ context, size }: Brief): string =>
  size === null ? `${tokens(context ?? 0)} tokens` : `${tokens(context ?? 0)} of ${tokens(size)}`;

const counted = (requests: number) => (requests === 1 ? "1 request" : `${requests} requests`);

/** One line beside the choice of tasks. */
export function UsageLine({ brief, onCompact }: { brief: Brief; onCompact: (() => void) | null }) {
  const percent = fill(brief);
  return (
    <div class="use">
      <span>Context</span>
      {percent !== null && <Meter percent={percent} />}
      <span class="num">{held(brief)}</span>
      {percent !== null && percent >= SOON && <span>compacts soon</span>}
      {onCompact !== null && brief.requests > 0 && (
        <button
          type="button"
          class="btn ghost sm"
          title="Replace the history by a summary, to free context"
          onClick={onCompact}
        >
          Compact
        </button>
      )}
      <span class="faint">·</span>
      <span class="num">{counted(brief.requests)}</span>
    </div>
  );
}

/** For a phone's second line. */
export function shortly(brief: Brief): string {
  const percent = fill(brief);
  const full = percent === null ? `${tokens(brief.context ?? 0)} tokens` : `${percent} %`;
  return `${full} · ${counted(brief.requests)}`;
}

export function UsageFacts({ brief }: { brief: Brief }) {
  const percent = fill(brief);
  const full = percent === null ? held(brief) : `${held(brief)}, ${percent} %`;
  const times = brief.multiplier === null ? "" : ` × ${brief.multiplier}`;
  return (
    <section>
      <h2>Usage</h2>
      <dl class="facts">
        <dt>Context</dt>
        <dd>{full}</dd>
      </dl>
      {percent !== null && <Meter percent={percent} />}
      {percent !== null && percent >= SOON && <p class="hint">Compacts soon.</p>}
      <dl class="facts">
        <dt>Tokens in</dt>
        <dd>{brief.input.toLocaleString("en")}</dd>
        <dt>Tokens out</dt>
        <dd>{brief.output.toLocaleString("en")}</dd>
        <dt>Requests</dt>
        <dd>{`${brief.requests}${times}`}</dd>
        <dt>Cost</dt>
        <dd>{cost(brief.cost)}</dd>
        <dt>Limit</dt>
        <dd>{brief.limits.length === 0 ? "none" : brief.limits.join(", ")}</dd>
      </dl>
    </section>
  );
}
