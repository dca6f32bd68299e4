/** The agent's list of what is to do, from what it was told by its tools. Pure.
 *
 *  The runtime keeps the list in a table `todos`, which the agent changes by SQL; other agents hand
 *  over the whole list. What cannot be read changes nothing. */

export type Todo = { id: string; title: string; state: "done" | "now" | "open" };

export type TodoChange =
  | { kind: "all"; items: Todo[] }
  | { kind: "add"; items: Todo[] }
  | { kind: "state"; state: Todo["state"]; ids: string[] | null }
  | { kind: "remove"; ids: string[] | null };

const LISTS = new Set(["update_todo", "todo_write", "TodoWrite", "update_plan"]);

/** Null where the call has nothing to do with the list. */
export function changesOf(
  tool: string,
  given: Readonly<Record<string, unknown>>,
): TodoChange[] | null {
  if (tool === "sql") return typeof given.query === "string" ? bySql(given.query) : null;
  if (!LISTS.has(tool)) return null;
  const list = given.todos ?? given.plan ?? given.items;
  if (typeof list === "string") return [{ kind: "all", items: ticked(list) }];
  return Array.isArray(list) ? [{ kind: "all", items: list.flatMap(fromObject) }] : null;
}

export const changed = (todos: readonly Todo[], changes: readonly TodoChange[]): readonly Todo[] =>
  changes.reduce(after, todos);

function after(list: readonly Todo[], change: TodoChange): readonly Todo[] {
  switch (change.kind) {
    case "all":
      return change.items;
    case "add": {
      const ids = new Set(change.items.map(({ id }) => id));
      return [...list.filter(({ id }) => !ids.has(id)), ...change.items];
    }
    case "state":
      return list.map((todo) =>
        isMeant(change.ids, todo) ? { ...todo, state: change.state } : todo,
      );
    case "remove":
      return list.filter((todo) => !isMeant(change.ids, todo));
  }
}

const isMeant = (ids: readonly string[] | null, { id }: Todo): boolean =>
  ids === null || ids.includes(id);

function stateOf(word: string): Todo["state"] {
  if (/^(done|completed?|finished)$/i.test(word)) return "done";
  return /^(in[_ -]?progress|doing|active|now)$/i.test(word) ? "now" : "open";
}

function fromObject(value: unknown, place: number): Todo[] {
  const { id, title, content, step, status } = (value ?? {}) as Record<string, unknown>;
  const words = [title, content, step].find((each) => typeof each === "string");
  if (words === undefined) return [];
  return [{ id: String(id ?? place), title: String(words), state: stateOf(String(status ?? "")) }];
}

/** `- [x] done`, a line each. */
function ticked(text: string): Todo[] {
  const found = text.matchAll(/^\s*[-*] \[( |x|X|~|>|-)\] (.+)$/gm);
  return [...found].map(([, mark = " ", title = ""], place) => ({
    id: String(place),
    title,
    state: mark.toLowerCase() === "x" ? "done" : mark === " " ? "open" : "now",
  }));
}

// A quote that another one follows does not end the text: read so, there is one way only.
const STRING = /'((?:[^']|'')*)'(?!')/g;
const LONGEST = 20_000;

function bySql(query: string): TodoChange[] | null {
  if (query.length > LONGEST || !/\btodos\b/i.test(query)) return null;
  return statements(query).flatMap((statement) => bySqlStatement(statement) ?? []);
}

/** At every `;` outside of a text. */
function statements(query: string): string[] {
  return (query.match(/(?:'(?:[^']|'')*'(?!')|[^';])+/g) ?? []).map((statement) =>
    statement.trim(),
  );
}

function bySqlStatement(statement: string): TodoChange | null {
  const added = /^insert\s+(?:or\s+\w+\s+)?into\s+todos\s*\(([^)]*)\)\s*values\s*([\s\S]*)$/i.exec(
    statement,
  );
  if (added !== null) return { kind: "add", items: rowsOf(added[1] ?? "", added[2] ?? "") };
  const set = /^update\s+todos\s+set\s+[\s\S]*?\bstatus\s*=\s*'([^']*)'([\s\S]*)$/i.exec(statement);
  if (set !== null)
    return { kind: "state", state: stateOf(set[1] ?? ""), ids: idsOf(set[2] ?? "") };
  const gone = /^delete\s+from\s+todos\b([\s\S]*)$/i.exec(statement);
  return gone === null ? null : { kind: "remove", ids: idsOf(gone[1] ?? "") };
}

/** Those that the condition names; null without one. A condition that names none means none. */
function idsOf(rest: string): string[] | null {
  const condition = /\bwhere\b([\s\S]*)$/i.exec(rest)?.[1];
  if (condition === undefined) return null;
  if (!/^\s*id\b/i.test(condition)) return [];
  return strings(condition);
}

const strings = (text: string): string[] =>
  [...text.matchAll(STRING)].map(([, words = ""]) => words.replaceAll("''", "'"));

function rowsOf(columns: string, values: string): Todo[] {
  const names = columns.split(",").map((name) => name.trim().replaceAll(/["`]/g, "").toLowerCase());
  const rows = values.match(/\((?:'(?:[^']|'')*'(?!')|[^()'])*\)/g) ?? [];
  return rows.flatMap((row, place) => {
    const cells = row.slice(1, -1).match(/\s*'(?:[^']|'')*'(?!')|[^,]+/g) ?? [];
    const said = cells
      .filter((cell) => cell.trim() !== "")
      .map((cell) => strings(cell)[0] ?? cell.trim());
    const of = (name: string) => said[names.indexOf(name)];
    const title = of("title") ?? of("description");
    return title === undefined
      ? []
      : [{ id: of("id") ?? String(place), title, state: stateOf(of("status") ?? "") }];
  });
}
