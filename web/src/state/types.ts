/** What the pages know of a stream: folded from its events alone, by the reducers beside this file. */

import type {
  InboxItem,
  ItemSettled,
  PermissionDecided,
  PromptImage,
  RecordedEvent,
  Rule,
  SessionView,
  TaskRunDetail,
} from "../api/types.gen";

export type Recorded = RecordedEvent;
export type Event = Recorded["event"];

type Placed = {
  id: string;
  /** Where it began, in the stream and in time. */
  seq: number;
  at: number;
};

export type TextBlock = Placed & {
  kind: "user" | "reasoning" | "message";
  /** `Task`, `Steered`, `TaskDecision`; null where the header has no parentheses. */
  title: string | null;
  /** The call of the agent that said it, where that is not the session's own. */
  parent?: string | null;
  text: string;
  /** So many characters of it are here, as the server counts them: code points. */
  received: number;
  receiving: boolean;
  /** Ended by us before its time. */
  cut: boolean;
  /** So many characters of it were too many; a mark stands for them in the text. */
  left_out: number | null;
  ended_at: number | null;
  who: string | null;
  /** Those of a request; null where there are none. */
  images: readonly PromptImage[] | null;
};

export type Permission = Pick<PermissionDecided, "allowed" | "by" | "reason"> & {
  rule: Rule | null;
};

export type ToolBlock = Placed & {
  kind: "tool";
  name: string;
  arguments: string;
  /** What it said while it ran. */
  output: string;
  received: number;
  /** Only where it differs from the output. */
  result: string | null;
  detail: string | null;
  error: string | null;
  /** Why the gate did not let it through. */
  vetoed: string | null;
  /** By whom or what it was allowed or denied; null also in what earlier versions wrote. */
  permission: Permission | null;
  receiving: boolean;
  cut: boolean;
  /** So many characters of it were too many; a mark stands for them in the text. */
  left_out: number | null;
  ended_at: number | null;
  /** The tool that called it, and those that it called, in order. */
  parent: string | null;
  children: readonly string[];
  /** Where it handed work to another agent. Earlier versions did not tell. */
  agent: SubAgent | null;
};

/** The agent that a call began: what it is, and what it has used. */
export type SubAgent = {
  name: string;
  model: string | null;
  requests: number;
  input_tokens: number;
  output_tokens: number;
  outcome: string | null;
  error: string | null;
  /** Those that it has read, by name. */
  skills: readonly string[];
};

/** Something that a person is asked, and what came of it. */
export type AskBlock = Placed & {
  kind: "ask";
  item: InboxItem;
  settled: (Omit<ItemSettled, "kind" | "item" | "allows"> & { at: number }) | null;
};

/** Something that happened to the session, in words: an error, an interruption, a retry, a loop. */
export type NoteBlock = Placed & {
  kind: "note";
  tone: "info" | "warning" | "error";
  title: string;
  text: string;
};

export type Block = TextBlock | ToolBlock | AskBlock | NoteBlock;

export type SessionState = {
  /** As the server has it as of `view.seq`; null before its first event. */
  view: SessionView | null;
  /** All blocks, by id; a tool's children are in here too. */
  blocks: ReadonlyMap<string, Block>;
  /** Those that stand by themselves, in order. */
  order: readonly string[];
  /** The ids of blocks whose name was used before: a provider may use one again. */
  renamed: ReadonlyMap<string, string>;
  /** The seq of the last event, a delta included. */
  head: number;
  /** Tokens of the last call of a model: how full its context is. */
  context: number | null;
};

export type { TaskSession } from "../api/types.gen";
/** As the server shows it. */
export type TaskState = TaskRunDetail;
