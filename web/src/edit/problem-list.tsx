/** The problems below the code: where, what is wrong, what is allowed, and what repairs it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { visible, visibleLines } from "../words";
import type { Desk } from "./desk";
import { type Change, counted, type Problem } from "./problems";

type Props = {
  desk: Desk;
  problems: readonly Problem[];
  selected: number | null;
  onSelect: (index: number) => void;
  onNext: () => void;
  onRepair: (change: Change) => void;
};

export function Problems({ desk, problems, selected, onSelect, onNext, onRepair }: Props) {
  const [isHinted, showHints] = useState(true);
  const errors = desk.errors.value;
  const hints = problems.filter(({ isError }) => !isError).length;
  const listed = problems.length - hints;
  const isLocked = desk.locked.value !== null;
  const shown = problems
    .map((problem, index) => ({ problem, index }))
    .filter(({ problem }) => problem.isError || isHinted);
  return (
    <section class="probs" aria-label="Problems">
      <header>
        <Count desk={desk} errors={errors} />
        {hints > 0 && (
          <button
            type="button"
            class="btn ghost sm"
            aria-pressed={isHinted}
            onClick={() => showHints(!isHinted)}
          >
            {counted(hints, "hint")}
          </button>
        )}
        <span class="grow" />
        {errors > 0 && (
          <button type="button" class="btn ghost sm" onClick={onNext}>
            Next problem <kbd class="desk">F8</kbd>
          </button>
        )}
        <a class="small" href="/docs/entry.html" target="_blank" rel="noopener">
          What an entry can have
        </a>
      </header>
      {shown.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
        <ol tabIndex={0} aria-label="Problems, one by one">
          {shown.map(({ problem, index }) => (
            <OneProblem
              key={index}
              problem={problem}
              isSelected={index === selected}
              onGo={() => onSelect(index)}
              onRepair={isLocked ? null : onRepair}
            />
          ))}
          {errors > listed && (
            <li class="prob">
              <span />
              <p>
                These are the first {listed} of {errors} errors. Correct them, and the next ones
                appear here.
              </p>
            </li>
          )}
        </ol>
      )}
    </section>
  );
}

function Count({ desk, errors }: { desk: Desk; errors: number }) {
  if (desk.checked.value === null) {
    const isOn = desk.unchecked.value === null && desk.file.value?.format !== "python";
    return <span class="small muted">{isOn ? "Checking…" : "Not checked"}</span>;
  }
  return (
    <span class={errors > 0 ? "st failed" : "st ok"} role="status">
      <Icon name={errors > 0 ? "cross" : "tick"} />
      {errors > 0 ? counted(errors, "error") : "No errors"}
    </span>
  );
}

type OneProps = {
  problem: Problem;
  isSelected: boolean;
  onGo: () => void;
  onRepair: ((change: Change) => void) | null;
};

function OneProblem({ problem, isSelected, onGo, onRepair }: OneProps) {
  const { isError, line, what, allowed, example, where, repairs } = problem;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <li ref={row} class={`prob${isError ? "" : " hint-p"}${isSelected ? " sel" : ""}`}>
      <Icon name={isError ? "cross" : "info"} />
      <p>
        <b>
          {line !== null && (
            <button type="button" class="link" onClick={onGo}>
              Line {line}
            </button>
          )}
          {line !== null && ": "}
          {visible(what)}
        </b>{" "}
        {visible(allowed)}
      </p>
      <span class="small faint mono where">{visible(where)}</span>
      {(repairs.length > 0 || example !== "") && (
        <div class="fixes">
          {onRepair !== null &&
            repairs.map((repair, at) => (
              <button
                key={repair.title}
                type="button"
                class={at === 0 ? "btn sm" : "btn ghost sm"}
                onClick={() => onRepair(repair)}
              >
                {visible(repair.title)}
              </button>
            ))}
          {example !== "" && (
            <details>
              <summary class="small">Example</summary>
              <pre class="code">{visibleLines(example)}</pre>
            </details>
          )}
        </div>
      )}
    </li>
  );
}
