/** The Why panel: state first, then why, then evidence. */

import { useSignal } from "@preact/signals";
import { Icon, type IconName } from "../parts/icon";
import type { TaskState } from "../state/types";
import type { StreamLog } from "./log";
import { type Outcome, type Reason, reasonsOf, summaryOf } from "./reasons";

type Props = {
  task: TaskState;
  forYou: boolean;
  log: StreamLog;
  onEvent: (seq: number) => void;
};

const LOOKS: Record<Outcome, [string, IconName]> = {
  passed: ["ok", "tick"],
  failed: ["failed", "cross"],
  "could not be checked": ["failed", "question"],
  pending: ["waiting", "clock"],
  "used up": ["failed", "cross"],
};

export function Why({ task, forYou, log, onEvent }: Props) {
  const open = useSignal(true);
  const reasons = reasonsOf(task);
  log.loaded.value; // the events that are linked to may come later
  return (
    <section class="why" aria-label="Why">
      <header>
        <button
          type="button"
          class="btn ghost sm whyb"
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          <Icon name={open.value ? "down" : "right"} size="s" />
          <h3>Why</h3>
        </button>
        <span class="small muted grow" title={summaryOf(task, forYou)}>
          {summaryOf(task, forYou)}
        </span>
      </header>
      {open.value && reasons.length > 0 && (
        <div class="why-rows">
          <table class="tbl">
            <thead>
              <tr>
                <th scope="col">Check</th>
                <th scope="col">Attempt</th>
                <th scope="col">Outcome</th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {reasons.map((reason) => (
                <Row
                  key={`${reason.check} ${reason.attempt} ${reason.at}`}
                  reason={reason}
                  seq={seqOf(log, reason)}
                  onEvent={onEvent}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

type RowProps = { reason: Reason; seq: number | null; onEvent: (seq: number) => void };

function Row({ reason, seq, onEvent }: RowProps) {
  const [look, icon] = LOOKS[reason.outcome];
  return (
    <tr>
      <td class="nowrap">{reason.check}</td>
      <td class="nowrap">{reason.attempt}</td>
      <td>
        <span class={`st ${look}`}>
          <Icon name={icon} />
          {reason.outcome}
        </span>
      </td>
      <td class="muted">
        {reason.reason}
        {seq !== null && (
          <>
            {" "}
            <button type="button" class="link" onClick={() => onEvent(seq)}>
              event {seq}
            </button>
          </>
        )}
      </td>
    </tr>
  );
}

function seqOf(log: StreamLog, reason: Reason): number | null {
  for (const { seq, at, event } of log.here()) {
    if (event.kind !== "task.checked" || at !== reason.at) continue;
    if (event.field === reason.field && (event.round ?? 0) === reason.round) return seq;
  }
  return null;
}
