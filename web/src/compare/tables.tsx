/** What came of each step in both runs, and which checks came out differently. */

import { useSignal } from "@preact/signals";
import type {
  CheckOutcome,
  ComparedCheck,
  ComparedStep,
  Comparison,
  StepOutcome,
} from "../api/types.gen";
import { Icon, type IconName } from "../parts/icon";
import { Inline } from "../tracking/inline";
import { duration, visible } from "../words";
import { Letter } from "./page";

function Heads({ first, last }: { first: string; last: string }) {
  return (
    <thead>
      <tr>
        <th class="k" scope="col">
          {first}
        </th>
        <th scope="col">
          <Letter of="A" /> Run A
        </th>
        <th class="t right" scope="col">
          {last}
        </th>
        <th class="edge" scope="col">
          <Letter of="B" /> Run B
        </th>
        <th class="t right" scope="col">
          {last}
        </th>
      </tr>
    </thead>
  );
}

export function Steps({ told }: { told: Comparison }) {
  const all = useSignal(false);
  const open = useSignal(false);
  const parting = told.steps.findIndex((step) => step.path === told.parted_at);
  const before = parting < 0 ? told.steps : told.steps.slice(0, parting);
  const behind = parting < 0 ? [] : told.steps.slice(parting);
  const shown = all.value ? behind : behind.filter((step) => step.differs !== "none");
  const [first, last] = [before[0], before.at(-1)];
  return (
    <section class="panel" aria-label="Outcome of each task">
      <header>
        <h2>Outcome of each task</h2>
        <span class="grow" />
        <label class="check">
          <input
            type="checkbox"
            checked={!all.value}
            onChange={(event) => {
              all.value = !event.currentTarget.checked;
            }}
          />
          Only differences
        </label>
      </header>
      <table class="tbl cmpt">
        <Heads first="Task" last="Took" />
        <tbody>
          {first !== undefined && last !== undefined && (
            <tr class="same">
              <td colSpan={5}>
                <button
                  type="button"
                  class="lnk"
                  aria-expanded={open.value}
                  onClick={() => {
                    open.value = !open.value;
                  }}
                >
                  <Icon name={open.value ? "down" : "right"} size="s" />
                  {before.length === 1
                    ? `1 step with the same outcome: ${visible(first.name)}`
                    : `${before.length} steps with the same outcome, from ${visible(first.name)} to ${visible(last.name)}`}
                </button>
              </td>
            </tr>
          )}
          {open.value &&
            before.map((step) => <Step key={step.path} step={step} isParting={false} />)}
          {behind[0] !== undefined && (
            <tr class="flag">
              <td colSpan={5}>{partedAt(behind[0])}</td>
            </tr>
          )}
          {shown.map((step) => (
            <Step key={step.path} step={step} isParting={step.path === told.parted_at} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function partedAt({ a, b }: ComparedStep): string {
  const times = [
    a == null ? "" : `A at ${duration(a.after_ms)}`,
    b == null ? "" : `B at ${duration(b.after_ms)}`,
  ].filter((word) => word !== "");
  return `First difference, ${times.join(", ")}`;
}

function Step({ step, isParting }: { step: ComparedStep; isParting: boolean }) {
  return (
    <tr class={isParting ? "part" : ""}>
      <td class="mono n">{visible(step.name)}</td>
      <td class="oa">
        <Outcome of={step.a ?? null} />
      </td>
      <td class="num ta">{step.a == null ? "–" : duration(step.a.worked_ms)}</td>
      <td class="ob edge">
        <Outcome of={step.b ?? null} />
      </td>
      <td class="num tb">{step.b == null ? "–" : duration(step.b.worked_ms)}</td>
    </tr>
  );
}

const LOOKS: Record<StepOutcome["state"], [string, IconName]> = {
  waiting: ["waiting", "clock"],
  running: ["running", "play"],
  "waiting-for-person": ["you", "hand"],
  succeeded: ["ok", "tick"],
  failed: ["failed", "cross"],
  canceled: ["canceled", "slashed"],
};

function Outcome({ of }: { of: StepOutcome | null }) {
  if (of === null) return <span class="muted">Not run.</span>;
  const [look, icon] = of.answer == null ? LOOKS[of.state] : (["ok", "tick"] as const);
  const tries = of.attempts > 1 ? ` ${of.attempts} attempts.` : "";
  return (
    <span class="o">
      <span class={`sti ${look}`}>
        <Icon name={icon} />
        <span class="vh">{of.answer == null ? of.state : "answered"}</span>
      </span>
      <span>
        {of.answer != null && <span class="tf">{String(of.answer)}</span>}
        <Inline text={(of.conclusion || of.state) + tries} />
      </span>
    </span>
  );
}

export function Checks({ told }: { told: Comparison }) {
  const count = `${told.checks.length} of ${told.checks_in_all}`;
  return (
    <section class="panel" aria-label="Checks that differ">
      <header>
        <h2>Checks that differ</h2>
        <span class="small faint">{count}</span>
      </header>
      {told.checks.length === 0 ? (
        <p class="pad muted">All checks have the same outcome in both runs.</p>
      ) : (
        <table class="tbl cmpt">
          <Heads first="Check" last="Attempt" />
          <tbody>
            {told.checks.map((check) => (
              <Check key={`${check.name} ${check.field}`} check={check} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Check({ check }: { check: ComparedCheck }) {
  return (
    <tr>
      <td class="n">
        {visible(check.name)}, {visible(check.field.replace(/^criteria\./, ""))}
      </td>
      <td class="oa">
        <Held of={check.a ?? null} />
      </td>
      <td class="num ta">{check.a == null ? "–" : `#${check.a.attempt}`}</td>
      <td class="ob edge">
        <Held of={check.b ?? null} />
      </td>
      <td class="num tb">{check.b == null ? "–" : `#${check.b.attempt}`}</td>
    </tr>
  );
}

function Held({ of }: { of: CheckOutcome | null }) {
  if (of === null) return <span class="muted">Not checked.</span>;
  return (
    <>
      <span class={of.holds ? "st ok" : "st failed"}>
        <Icon name={of.holds ? "tick" : "cross"} />
        {of.unasked ? "could not be checked" : of.holds ? "passed" : "failed"}
      </span>
      <div class="small muted">
        <Inline text={of.reason} />
      </div>
    </>
  );
}
