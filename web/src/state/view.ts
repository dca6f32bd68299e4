/** A session's view, folded as the server folds it (`model/views.py`). */

import type {
  Granted,
  InboxItem,
  ItemSettled,
  McpServer,
  QueuedPrompt,
  Rule,
  SessionView,
  WaitingCall,
} from "../api/types.gen";
import { cageAfter, trafficAfter } from "./cage";
import { canonical } from "./digest";
import { titleOf } from "./text";
import type { Event, Recorded } from "./types";
import { addUsage, NO_USAGE } from "./usage";

type Asked = InboxItem["asked"];
type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

export function beginView(id: string, { seq, at, event }: Recorded): SessionView | null {
  if (event.kind !== "session.opened") return null;
  return {
    id,
    state: "opening",
    model: event.model,
    cwd: event.cwd,
    policy: event.policy,
    who: event.who,
    created_at: at,
    updated_at: at,
    seq,
    title: "",
    pinned: false,
    turn: null,
    turns: 0,
    queue: [],
    models: [],
    usage: NO_USAGE,
    spending: NO_USAGE,
    limits: event.limits ?? {},
    approval_seconds: event.approval_seconds ?? null,
    granted: [],
    allowances: [],
    error: null,
    task: event.task ?? null,
    run: event.run ?? null,
    items: [],
    asking: null,
    waiting_calls: [],
    context: null,
    compacting: false,
    reasoning_effort: event.setup?.reasoning_effort ?? null,
    restart_number: 0,
    own_policy: false,
    mcp_servers: Object.keys(event.setup?.mcp_servers ?? {}).map(starting),
    mode: null,
    plan_approved: null,
    agent: event.setup?.agent ?? null,
    account: null,
    cage_profile: event.setup?.cage?.profile ?? null,
    cage: null,
    egress: null,
    machine: null,
  };
}

const starting = (name: string): McpServer => ({ name, state: "starting", error: null });
const stopped = ({ name }: McpServer): McpServer => ({ name, state: "stopped", error: null });

function withServer(servers: readonly McpServer[], event: Of<"mcp.changed">): McpServer[] {
  const now: McpServer = { name: event.server, state: event.state, error: event.error ?? null };
  const isKnown = servers.some(({ name }) => name === now.name);
  return isKnown
    ? servers.map((server) => (server.name === now.name ? now : server))
    : [...servers, now];
}

function without(queue: readonly QueuedPrompt[], prompt: string | null | undefined) {
  return queue.filter((queued) => queued.prompt !== prompt);
}

function withPrompt(queue: readonly QueuedPrompt[], event: Of<"prompt.accepted">): QueuedPrompt[] {
  const queued: QueuedPrompt = {
    prompt: event.prompt,
    text: event.text,
    task: event.task ?? null,
    who: event.who,
    delivery: event.delivery ?? null,
    images: event.images ?? null,
    mode: event.mode ?? null,
    files: event.files ?? null,
    selection: event.selection ?? null,
  };
  const at = placeIn(queue, queued.delivery);
  return [...queue.slice(0, at), queued, ...queue.slice(at)];
}

/** What interrupts comes first, what steers before all that does not. */
function placeIn(queue: readonly QueuedPrompt[], delivery: QueuedPrompt["delivery"]): number {
  if (delivery === "interrupt") return 0;
  if (delivery !== "steer") return queue.length;
  const at = queue.findIndex((other) => (other.delivery ?? null) === null);
  return at < 0 ? queue.length : at;
}

function moved(queue: readonly QueuedPrompt[], event: Of<"prompt.moved">): QueuedPrompt[] {
  const meant = queue.filter((queued) => queued.prompt === event.prompt);
  const others = without(queue, event.prompt);
  const found = event.before ? others.findIndex((queued) => queued.prompt === event.before) : -1;
  const at = found < 0 ? others.length : found;
  return [...others.slice(0, at), ...meant, ...others.slice(at)];
}

export function itemOf(
  view: Pick<SessionView, "id" | "task" | "run">,
  at: number,
  asked: Asked,
): InboxItem {
  return {
    id: asked.item,
    session: view.id,
    asked,
    asked_at: at,
    task_run: view.task ?? null,
    run: view.run ?? null,
  };
}

/** Whether the agent goes on while a person is asked: about a host that its cage does not name. */
export const goesOnMeanwhile = (asked: Asked): boolean =>
  asked.kind === "approval.asked" && asked.wish === "host";

function grantedBy(view: SessionView, settled: ItemSettled): Granted[] {
  if (settled.outcome !== "go-on") return [];
  return view.items.flatMap(({ id, asked }) => {
    if (id !== settled.item || asked.kind !== "limit.reached") return [];
    const more = asked.more ?? null;
    const upto = more === null ? null : Math.max(asked.allowed, asked.used) + more;
    return [{ scope: asked.scope, limit: asked.limit, upto }];
  });
}

function allowedBy({ allowances }: SessionView, { allows }: ItemSettled): readonly Rule[] {
  if (allows == null) return allowances;
  const isKnown = allowances.some((rule) => canonical(rule) === canonical(allows));
  return isKnown ? allowances : [...allowances, allows];
}

