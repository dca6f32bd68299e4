/** The conversation: the blocks that a session's events make, as in `model/conversation.py`. */

import type { SessionView } from "../api/types.gen";
import { noteOf } from "./notes";
import { behind, characters } from "./text";
import type { AskBlock, Block, Event, Recorded, SubAgent, TextBlock, ToolBlock } from "./types";
import { itemOf } from "./view";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;
type Started = Of<"reasoning.started" | "message.started" | "tool.started">;
type Delta = Of<"reasoning.delta" | "message.delta" | "tool.delta">;
type Ended = Of<"reasoning.ended" | "message.ended" | "tool.ended">;
type Session = Pick<SessionView, "id" | "task" | "run">;
type AboutAgent = Of<"subagent.started" | "subagent.ended" | "turn.usage" | "skill.invoked">;
type Asked = Of<
  | "approval.asked"
  | "question.asked"
  | "limit.reached"
  | "plan.asked"
  | "switch.asked"
  | "sign-in.asked"
>;

/** What a batch of events works on: copied once, so that the state before it stays as it was. */
export type Draft = {
  blocks: Map<string, Block>;
  order: string[];
  renamed: Map<string, string>;
  /** The blocks that were made or copied by this batch, and may be changed in place. */
  own: Set<string>;
};

const TEXT: Omit<TextBlock, "id" | "seq" | "at"> = {
  kind: "message",
  title: null,
  parent: null,
  text: "",
  received: 0,
  receiving: true,
  cut: false,
  left_out: null,
  ended_at: null,
  who: null,
  images: null,
};

const TOOL: Omit<ToolBlock, "id" | "seq" | "at"> = {
  kind: "tool",
  name: "tool",
  arguments: "",
  output: "",
  received: 0,
  result: null,
  detail: null,
  error: null,
  vetoed: null,
  permission: null,
  receiving: true,
  cut: false,
  left_out: null,
  ended_at: null,
  parent: null,
  children: [],
  agent: null,
};

const AGENT: Omit<SubAgent, "name" | "model"> = {
  requests: 0,
  input_tokens: 0,
  output_tokens: 0,
  outcome: null,
  error: null,
  skills: [],
};

function add(draft: Draft, block: Block): void {
  draft.blocks.set(block.id, block);
  draft.own.add(block.id);
  const parent = "parent" in block ? block.parent : null;
  if (parent == null) draft.order.push(block.id);
}

/** The block, as one that may be changed. */
function owned(draft: Draft, id: string): Block | undefined {
  const block = draft.blocks.get(id);
  if (block === undefined || draft.own.has(id)) return block;
  const copy = { ...block };
  draft.blocks.set(id, copy);
  draft.own.add(id);
  return copy;
}

function receiver(draft: Draft, name: string): TextBlock | ToolBlock | undefined {
  const block = owned(draft, draft.renamed.get(name) ?? name);
  return block?.kind === "ask" || block?.kind === "note" ? undefined : block;
}

/** An id for a block of this name; one of the same name that is still open gets no end any more. */
function freshId(draft: Draft, name: string, seq: number): string {
  if (!draft.blocks.has(name)) return name;
  const before = receiver(draft, name);
  if (before?.receiving) Object.assign(before, { receiving: false, cut: true });
  const id = `${name}@${seq}`;
  draft.renamed.set(name, id);
  return id;
}

function begin(draft: Draft, { seq, at }: Recorded, event: Started): void {
  const id = freshId(draft, event.block, seq);
  if (event.kind !== "tool.started") {
    const kind = event.kind === "reasoning.started" ? "reasoning" : "message";
    add(draft, { ...TEXT, id, seq, at, kind });
    return;
  }
  const caller = event.parent ? receiver(draft, event.parent) : undefined;
  const parent = caller?.kind === "tool" ? caller.id : null;
  if (caller?.kind === "tool") caller.children = [...caller.children, id];
  add(draft, { ...TOOL, id, seq, at, parent, name: event.name, arguments: event.arguments });
}

/** In its call. Where that is not known, the page has only the tail of the stream. */
function sayBelow(draft: Draft, { seq, at }: Recorded, event: Of<"subagent.said">): void {
  const caller = receiver(draft, event.parent);
  if (caller?.kind !== "tool") return;
  const id = freshId(draft, event.block, seq);
  const { text } = event;
  const said = { receiving: false, received: characters(text), ended_at: at, parent: caller.id };
  caller.children = [...caller.children, id];
  add(draft, { ...TEXT, id, seq, at, text, ...said });
}

/** Of the agent that a call began. Where that is not known, the page has only the tail. */
function tellAgent(draft: Draft, event: AboutAgent): void {
  const caller = event.parent ? receiver(draft, event.parent) : undefined;
  if (caller?.kind !== "tool") return;
  if (event.kind === "subagent.started") {
    caller.agent = { ...AGENT, name: event.agent, model: event.model ?? null };
  } else if (caller.agent !== null) {
    caller.agent = { ...caller.agent, ...learnt(caller.agent, event) };
  }
}

function learnt(agent: SubAgent, event: Exclude<AboutAgent, Of<"subagent.started">>) {
  switch (event.kind) {
    case "subagent.ended":
      return {
        model: event.model ?? agent.model,
        outcome: event.outcome ?? "done",
        error: event.error ?? null,
      };
    case "turn.usage": {
      const { requests = 0, input_tokens = 0, output_tokens = 0 } = event.usage.sub_agents ?? {};
      return {
        requests: agent.requests + requests,
        input_tokens: agent.input_tokens + input_tokens,
        output_tokens: agent.output_tokens + output_tokens,
      };
    }
    case "skill.invoked":
      return { skills: [...agent.skills, event.name] };
  }
}

