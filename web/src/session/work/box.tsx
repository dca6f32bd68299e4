/** Neighbouring calls in one box, a line each; those that only looked at something share a line. */

import { Icon } from "../../parts/icon";
import { visible } from "../../words";
import { useChoice } from "../remember";
import { took } from "../said";
import { CallRow } from "./call";
import { callOf } from "./kinds";
import { type CallEntry, type Row as Line, looksInWords, rowsOf } from "./pieces";
import { Fact, Row } from "./row";
import type { Todo } from "./todo";

export function Box({ calls }: { calls: readonly CallEntry[] }) {
  if (calls.length === 0) return null;
  const command = calls.findLast(({ tool }) => callOf(tool).kind === "shell");
  return (
    <div class="calls">
      {rowsOf(calls).map((row) =>
        row.kind === "one" ? (
          <CallRow key={row.entry.tool.id} entry={row.entry} last={row.entry === command} />
        ) : (
          <Looks key={row.entries[0]?.tool.id} row={row} />
        ),
      )}
    </div>
  );
}

/** Several calls behind one line. */
function Looks({ row: { entries } }: { row: Extract<Line, { kind: "looks" }> }) {
  const first = entries[0]?.tool;
  const ended = Math.max(...entries.map(({ tool }) => tool.ended_at ?? tool.at));
  const [verb, ...rest] = looksInWords(entries).split(" ");
  return (
    <Row
      id={`looks ${first?.id}`}
      icon="file"
      title={
        <>
          <b>{verb}</b> {rest.join(" ")}
        </>
      }
      time={took(ended - (first?.at ?? ended))}
    >
      {() => (
        <div class="looks">
          {entries.map((entry) => (
            <CallRow key={entry.tool.id} entry={entry} last={false} />
          ))}
        </div>
      )}
    </Row>
  );
}

const TICKS = {
  done: { icon: "tick", look: "done", words: "Done: " },
  now: { icon: "play", look: "now", words: "Now: " },
  open: { icon: "circle", look: "", words: "To do: " },
} as const;

/** What the agent wrote down to do, with ticks. */
export function TodoList({ id, todos }: { id: string; todos: readonly Todo[] }) {
  const all = useChoice(id, "all");
  const done = todos.filter(({ state }) => state === "done").length;
  const shown = all.value ? todos : todos.slice(0, MOST_TODOS);
  return (
    <div class="calls">
      <Row
        id={id}
        icon="list"
        title={<b>To-do</b>}
        facts={<Fact words={`${done} of ${todos.length} done`} />}
        opens
      >
        {() => (
          <ul class="ticks">
            {shown.map((todo) => {
              const { icon, look, words } = TICKS[todo.state];
              return (
                <li key={todo.id} class={look}>
                  <Icon name={icon} size="s" />
                  <span>
                    <span class="vh">{words}</span>
                    {visible(todo.title.slice(0, 400))}
                  </span>
                </li>
              );
            })}
            {shown.length < todos.length && (
              <li>
                <button
                  type="button"
                  class="btn ghost sm"
                  data-still
                  onClick={() => {
                    all.value = true;
                  }}
                >
                  Show {todos.length - shown.length} more
                </button>
              </li>
            )}
          </ul>
        )}
      </Row>
    </div>
  );
}

const MOST_TODOS = 40;
