/** A conversation in the pieces that it is shown in: what was said, and boxes of neighbouring calls,
 *  each with the decision of the person who was asked about it. Pure. */

import { ASKED_AGAIN, FAILED } from "../../state/notes";
import type {
  AskBlock,
  Block,
  NoteBlock,
  SessionState,
  TextBlock,
  ToolBlock,
} from "../../state/types";
import { callOf } from "./kinds";
import { changed, type Todo } from "./todo";

/** A call, and what somebody was asked about it. */
export type CallEntry = { tool: ToolBlock; ask: AskBlock | null };

export type Piece =
  | { kind: "block"; id: string; block: Block }
  | { kind: "calls"; id: string; calls: CallEntry[] }
  | { kind: "todo"; id: string; todos: readonly Todo[]; tool: ToolBlock }
  | Failure;

/** A model that did not answer: every try, and how it ended. */
export type Failure = {
  kind: "failure";
  id: string;
  notes: readonly NoteBlock[];
  /** The request that it was about, and whether the agent did more than look since. */
  request: TextBlock | null;
  worked: boolean;
  /** Something else came behind it: it is over. */
  over: boolean;
};

/** What people were asked about calls, by the id of the call's block. */
export type Asks = ReadonlyMap<string, AskBlock>;

/** A box of more would be too much to draw at once. */
const MOST_CALLS = 40;

export function asksOf(session: SessionState): Asks {
  const asks = new Map<string, AskBlock>();
  for (const block of session.blocks.values()) {
    const call = block.kind === "ask" ? callOfAsk(block, session) : null;
    // Of a call that was asked about twice, what still waits counts.
    if (block.kind === "ask" && call !== null && asks.get(call)?.settled !== null) {
      asks.set(call, block);
    }
  }
  return asks;
}

/** The call that somebody was asked about. One that was cut off is made again when it is resumed. */
function callOfAsk(ask: AskBlock, { blocks, renamed }: SessionState): string | null {
  const call = callAsked(ask);
  const block = call === null ? undefined : blocks.get(call);
  if (call === null || block?.kind !== "tool") return null;
  return block.cut ? (renamed.get(call) ?? call) : call;
}

/** Conversations that were put together have ids with something before them. */
function callAsked({ id, item }: AskBlock): string | null {
  const { asked } = item;
  const call = "call" in asked ? asked.call : null;
  return call == null ? null : id.slice(0, id.length - item.id.length) + call;
}

export function piecesOf(session: SessionState, asks: Asks): Piece[] {
  const { blocks, order } = session;
  const pieces: Piece[] = [];
  let todos: readonly Todo[] = [];
  let list: Extract<Piece, { kind: "todo" }> | null = null;
  for (const id of order) {
    const block = blocks.get(id);
    if (block === undefined || isInItsCall(block, session)) continue;
    if (block.kind === "user") list = null;
    if (block.kind === "note" && addFailure(pieces, block)) continue;
    const call = block.kind === "tool" && !block.receiving ? callOf(block) : null;
    if (block.kind === "tool" && call?.kind === "todo") {
      todos = changed(todos, call.changes);
      if (list === null && todos.length > 0) {
        list = { kind: "todo", id, todos, tool: block };
        pieces.push(list);
      } else if (list === null) addCall(pieces, { tool: block, ask: null });
      else list.todos = todos;
    } else if (block.kind === "tool") {
      addCall(pieces, { tool: block, ask: asks.get(id) ?? null });
    } else addBlock(pieces, block);
  }
  markOver(pieces);
  return pieces;
}

/** What was decided stands in the row of its call. */
const isInItsCall = (block: Block, session: SessionState): boolean =>
  block.kind === "ask" && block.settled !== null && callOfAsk(block, session) !== null;

function addCall(pieces: Piece[], entry: CallEntry): void {
  const last = pieces.at(-1);
  if (last?.kind === "calls" && last.calls.length < MOST_CALLS) last.calls.push(entry);
  else pieces.push({ kind: "calls", id: entry.tool.id, calls: [entry] });
}

/** Whether the note is one of a model that failed: those stand together. */
function addFailure(pieces: Piece[], note: NoteBlock): boolean {
  const last = pieces.at(-1);
  const isOpen = last?.kind === "failure" && last.notes.at(-1)?.title !== FAILED;
  const isTry = note.title === ASKED_AGAIN;
  if (isOpen && (isTry || note.tone === "error")) last.notes = [...last.notes, note];
  else if (isTry || FAILURES.has(note.title)) pieces.push(newFailure(pieces, note));
  else return false;
  return true;
}

