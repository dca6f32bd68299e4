/** A run whose folder only one machine has, which is gone: to another one, where its files are too. */

import { useId, useState } from "preact/hooks";
import { barred } from "../api/role";
import type { WaitingRun, WorkerList } from "../api/types.gen";
import { visible } from "../words";
import { takers } from "./shown";

type Props = { list: WorkerList; run: WaitingRun; onMove: (to: string) => Promise<boolean> };

export function Move({ list, run, onMove }: Props) {
  const id = useId();
  const [isOpen, open] = useState(false);
  const [chosen, choose] = useState<string | null>(null);
  const [isBusy, work] = useState(false);
  const others = takers(list, run);
  const to = others.find((one) => one.id === chosen) ?? others[0];
  if (!isOpen) {
    return (
      <button
        type="button"
        class="btn sm"
        aria-label={`Move ${visible(run.title)} to another machine`}
        disabled={to === undefined}
        title={to === undefined ? "No other machine takes work now." : undefined}
        {...barred("own")}
        onClick={() => open(true)}
      >
        Move to another machine
      </button>
    );
  }
  return (
    <form
      class="move"
      aria-label={`Move ${visible(run.title)}`}
      onSubmit={async (event) => {
        event.preventDefault();
        if (to === undefined) return;
        work(true);
        if (await onMove(to.id)) open(false);
        work(false);
      }}
      onKeyDown={(event) => event.key === "Escape" && open(false)}
    >
      <p class="small muted">
        The files have to be at the same path on that machine: it continues with what is there.
      </p>
      <span class="row wrap">
        <label class="small" for={id}>
          Move to
        </label>
        <select
          id={id}
          class="select sm"
          value={to?.id ?? ""}
          ref={(box) => {
            if (box === null || box.dataset.seen !== undefined) return;
            box.dataset.seen = "";
            box.focus();
          }}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {others.map((one) => (
            <option key={one.id} value={one.id}>
              {visible(one.name)}
            </option>
          ))}
        </select>
        <button type="submit" class="btn primary sm" disabled={isBusy || to === undefined}>
          Move
        </button>
        <button type="button" class="btn ghost sm" onClick={() => open(false)}>
          Cancel
        </button>
      </span>
    </form>
  );
}