/** Where the beginning is not known, the page has only the tail of the stream. */
function found(draft: Draft, { seq, at }: Recorded, event: Delta | Ended): TextBlock | ToolBlock {
  const known = receiver(draft, event.block);
  if (known) return known;
  const area = event.kind.slice(0, event.kind.indexOf("."));
  const kind = area === "reasoning" ? "reasoning" : "message";
  const placed = { id: event.block, seq, at };
  const made = area === "tool" ? { ...TOOL, ...placed } : { ...TEXT, ...placed, kind };
  add(draft, made as Block);
  return made as TextBlock | ToolBlock;
}

function grow(draft: Draft, recorded: Recorded, event: Delta): void {
  const block = found(draft, recorded, event);
  const end = event.offset + characters(event.text);
  if (!block.receiving || end <= block.received) return;
  const piece = behind(event.text, block.received - event.offset);
  if (block.kind === "tool") block.output += piece;
  else block.text += piece;
  block.received = end;
}

function end(draft: Draft, recorded: Recorded, event: Ended): void {
  const block = found(draft, recorded, event);
  block.receiving = false;
  block.cut = event.cut ?? false;
  block.ended_at = recorded.at;
  block.received = characters(event.text);
  block.left_out = event.left_out ?? null;
  if (block.kind !== "tool") {
    block.text = event.text;
    return;
  }
  block.output = event.text;
  if (event.kind !== "tool.ended") return;
  const content = event.result?.content ?? null;
  block.result = content === event.text ? null : content;
  block.detail = event.result?.detailed_content ?? null;
  block.error = event.error?.message ?? null;
}

/** A request stands where the agent got it; got again behind a resume, it stands there already. */
function tellPrompt(
  draft: Draft,
  recorded: Recorded,
  view: SessionView | null,
  prompt: string | null | undefined,
  steered: boolean,
): void {
  const queued = view?.queue.find((waiting) => waiting.prompt === prompt);
  if (queued === undefined || draft.blocks.has(queued.prompt)) return;
  const title = queued.task ? "Task" : steered ? "Steered" : null;
  add(draft, {
    ...TEXT,
    id: queued.prompt,
    seq: recorded.seq,
    at: recorded.at,
    kind: "user",
    title,
    text: queued.text,
    received: characters(queued.text),
    receiving: false,
    ended_at: recorded.at,
    who: queued.who,
    images: queued.images ?? null,
  });
}

function ask(draft: Draft, { seq, at }: Recorded, about: Session, event: Asked): void {
  const item = itemOf(about, at, event);
  add(draft, { kind: "ask", id: event.item, seq, at, item, settled: null });
}

function settle(draft: Draft, at: number, event: Of<"item.settled">): void {
  const block = owned(draft, event.item);
  if (block?.kind !== "ask") return;
  const { kind: _kind, item: _item, allows: _allows, ...rest } = event;
  (block as AskBlock).settled = { ...rest, at };
}

function veto(draft: Draft, recorded: Recorded, event: Of<"tool.vetoed">): void {
  const block = event.block ? receiver(draft, event.block) : undefined;
  if (block?.kind === "tool") block.vetoed = event.reason;
  else note(draft, recorded);
}

function permit(draft: Draft, recorded: Recorded, event: Of<"permission.decided">): void {
  const block = event.call ? receiver(draft, event.call) : undefined;
  const { allowed, by, reason, rule } = event;
  if (block?.kind === "tool") block.permission = { allowed, by, reason, rule: rule ?? null };
  else note(draft, recorded);
}

function note(draft: Draft, { seq, at, event }: Recorded): void {
  const told = noteOf(event);
  if (told) add(draft, { kind: "note", id: `note-${seq}`, seq, at, ...told });
}

/** What the event adds to the conversation. `view` is the session's before it. */
export function tell(draft: Draft, recorded: Recorded, view: SessionView | null, id: string): void {
  const { event } = recorded;
  switch (event.kind) {
    case "reasoning.delta":
    case "message.delta":
    case "tool.delta":
      grow(draft, recorded, event);
      break;
    case "reasoning.started":
    case "message.started":
    case "tool.started":
      begin(draft, recorded, event);
      break;
    case "reasoning.ended":
    case "message.ended":
    case "tool.ended":
      end(draft, recorded, event);
      break;
    case "subagent.said":
      sayBelow(draft, recorded, event);
      break;
    case "subagent.started":
    case "subagent.ended":
    case "turn.usage":
      tellAgent(draft, event);
      break;
    case "skill.invoked":
      if (event.parent != null) tellAgent(draft, event);
      else note(draft, recorded);
      break;
    case "turn.started":
      tellPrompt(draft, recorded, view, event.prompt, false);
      break;
    case "prompt.steered":
      tellPrompt(draft, recorded, view, event.prompt, true);
      break;
    case "approval.asked":
    case "question.asked":
    case "limit.reached":
    case "plan.asked":
    case "switch.asked":
    case "sign-in.asked":
      ask(draft, recorded, view ?? { id }, event);
      break;
    case "item.settled":
      settle(draft, recorded.at, event);
      break;
    case "tool.vetoed":
      veto(draft, recorded, event);
      break;
    case "permission.decided":
      permit(draft, recorded, event);
      break;
    default:
      note(draft, recorded);
      break;
  }
}
