/** The tabs of the right part: the report, the selected task, what changed, the definition. */

import type { WorkRecord } from "../api/types.gen";
import { Icon, type IconName } from "../parts/icon";
import { visible } from "../words";
import type { Step } from "./blocks";
import type { RunTab } from "./selection";
import { type Executions, roundOf } from "./states";

type Props = {
  tab: RunTab;
  step: Step | null;
  executions: Executions;
  execution: WorkRecord | null;
  /** How many tasks the opened wide part has; null where none is. */
  items: number | null;
  /** How many files changed; null while nobody knows. */
  count: number | null;
  onTab: (tab: RunTab) => void;
};

export function RunTabs(props: Props) {
  const { tab, step, items, count, onTab } = props;
  const tabs: RunTab[] = [
    "report",
    ...(items === null ? [] : ["items" as const]),
    ...(step === null ? [] : ["task" as const]),
    "changes",
    "definition",
  ];
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onTab(next);
    document.getElementById(`run-tab-${next}`)?.focus();
  };
  return (
    <div class="tabs run-tabs" role="tablist" aria-label="Report, task, changes and definition">
      {tabs.map((one) => (
        <button
          key={one}
          id={`run-tab-${one}`}
          type="button"
          role="tab"
          aria-selected={one === tab}
          aria-controls="run-tab"
          tabIndex={one === tab ? 0 : -1}
          onClick={() => onTab(one)}
          onKeyDown={move}
        >
          {one === "report" && "Report"}
          {one === "items" && (
            <>
              Items <span class="n">{items}</span>
            </>
          )}
          {one === "task" && <TaskTab {...props} />}
          {one === "changes" && (
            <>Changes {count !== null && <span class="n">{count.toLocaleString("en")}</span>}</>
          )}
          {one === "definition" && "Definition"}
        </button>
      ))}
    </div>
  );
}

const MARKS: Partial<Record<WorkRecord["state"], [string, IconName, string]>> = {
  running: ["running", "play", "running"],
  waiting: ["waiting", "clock", "waiting"],
  "waiting-for-person": ["you", "hand", "waiting for you"],
  succeeded: ["ok", "tick", "succeeded"],
  failed: ["failed", "cross", "failed"],
};

/** Its name as everywhere, with the round where it ran more than once. */
function TaskTab({ step, executions, execution }: Props) {
  if (step === null) return null;
  const [name = "", ...rest] = visible(step.name).split(" · ");
  const round = execution === null || executions.length < 2 ? null : roundOf(execution.path);
  const extra = [...rest, round === null ? "" : `round ${round}`].filter((word) => word !== "");
  const answered = step.asks && execution?.ended_at != null && !execution.unasked;
  const mark = execution === null || answered ? undefined : MARKS[execution.state];
  return (
    <>
      {mark !== undefined && (
        <span class={`sti ${mark[0]}`}>
          <Icon name={mark[1]} />
          <span class="vh">{mark[2]}</span>
        </span>
      )}
      <span class="mono">{name}</span> {extra.join(" · ")}
    </>
  );
}