/** As the runtime calls what a model's service did. */
const FAILURES = new Set(["query", "authentication", "rate_limit", "quota", "context_limit"]);

function newFailure(pieces: readonly Piece[], note: NoteBlock): Failure {
  let worked = false;
  let request: TextBlock | null = null;
  for (const piece of pieces.toReversed()) {
    if (piece.kind === "calls") worked ||= piece.calls.some((entry) => !isLook(entry));
    if (piece.kind === "block" && piece.block.kind === "user") {
      request = piece.block;
      break;
    }
  }
  return { kind: "failure", id: note.id, notes: [note], request, worked, over: false };
}

/** Which of the tries were followed by something else than the end of the turn. */
function markOver(pieces: readonly Piece[]): void {
  for (const piece of pieces.slice(0, -1)) if (piece.kind === "failure") piece.over = true;
}

function addBlock(pieces: Piece[], block: Block): void {
  pieces.push({ kind: "block", id: block.id, block });
}

/** The calls of a tool, as its own box has them. */
export function callsInside(
  tool: ToolBlock,
  blocks: ReadonlyMap<string, Block>,
  asks: Asks,
): CallEntry[] {
  return tool.children.flatMap((id) => {
    const child = blocks.get(id);
    return child?.kind === "tool" ? [{ tool: child, ask: asks.get(id) ?? null }] : [];
  });
}

/** What another agent said, and between its messages the boxes of its calls. */
export type Inside = { kind: "said"; block: TextBlock } | { kind: "calls"; calls: CallEntry[] };

/** Its last message is what its call answered, and stands there. */
export function insideOf(
  tool: ToolBlock,
  blocks: ReadonlyMap<string, Block>,
  asks: Asks,
): Inside[] {
  const inside: Inside[] = [];
  for (const id of tool.children) {
    const child = blocks.get(id);
    const last = inside.at(-1);
    if (child?.kind === "message") inside.push({ kind: "said", block: child });
    if (child?.kind !== "tool") continue;
    const entry = { tool: child, ask: asks.get(id) ?? null };
    if (last?.kind === "calls") last.calls.push(entry);
    else inside.push({ kind: "calls", calls: [entry] });
  }
  const last = inside.at(-1);
  if (last?.kind === "said" && last.block.text.trim() === tool.output.trim()) inside.pop();
  return inside;
}

/** A row of a box: one call, or several that only looked at something. */
export type Row = { kind: "one"; entry: CallEntry } | { kind: "looks"; entries: CallEntry[] };

const FEW = 3;

export function rowsOf(calls: readonly CallEntry[]): Row[] {
  const rows: Row[] = [];
  let looks: CallEntry[] = [];
  const close = () => {
    if (looks.length >= FEW) rows.push({ kind: "looks", entries: looks });
    else rows.push(...looks.map((entry): Row => ({ kind: "one", entry })));
    looks = [];
  };
  for (const entry of calls) {
    if (isLook(entry)) looks.push(entry);
    else {
      close();
      rows.push({ kind: "one", entry });
    }
  }
  close();
  return rows;
}

function isLook({ tool, ask }: CallEntry): boolean {
  const { kind } = callOf(tool);
  const isFine = !tool.receiving && tool.error === null && tool.vetoed === null && !tool.cut;
  return isFine && ask === null && (kind === "read" || kind === "search");
}

/** “Read 4 files, searched twice”. */
export function looksInWords(entries: readonly CallEntry[]): string {
  const files = new Set<string>();
  let folders = 0;
  let searches = 0;
  for (const { tool } of entries) {
    const call = callOf(tool);
    if (call.kind === "search") searches += 1;
    else if (call.kind === "read" && call.isFolder) folders += 1;
    else if (call.kind === "read") files.add(call.path);
  }
  const parts = [
    ...(files.size > 0 ? [`read ${files.size === 1 ? "1 file" : `${files.size} files`}`] : []),
    ...(folders > 0 ? [`listed ${folders === 1 ? "1 folder" : `${folders} folders`}`] : []),
    ...(searches > 0 ? [`searched ${times(searches)}`] : []),
  ];
  const words = parts.join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const times = (count: number): string =>
  count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
