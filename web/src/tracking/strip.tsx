/** What matters now, in one line: the most urgent of it. */

import type { InboxItem, RunDetail, RunMove } from "../api/types.gen";
import { known as until } from "../live/feed";
import { watchMachines } from "../live/machines";
import { Icon, type IconName } from "../parts/icon";
import { fateOfRun, isSilent, silence, startsAgain, takenOver } from "../parts/machine-words";
import { SilenceStrip } from "../parts/silence";
import { visible } from "../words";
import { past } from "./player";
import { clipped } from "./said";
import { useWatched } from "./use";

type Props = {
  run: RunDetail;
  waits: readonly InboxItem[];
  /** What the work at a path is called. */
  nameOf: (path: string) => string | null;
  onDecide: (item: InboxItem) => void;
};

/** One line, for the most urgent of what matters now. */
export function Strip({ run, waits, nameOf, onDecide }: Props) {
  const [first] = waits;
  const silent = useSilence(run);
  if (first !== undefined) {
    const { task, words, code } = askedOf(first, run, nameOf);
    return (
      <div class="strip" role="status">
        <Icon name="hand" />
        <span class="cut grow">
          <b>Waiting for you{waits.length > 1 ? ` (${waits.length})` : ""}:</b> {task} {words}{" "}
          {code !== "" && <code class="mono">{code}</code>}
        </span>
        <button type="button" class="btn sm" onClick={() => onDecide(first)}>
          Decide
        </button>
      </div>
    );
  }
  if (silent !== null) {
    return <SilenceStrip {...silent} />;
  }
  const told = informationOf(run);
  if (told === null && run.moved != null) {
    return <Moved moved={run.moved} isOver={run.ended_at != null} />;
  }
  return told === null ? null : (
    <div class="strip info" role="status">
      <Icon name={told.icon} />
      <span class="cut grow">{told.words}</span>
    </div>
  );
}

function Moved({ moved, isOver }: { moved: RunMove; isOver: boolean }) {
  return (
    <div class="strip moved" role="status">
      <Icon name="steer" />
      <span class="grow">
        <b>{takenOver(moved)}</b> {visible(moved.reason)} {startsAgain(moved, isOver)}
      </span>
    </div>
  );
}

/** Whether the machine that works on a run is not heard, and what becomes of the run then. */
function useSilence(run: RunDetail): { name: string; head: string; rest: string } | null {
  const name = run.ended_at == null && past.value === null ? (run.machine ?? null) : null;
  const known = useWatched(name, () => watchMachines(false))?.state.value ?? null;
  const one = known?.list.items.find((item) => item.name === name && isSilent(item));
  if (known === null || one === undefined) return null;
  const passed = Math.max(0, until.value - known.at);
  const rest = `${fateOfRun(known.list, one, run.id, passed)}.`;
  return { name: one.name, head: silence(one, passed), rest };
}

function informationOf(run: RunDetail): { icon: IconName; words: string } | null {
  if (run.state === "canceled") return { icon: "slashed", words: visible(run.reason ?? "") };
  if (run.ended_at != null) return null;
  if (run.ending != null) return { icon: "slashed", words: "The job is stopping." };
  // What waits for a place is told in the heading.
  if (run.state === "waiting" && run.waits_for != null && run.running.length === 0) {
    return { icon: "clock", words: `Waiting for ${visible(run.waits_for)}.` };
  }
  // Of another session: it is decided there.
  const behind = run.running.find((work) => work.for_person);
  if (behind?.waits_for != null) {
    return {
      icon: "hand",
      words: `${visible(behind.task)} is waiting for ${visible(behind.waits_for)}.`,
    };
  }
  if (run.restarts > 0 && run.moved == null) {
    const times = run.restarts === 1 ? "" : ` ${run.restarts} times`;
    return { icon: "turn", words: `Resumed${times} after a restart of the server.` };
  }
  return null;
}

function askedOf(item: InboxItem, run: RunDetail, nameOf: Props["nameOf"]) {
  const work = run.works.find((one) => one.task_run === item.task_run);
  const task = visible(work === undefined ? "a task" : (nameOf(work.path) ?? work.task));
  const { asked } = item;
  switch (asked.kind) {
    case "approval.asked": {
      const { command, path, address } = asked.subject;
      const code = clipped(command ?? path ?? address ?? "");
      const title = clipped(asked.title);
      return { task, words: `asks: ${title}`, code: title.includes(code) ? "" : code };
    }
    case "question.asked":
      return { task, words: `asks: ${clipped(asked.question)}`, code: "" };
    case "plan.asked":
      return { task, words: `has a plan: ${clipped(asked.summary)}`, code: "" };
    case "sign-in.asked":
      return { task, words: `waits for a sign-in at ${clipped(asked.server)}.`, code: "" };
    case "switch.asked":
      return { task, words: `waits: ${clipped(asked.model)} is at its limit.`, code: "" };
    default:
      return { task, words: `reached its limit of ${visible(asked.limit)}.`, code: "" };
  }
}
