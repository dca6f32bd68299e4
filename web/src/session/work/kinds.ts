/** What a call of a tool is about, by its kind: a command, a search, a file that was read or changed,
 *  another agent, a to-do list, a question, or anything else. Pure. */

import { filesOf } from "../../parts/unified";
import type { ToolBlock } from "../../state/types";
import { argumentsOf } from "../said";
import { changesOf, type TodoChange } from "./todo";

export type Hit = { path: string; line: number | null; text: string };

export type EditedFile = { path: string; added: number; removed: number };

export type Call =
  | { kind: "shell"; command: string; output: string; exit: number | null }
  | { kind: "search"; pattern: string; where: string | null; isNames: boolean; hits: Hit[] }
  | { kind: "read"; path: string; from: number; to: number | null; isFolder: boolean; text: string }
  | { kind: "edit"; verb: string; files: EditedFile[]; diff: string }
  | { kind: "agent"; name: string; about: string; prompt: string; answer: string }
  | { kind: "todo"; changes: readonly TodoChange[] }
  | { kind: "question"; question: string }
  | { kind: "plan"; summary: string }
  | { kind: "other"; given: [string, string][] };

type Given = Readonly<Record<string, unknown>>;

const SHELLS = new Set(["bash", "powershell", "shell", "local_shell"]);
const SEARCHES = new Set(["grep", "rg", "glob", "semantic_code_search", "search"]);
const READS = new Set(["view", "read", "read_file"]);
const EDITS = new Set([
  ...["create", "edit", "insert", "write", "apply_patch", "str_replace", "str_replace_editor"],
]);

/** A block that nothing was told of is the same object as before. */
const known = new WeakMap<ToolBlock, Call>();

export function callOf(tool: ToolBlock): Call {
  const found = known.get(tool) ?? read(tool);
  known.set(tool, found);
  return found;
}

function read(tool: ToolBlock): Call {
  const given = argumentsOf(tool.arguments);
  if (given === null) return other(tool, given);
  const path = text(given, "path") ?? text(given, "file_path");
  if (SHELLS.has(tool.name) && text(given, "command")) return shell(tool, given);
  if (SEARCHES.has(tool.name)) return search(tool, given) ?? other(tool, given);
  if (READS.has(tool.name) && path) return reading(tool, given, path);
  if (EDITS.has(tool.name)) return edit(tool, given, path) ?? other(tool, given);
  if (tool.name === "task" && text(given, "prompt")) return agent(tool, given);
  const question = tool.name === "ask_user" ? text(given, "question") : null;
  if (question) return { kind: "question", question };
  const summary = tool.name === "exit_plan_mode" ? text(given, "summary") : null;
  if (summary) return { kind: "plan", summary };
  const changes = tool.error === null ? changesOf(tool.name, given) : null;
  return changes === null ? other(tool, given) : { kind: "todo", changes };
}

const text = (given: Given, name: string): string | null => {
  const value = given[name];
  return typeof value === "string" && value !== "" ? value : null;
};

const EXIT = /\n?<[^<>\n]*completed with exit code (-?\d+)>\s*$/;
const LONGEST_EXIT = 400;
// Colours of a terminal are nothing to read; whatever else cannot be seen is shown as it is.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are made of
const TERMINAL_COLOURS = /\u001b\[[0-9;]*m/g;

function shell(tool: ToolBlock, given: Given): Call {
  const said = tool.output.replace(TERMINAL_COLOURS, "");
  const from = Math.max(0, said.length - LONGEST_EXIT);
  const exit = EXIT.exec(said.slice(from));
  // Of an output that is too long for the model, only what the model reads instead tells.
  const told = exit ?? EXIT.exec(tool.detail?.slice(-LONGEST_EXIT) ?? "");
  return {
    kind: "shell",
    command: text(given, "command") ?? "",
    output: exit === null ? said : said.slice(0, from + exit.index),
    exit: told === null ? null : Number(told[1]),
  };
}

const LINE = /^(.+?):(\d+):(.*)$/;
const MOST_HITS = 5_000;

function search(tool: ToolBlock, given: Given): Call | null {
  const pattern = text(given, "pattern") ?? text(given, "query");
  if (pattern === null) return null;
  const isNames = tool.name === "glob" || given.output_mode !== "content";
  const rows = /^No (matches|files) /i.test(tool.output) ? [] : tool.output.split("\n");
  const hits = rows
    .slice(0, MOST_HITS)
    .filter((row) => row.trim() !== "" && row !== "--")
    .map((row): Hit => {
      const [, path, line, found] = isNames ? [] : (LINE.exec(row) ?? []);
      if (path === undefined) return { path: row.replace(/^\.\//, ""), line: null, text: "" };
      return { path: path.replace(/^\.\//, ""), line: Number(line), text: found ?? "" };
    });
  return { kind: "search", pattern, where: text(given, "path"), isNames, hits };
}

function reading(tool: ToolBlock, given: Given, path: string): Call {
  const range = Array.isArray(given.view_range) ? given.view_range.map(Number) : [];
  const lines = tool.output.replace(/\n$/, "").split("\n").length;
  const from = range[0] !== undefined && range[0] > 0 ? range[0] : 1;
  const isOver = !tool.receiving && tool.error === null && tool.output !== "";
  return {
    kind: "read",
    path,
    from,
    to: isOver ? from + lines - 1 : null,
    // The runtime shows a folder as a file that was made just now.
    isFolder: /^--- a\/dev\/null$/m.test((tool.detail ?? "").slice(0, 4_000)),
    text: tool.output,
  };
}

function edit(tool: ToolBlock, given: Given, path: string | null): Call | null {
  const said = tool.detail !== null && /^@@ -\d/m.test(tool.detail) ? tool.detail : null;
  const isNew = typeof given.file_text === "string";
  const diff = said ?? fromWords(given);
  if (said === null && path === null) return null;
  const files = filesOf(diff).map(({ path: named, added, removed }) => ({
    path: path ?? named,
    added,
    removed,
  }));
  const isOver = !tool.receiving && tool.error === null && tool.vetoed === null && !tool.cut;
  const verb = isNew ? ["Create", "Created"] : ["Edit", "Edited"];
  return {
    kind: "edit",
    verb: verb[isOver ? 1 : 0] ?? "Edit",
    files: files.length > 0 ? files : [{ path: path ?? "", added: 0, removed: 0 }],
    diff,
  };
}

/** Where the tool said no diff: what it was given has all but the place. */
function fromWords(given: Given): string {
  const made = text(given, "file_text");
  const old = signed("-", text(given, "old_str"));
  const now = signed("+", made ?? text(given, "new_str"));
  if (old.length + now.length === 0) return "";
  const head = made === null ? "@@ … @@" : `@@ -0,0 +1,${now.length} @@`;
  return [head, ...old, ...now, ""].join("\n");
}

const signed = (sign: string, words: string | null): string[] =>
  words === null
    ? []
    : words
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => sign + line);

function agent(tool: ToolBlock, given: Given): Call {
  return {
    kind: "agent",
    name: text(given, "name") ?? text(given, "agent_type") ?? "agent",
    about: text(given, "description") ?? "",
    prompt: text(given, "prompt") ?? "",
    answer: tool.output,
  };
}

function other(tool: ToolBlock, given: Given | null): Call {
  const rows: [string, string][] =
    given === null
      ? [["arguments", tool.arguments]]
      : Object.entries(given).map(([name, value]) => [
          name,
          typeof value === "string" ? value : JSON.stringify(value, null, 1),
        ]);
  return { kind: "other", given: rows };
}
