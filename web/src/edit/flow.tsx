/** The chart of the chosen job, drawn anew with every text that can be read. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { Icon } from "../parts/icon";
import type { Chart } from "../tracking/blocks";
import { FlowChart, fitRoom } from "../tracking/chart";
import { useDrawing } from "../tracking/drawing";
import type { Box, Layout } from "../tracking/shapes";
import type { Progress } from "../tracking/states";
import { zoom } from "../tracking/view";
import { visible } from "../words";
import type { Desk } from "./desk";
import { valueAt } from "./fields";
import { outlineOf } from "./outline";
import { counted } from "./problems";
import type { DraftJob } from "./wire";

type Props = {
  desk: Desk;
  jobs: readonly DraftJob[];
  job: DraftJob | null;
  onChoose: (job: string) => void;
};

export function JobChart({ desk, jobs, job, onChoose }: Props) {
  const last = useRef<DraftJob | null>(null);
  if (job !== null) last.current = job;
  const shown = job ?? last.current;
  if (shown === null) {
    const isEmpty = (desk.draft.value?.text ?? "").trim() === "";
    return (
      <div class="chart empty">
        <div>
          <Icon name="job" size="big" />
          <h2>{isEmpty ? "No entry yet" : "No job to draw"}</h2>
          <p>
            {isEmpty
              ? "Start from an example, or press Ctrl+Space in the editor for suggestions."
              : "The chart appears once a job has a `work`."}
          </p>
        </div>
      </div>
    );
  }
  return <Drawn key={shown.name} {...{ desk, jobs, onChoose }} job={shown} isOld={job === null} />;
}

const NOTHING_RAN: Progress = new Map();

type DrawnProps = Omit<Props, "job"> & { job: DraftJob; isOld: boolean };

function Drawn({ desk, jobs, job, onChoose, isOld }: DrawnProps) {
  const room = useRef<HTMLDivElement>(null);
  const chart = job.chart as Chart;
  const drawable = useMemo(
    () => ({ work: job.work, chart: job.chart }),
    [JSON.stringify(job.chart)],
  );
  const { layout } = useDrawing(drawable, NOTHING_RAN);
  const kept = useRef<Layout | null>(null);
  if (layout !== null) kept.current = layout;
  const drawn = layout ?? kept.current;
  const fitted = useRef(0);
  const showAll = () => {
    const place = room.current?.querySelector<HTMLElement>(".chart");
    if (place == null || place.clientWidth === 0 || drawn === null) return;
    zoom.value = Math.min(1, fitRoom(place, drawn));
    fitted.current = zoom.value;
  };
  // Until somebody chooses another size; what is out of sight has none yet.
  const fitAgain = () => {
    if (fitted.current === 0 || fitted.current === zoom.value) showAll();
  };
  useEffect(() => {
    fitAgain();
    const place = room.current;
    if (place === null) return undefined;
    const watcher = new ResizeObserver(fitAgain);
    watcher.observe(place);
    return () => watcher.disconnect();
  }, [drawn]);

  const tasks = chart.nodes.filter(({ hint }) => typeof hint !== "string");
  const broken = tasks.filter((node) => node.broken != null).length;
  const about = [counted(tasks.length, "task"), broken > 0 ? `${broken} broken` : ""]
    .filter((words) => words !== "")
    .join(", ");
  const text = desk.checked.value?.text ?? desk.draft.value?.text ?? "";
  const fields = useMemo(() => outlineOf(text), [text]);
  const hint = ({ of }: Box): string => {
    if (of?.kind !== "step") return "";
    if (of.broken !== undefined) return of.broken;
    const name = of.task.replace(/ \([^)]*\)$/, "");
    if (valueAt(fields, ["tasks", name, "requireUserInput"]) === "true") return "needs your input";
    return valueAt(fields, ["tasks", name, "permissions"]) ?? "";
  };
  return (
    <div class="drawing" ref={room}>
      <div class="ctools">
        <label class="job-choice">
          Job:
          <select
            value={job.name}
            disabled={jobs.length < 2}
            onChange={(event) => onChoose(event.currentTarget.value)}
          >
            {(isOld ? [job] : jobs).map(({ name }) => (
              <option key={name} value={name}>
                {visible(name)}
              </option>
            ))}
          </select>
        </label>
        <span class="grow" />
        <span class="small muted">{isOld ? "Before the last errors" : about}</span>
        <button type="button" class="btn ghost sm" title="Show the whole chart" onClick={showAll}>
          Fit
        </button>
      </div>
      {drawn === null ? (
        <p class="chart load">Drawing the chart…</p>
      ) : (
        <FlowChart
          layout={drawn}
          progress={NOTHING_RAN}
          isOver={false}
          now={0}
          label={`Flow chart of ${visible(job.name)}, ${about}`}
          zoom={zoom.value}
          onZoom={(next) => {
            zoom.value = next;
          }}
          selected={null}
          reveal={false}
          onChoose={null}
          hint={hint}
        />
      )}
    </div>
  );
}
