/** What the person has to say to a job that asks for it. */

import { Fragment } from "preact";
import type { TaskItem } from "../api/types.gen";
import { visible } from "../words";
import type { Cell } from "./grid";
import { readersOf } from "./works";

type Props = {
  cell: Cell;
  tasks: readonly TaskItem[];
  text: string;
  onWrite: (text: string) => void;
  onStart: () => void;
};

export function Input({ cell, tasks, text, onWrite, onStart }: Props) {
  return (
    <div class="field fill">
      <label for="user-input">User input</label>
      <textarea
        id="user-input"
        class="area"
        placeholder="Describe what to do"
        aria-describedby="user-input-for"
        value={text}
        onInput={(event) => onWrite(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onStart();
        }}
      />
      <p class="hint" id="user-input-for">
        <Readers names={readersOf(cell.job.work, tasks)} />
      </p>
    </div>
  );
}

function Readers({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <>Required. Press Ctrl+Enter to start the job.</>;
  return (
    <>
      Required by the {names.length === 1 ? "task" : "tasks"}{" "}
      {names.map((name, at) => (
        <Fragment key={name}>
          {at === 0 ? "" : at === names.length - 1 ? " and " : ", "}
          <span class="mono">{visible(name)}</span>
        </Fragment>
      ))}{" "}
      ({names.length === 1 ? "uses" : "use"} <span class="mono">$user-input</span>). Press
      Ctrl+Enter to start the job.
    </>
  );
}