function endOfTurn(view: SessionView, event: Of<"turn.ended">): Partial<SessionView> {
  return {
    turns: view.turns + 1,
    models: [...new Set([...view.models, ...(event.models ?? [])])],
    usage: addUsage(view.usage, event.usage),
    turn: null,
    asking: event.outcome === "interrupted" ? (view.asking ?? null) : null,
    mode: event.outcome === "interrupted" ? (view.mode ?? null) : null,
    spending: NO_USAGE,
    waiting_calls: [],
    compacting: false,
  };
}

const notWaiting = (view: SessionView, block: string): WaitingCall[] =>
  view.waiting_calls.filter((call) => call.block !== block);

/** What an event changes in the view, but for its `seq` and time. */
export function changes(view: SessionView, at: number, event: Event): Partial<SessionView> {
  switch (event.kind) {
    case "session.ready":
      return {
        state: "idle",
        error: null,
        compacting: false,
        account: event.account ?? view.account ?? null,
        machine: event.machine ?? null,
      };
    case "account.changed":
      return { account: event.to };
    case "session.resumed":
      return {
        state: "opening",
        error: null,
        mcp_servers: view.mcp_servers.map(({ name }) => starting(name)),
      };
    case "prompt.accepted":
      return { queue: withPrompt(view.queue, event), title: view.title || titleOf(event.text) };
    case "prompt.changed":
      return {
        queue: view.queue.map((queued) =>
          queued.prompt === event.prompt ? { ...queued, text: event.text } : queued,
        ),
      };
    case "prompt.moved":
      return { queue: moved(view.queue, event) };
    case "prompt.dropped":
    case "prompt.steered":
      return { queue: without(view.queue, event.prompt) };
    case "turn.started":
      return {
        state: "working",
        turn: event.turn,
        queue: without(view.queue, event.prompt),
        error: null,
        mode: event.mode ?? null,
      };
    case "turn.ended":
      return endOfTurn(view, event);
    case "turn.usage":
      if (event.turn && event.turn === view.turn) {
        return { spending: addUsage(view.spending, event.usage) };
      }
      return { usage: addUsage(view.usage, event.usage) };
    case "approval.asked":
    case "question.asked":
    case "limit.reached":
    case "plan.asked":
    case "switch.asked":
    case "sign-in.asked":
      return {
        items: [...view.items, itemOf(view, at, event)],
        asking: (goesOnMeanwhile(event) ? view.asking : event.prompt) ?? null,
      };
    case "permission.decided":
      return view.asking ? { asking: null } : {};
    case "tool.ended":
      return {
        asking: event.cut ? (view.asking ?? null) : null,
        waiting_calls: notWaiting(view, event.block),
      };
    case "tool.waiting": {
      const { kind: _, ...call } = event;
      return { waiting_calls: [...notWaiting(view, event.block), call] };
    }
    case "tool.going":
      return { waiting_calls: notWaiting(view, event.block) };
    case "item.settled":
      return {
        items: view.items.filter((item) => item.id !== event.item),
        granted: [...view.granted, ...grantedBy(view, event)],
        allowances: allowedBy(view, event),
        ...(event.outcome === "approved" ? { mode: null, plan_approved: true } : {}),
      };
    case "session.changed":
      return {
        model: event.model ?? view.model,
        instead_of: event.model == null ? (view.instead_of ?? null) : (event.instead_of ?? null),
        reasoning_effort: event.reasoning_effort ?? view.reasoning_effort ?? null,
        policy: event.policy ?? view.policy,
        own_policy: view.own_policy || event.policy != null,
        agent: event.agent == null ? (view.agent ?? null) : event.agent || null,
        own_agent: event.agent == null ? (view.own_agent ?? null) : true,
      };
    case "session.restarted":
      return { restart_number: event.number, context: null };
    case "session.forked":
      if (event.source == null) return {};
      return {
        forked_from: event.source,
        runtime_copy: event.runtime ?? null,
        restart_number: 0,
        state: "opening",
      };
    case "session.renamed":
      return { title: event.title };
    case "session.pinned":
      return { pinned: event.pinned };
    case "session.idle":
      return { state: "idle" };
    case "session.error":
      return { error: event.message };
    case "session.interrupted":
      return {
        state: "interrupted",
        error: event.reason,
        mcp_servers: view.mcp_servers.map(stopped),
        waiting_calls: [],
        compacting: false,
      };
    case "session.closed":
      return {
        state: "closed",
        mcp_servers: view.mcp_servers.map(stopped),
        turn: null,
        queue: [],
        items: [],
        waiting_calls: [],
        compacting: false,
        mode: null,
      };
    case "mcp.changed":
      return { mcp_servers: withServer(view.mcp_servers, event) };
    case "context.measured":
      return { context: { tokens: event.tokens, limit: event.limit } };
    case "compaction.started":
      return { compacting: true };
    case "compaction.ended":
      return {
        compacting: false,
        context:
          view.context && event.after != null
            ? { ...view.context, tokens: event.after }
            : (view.context ?? null),
      };
    case "cage.opened":
    case "cage.closed":
    case "cage.limit":
      return { cage: cageAfter(view.cage ?? null, event) };
    case "egress.opened":
    case "egress.closed":
    case "egress.refused":
      return { egress: trafficAfter(view.egress ?? [], event, at) };
    default: // a newer server may say more than we know
      return {};
  }
}
