/** The events of the run, or of one task: a list of any length, of which a screenful is in the page. */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Recorded } from "../state/types";
import { fully, visible } from "../words";
import type { StreamLog } from "./log";
import { type Said, tellRun, tellTask } from "./said";
import type { SelectedEvent } from "./selection";

export const ROW = 24;
const AROUND = 12;

type Props = {
  log: StreamLog;
  of: "run" | "task";
  /** How many there are. */
  count: number;
  /** What the work at a path is called. */
  nameOf: (path: string) => string | null;
  /** Whether an event belongs to what is selected. */
  isOfNode: (path: string | null) => boolean;
  selected: SelectedEvent | null;
  reveal: boolean;
  onSelect: (seq: number, path: string | null) => void;
};

export function Events(props: Props) {
  const { log, of, count, selected, reveal } = props;
  const room = useRef<HTMLDivElement>(null);
  const view = useSignal({ first: 0, rows: 40 });
  const atEnd = useSignal(true);
  const known = useRef(count);
  const missed = useSignal(0);
  log.loaded.value; // drawn again when a page came

  const look = () => {
    const { current } = room;
    if (current === null) return;
    const first = Math.max(0, Math.floor(current.scrollTop / ROW) - AROUND);
    const rows = Math.ceil(current.clientHeight / ROW) + 2 * AROUND;
    if (first !== view.value.first || rows !== view.value.rows) view.value = { first, rows };
    atEnd.value = current.scrollTop + current.clientHeight >= current.scrollHeight - ROW / 2;
    if (atEnd.value) missed.value = 0;
  };
  const toEnd = () => room.current?.scrollTo({ top: room.current.scrollHeight });

  useLayoutEffect(() => {
    const more = count - known.current;
    known.current = count;
    if (atEnd.value) toEnd();
    else if (more > 0) missed.value += more;
    look();
  }, [count, log]);
  useEffect(() => {
    const { current } = room;
    if (current === null) return undefined;
    const watcher = new ResizeObserver(() => {
      if (atEnd.value) toEnd();
      look();
    });
    watcher.observe(current);
    return () => watcher.disconnect();
  }, []);
  const chosen = selected?.of === of ? selected.seq : null;
  useEffect(() => {
    if (chosen !== null && reveal && room.current !== null) bringIn(room.current, chosen);
  }, [chosen, log]);

  const seqs: number[] = [];
  for (
    let at = view.value.first;
    at < Math.min(count, view.value.first + view.value.rows);
    at += 1
  ) {
    seqs.push(at + 1);
  }

  function press(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const row = event.target instanceof HTMLElement ? event.target.closest("[data-seq]") : null;
    if (by === undefined || row === null || room.current === null) return;
    event.preventDefault();
    const next = Math.min(count, Math.max(1, Number(row.getAttribute("data-seq")) + by));
    bringIn(room.current, next);
    look();
    const { current } = room;
    requestAnimationFrame(() =>
      current.querySelector<HTMLElement>(`[data-seq="${next}"]`)?.focus({ preventScroll: true }),
    );
  }

  const stop = chosen ?? (seqs.includes(count) ? count : seqs[0]);
  return (
    <div class="evts-room">
      <div
        class="evts"
        ref={room}
        role="listbox"
        aria-label={of === "run" ? "Events of the run" : "Events of the task"}
        tabIndex={-1}
        onScroll={look}
        onKeyDown={press}
      >
        <div class="evts-all" style={{ height: `${count * ROW}px` }}>
          {seqs.map((seq) => (
            <Row key={seq} seq={seq} stop={stop} props={props} recorded={log.at(seq)} />
          ))}
        </div>
      </div>
      {!atEnd.value && (
        <button type="button" class="btn sm evts-end" onClick={toEnd}>
          {missed.value > 0 ? `${missed.value} new, jump to latest` : "Jump to latest"}
        </button>
      )}
    </div>
  );
}

type RowProps = { seq: number; stop: number | undefined; props: Props; recorded: Recorded | null };

function Row({ seq, stop, props, recorded }: RowProps) {
  const { of, nameOf, isOfNode, selected, onSelect } = props;
  const said: Said | null =
    recorded && (of === "run" ? tellRun(recorded.event) : tellTask(recorded.event));
  const isChosen = selected?.of === of && selected.seq === seq;
  const isNear = said !== null && of === "run" && isOfNode(said.path);
  const name = said?.path == null ? (of === "run" ? "run" : "") : (nameOf(said.path) ?? said.path);
  return (
    <div
      class={`evt${isChosen ? " sel" : ""}${isNear ? " near" : ""}${seq % 2 === 0 ? " even" : ""}`}
      role="option"
      aria-selected={isChosen}
      aria-setsize={props.count}
      aria-posinset={seq}
      tabIndex={seq === stop ? 0 : -1}
      data-seq={seq}
      style={{ top: `${(seq - 1) * ROW}px` }}
      onClick={() => onSelect(seq, said?.path ?? null)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onSelect(seq, said?.path ?? null);
      }}
    >
      <span class="mono num" title={recorded ? fully(recorded.at) : ""}>
        {recorded ? seconds(recorded.at) : ""}
      </span>
      <span class="mono num">{seq}</span>
      <span class="cut">{visible(name)}</span>
      <span class="cut">
        {said === null ? "…" : <b>{said.head}</b>} {said?.text}
      </span>
    </div>
  );
}

const seconds = (at: number) => fully(at).slice(-8);

function bringIn(room: HTMLElement, seq: number): void {
  const top = (seq - 1) * ROW;
  if (top < room.scrollTop) room.scrollTop = top;
  else if (top + ROW > room.scrollTop + room.clientHeight) {
    room.scrollTop = top + ROW - room.clientHeight;
  }
}
