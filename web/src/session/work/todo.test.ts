import { expect, test } from "vitest";
import { changed, changesOf, type Todo } from "./todo";

const after = (...queries: string[]): readonly Todo[] =>
  queries.reduce<readonly Todo[]>(
    (list, query) => changed(list, changesOf("sql", { query }) ?? []),
    [],
  );

const INSERT =
  "INSERT INTO todos (id, title, status) VALUES ('a', 'Find it; it''s (here)', 'done'), ('b', 'Fix it', 'in_progress'), ('c', 'Tell, of it', 'pending')";

test("the list is what the agent put into its table", () => {
  expect(after(INSERT)).toEqual([
    { id: "a", title: "Find it; it's (here)", state: "done" },
    { id: "b", title: "Fix it", state: "now" },
    { id: "c", title: "Tell, of it", state: "open" },
  ]);
});

test("it is changed where it is, and by several statements at once", () => {
  const list = after(
    INSERT,
    "UPDATE todos SET status = 'done', updated_at = 1 WHERE id = 'b'; UPDATE todos SET status='in_progress' WHERE id IN ('c')",
    "DELETE FROM todos WHERE id = 'a'",
  );
  expect(list.map(({ id, state }) => [id, state])).toEqual([
    ["b", "done"],
    ["c", "now"],
  ]);
});

test("a condition that cannot be read changes nothing", () => {
  expect(after(INSERT, "UPDATE todos SET status = 'done' WHERE title LIKE '%it%'")).toEqual(
    after(INSERT),
  );
});

test("what has nothing to do with it is told apart", () => {
  expect(changesOf("sql", { query: "SELECT 1" })).toBeNull();
  expect(changesOf("sql", { query: "SELECT * FROM todos" })).toEqual([]);
  expect(changesOf("bash", { todos: "- [x] a" })).toBeNull();
});

test("a whole list is taken as it is", () => {
  const list = changesOf("update_todo", { todos: "# Plan\n- [x] one\n- [ ] two" }) ?? [];
  expect(changed([], list)).toEqual([
    { id: "0", title: "one", state: "done" },
    { id: "1", title: "two", state: "open" },
  ]);
  const objects = changesOf("TodoWrite", { todos: [{ content: "one", status: "in_progress" }, 7] });
  expect(changed([], objects ?? [])).toEqual([{ id: "0", title: "one", state: "now" }]);
});

test("a text that is made to be hard to read is read at once, or not at all", () => {
  const hard = `INSERT INTO todos (id, title) VALUES ('a', ${"''".repeat(5_000)}`;
  const before = performance.now();
  changesOf("sql", { query: hard });
  changesOf("sql", { query: `UPDATE todos SET status = '${"x''".repeat(5_000)}` });
  expect(performance.now() - before).toBeLessThan(500);
});
