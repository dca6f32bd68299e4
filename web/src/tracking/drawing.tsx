/** The chart with its tools: size, folding, and what is left out. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunJob } from "../api/types.gen";
import { known } from "../live/feed";
import { Icon } from "../parts/icon";
import { type Block, blocksOf, type Chart, type Step, type Work } from "./blocks";
import { FlowChart, fitRoom } from "./chart";
import { type Folded, fold } from "./fold";
import { layOut } from "./layout";
import { past } from "./player";
import type { Box, Layout } from "./shapes";
import { outcomeOf, type Progress } from "./states";
import { ask, shownParts, zoom } from "./view";
import { stepOf } from "./zoom";

export type Drawn = {
  /** Null where the nesting is not known. */
  block: Block | null;
  folded: Folded;
  layout: Layout | null;
};

type Drawable = Pick<RunJob, "work" | "chart"> & Partial<Pick<RunJob, "names">>;

/** Laid out again only when it is folded otherwise: what happens in it moves nothing. */
export function useDrawing(
  { work, chart, names }: Drawable,
  progress: Progress,
  whole: Progress = progress,
  isOver = false,
): Drawn {
  const block = useMemo(() => blocksOf(work as Work, chart as Chart, names), [work, chart, names]);
  const wanted = shownParts.value;
  const hides = wanted.hideSucceeded || wanted.failedOnly;
  // As it was when the page opened, and at the end: a chart does not move while its tasks succeed.
  const done = useMemo(() => whole, [isOver]);
  const folded = useMemo(() => {
    if (block === null) return { block: null, notice: null };
    const isDone = (step: Step) => outcomeOf(step, done) === "succeeded";
    return fold(block, wanted, (step) => outcomeOf(step, progress), isDone);
  }, [block, wanted, hides ? progress : null, done]);
  const nested = useMemo(() => (folded.block === null ? null : layOut(folded.block)), [folded]);
  const graph = useGraph(block === null ? (chart as Chart) : null);
  return { block, folded, layout: block === null ? graph : nested };
}

function useGraph(chart: Chart | null): Layout | null {
  const [layout, set] = useState<Layout | null>(null);
  useEffect(() => {
    if (chart === null) return;
    void import("./graph").then(({ layOutGraph }) => set(layOutGraph(chart)));
  }, [chart]);
  return layout;
}

type Props = {
  drawn: Drawn;
  progress: Progress;
  isOver: boolean;
  tasks: number;
  selected: number | null;
  reveal: boolean;
  onChoose: ((box: Box) => void) | null;
  hint?: (box: Box) => string;
};

export function Drawing({
  drawn,
  progress,
  isOver,
  tasks,
  selected,
  reveal,
  onChoose,
  hint,
}: Props) {
  const room = useRef<HTMLDivElement>(null);
  const { layout, folded } = drawn;
  const showAll = () => {
    const chart = room.current?.querySelector<HTMLElement>(".chart");
    if (chart != null && layout !== null) zoom.value = fitRoom(chart, layout);
  };
  useZoomKeys(showAll);
  return (
    <div class="drawing" ref={room}>
      <div class="ctools">
        <div class="row">
          <Tool label="Zoom out" icon="minus" onPress={() => step(-1)} />
          <span class="num small">{Math.round(zoom.value * 100)} %</span>
          <Tool label="Zoom in" icon="plus" onPress={() => step(1)} />
          <button
            type="button"
            class="btn ghost sm"
            title="Fit the chart to the window (0)"
            onClick={showAll}
          >
            Fit
          </button>
        </div>
        <span class="grow" />
        {onChoose !== null && <Filters />}
      </div>
      {folded.notice !== null && (
        <p class="strip info">
          <Icon name="info" />
          <span>{folded.notice}</span>
        </p>
      )}
      {layout === null ? (
        <Nothing isKnown={drawn.block !== null} />
      ) : (
        <FlowChart
          layout={layout}
          progress={progress}
          isOver={isOver}
          now={past.value ?? known.value}
          label={`Flow chart, ${tasks === 1 ? "1 task" : `${tasks} tasks`}`}
          zoom={zoom.value}
          onZoom={(next) => {
            zoom.value = next;
          }}
          selected={selected}
          reveal={reveal}
          onChoose={onChoose}
          {...(hint === undefined ? {} : { hint })}
        />
      )}
    </div>
  );
}

const step = (by: 1 | -1) => {
  zoom.value = stepOf(zoom.value, by);
};

type ToolProps = { label: string; icon: "minus" | "plus"; onPress: () => void };

function Tool({ label, icon, onPress }: ToolProps) {
  return (
    <button
      type="button"
      class="btn ghost sm icon"
      aria-label={label}
      title={label}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

function Filters() {
  const { foldSiblings, hideSucceeded, failedOnly } = shownParts.value;
  return (
    <span class="desk row">
      <Check
        label="Fold siblings"
        on={foldSiblings}
        onChange={(on) => ask({ foldSiblings: on, open: new Set() })}
      />
      <Check
        label="Hide succeeded"
        on={hideSucceeded}
        onChange={(on) => ask({ hideSucceeded: on })}
      />
      <Check label="Failed only" on={failedOnly} onChange={(on) => ask({ failedOnly: on })} />
    </span>
  );
}

type CheckProps = { label: string; on: boolean; onChange: (on: boolean) => void };

function Check({ label, on, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

function Nothing({ isKnown }: { isKnown: boolean }) {
  const { failedOnly } = shownParts.value;
  if (!isKnown) return <p class="chart load">Drawing the chart…</p>;
  return (
    <div class="chart empty">
      <div>
        <h3>{failedOnly ? "Nothing failed" : "Everything succeeded"}</h3>
        <p>The filters above hide all nodes.</p>
        <button
          type="button"
          class="btn"
          onClick={() => ask({ failedOnly: false, hideSucceeded: false })}
        >
          Show all
        </button>
      </div>
    </div>
  );
}

function useZoomKeys(showAll: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      if (event.key === "+" || event.key === "=") step(1);
      else if (event.key === "-" || event.key === "−") step(-1);
      else if (event.key === "0") showAll();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest("input:not([type=checkbox]), textarea, select, dialog") !== null);
