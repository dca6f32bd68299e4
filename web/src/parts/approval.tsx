/** A request that a person allows or denies. */

import type { ButtonHTMLAttributes, ComponentChildren, RefObject } from "preact";
import { useState } from "preact/hooks";
import { barred, mayNot, type Role } from "../api/role";
import type { ApprovalAsked, InboxItem } from "../api/types.gen";
import { visible, visibleWhole } from "../words";
import { Always, optionsOf } from "./always";
import type { Say, Stand } from "./ask";
import { calm } from "./calm";
import { useCardKeys } from "./card-keys";
import { Diff, MOST } from "./diff";
import { Icon } from "./icon";
import { RiskLine } from "./risk";
import { Whole } from "./whole";
import { wasCut } from "./whole-text";

export type Part<Asked> = {
  item: InboxItem;
  asked: Asked;
  stand: Stand;
  say: Say;
  card: RefObject<HTMLElement | null>;
  children?: ComponentChildren;
};

/** A button that decides at one press, for whoever may. */
export function Decide({ needs = "decide", ...props }: ButtonHTMLAttributes & { needs?: Role }) {
  const soon = calm.value ? undefined : true;
  return <button type="button" class="btn" {...props} aria-disabled={soon} {...barred(needs)} />;
}

export const isOpen = ({ kind }: Stand): boolean =>
  (kind === "open" || kind === "wrong") && mayNot("decide") === null;

export function Approval({ item, asked, stand, say, card, children }: Part<ApprovalAsked>) {
  const [why, explain] = useState<string | null>(null);
  /** Which of the ways to allow it always is chosen; null while nobody looks at them. */
  const [always, choose] = useState<number | null>(null);
  const open = isOpen(stand);
  const mayAlways = asked.choices.includes("allow-always");
  const options = mayAlways ? optionsOf(asked) : [];
  const decide = (choice: ApprovalAsked["choices"][number], words = "") =>
    void say("decision", { choice, words });
  const allowAlways = () => {
    const id = options[always ?? 0]?.id;
    void say("decision", { choice: "allow-always", ...(id ? { option: id } : {}) });
  };
  const isOwner = mayNot("own") === null;
  useCardKeys(card, open, (key) => {
    const place = Number(key) - 1;
    if (key === "a") decide("allow-once");
    else if (key === "d") decide("deny");
    else if (key === "w" && options.length > 0 && isOwner) choose(always === null ? 0 : null);
    else if (always !== null && place >= 0 && place < options.length) choose(place);
    else if (always !== null && key === "enter") allowAlways();
    else return false;
    return true;
  });
  return (
    <>
      <RiskLine severity={asked.severity} risk={asked.risk} />
      <About asked={asked} />
      {asked.description !== "" && (
        <p class="muted">
          <span class="faint">Reason:</span> {visible(asked.description)}
        </p>
      )}
      {children}
      <div class="acts">
        <Decide class="btn you" disabled={!open} onClick={() => decide("allow-once")}>
          Allow once <kbd aria-hidden="true">A</kbd>
        </Decide>
        {options.length > 0 && (
          <button
            type="button"
            class="btn"
            aria-expanded={always !== null}
            disabled={!open}
            {...barred("own")}
            onClick={() => choose(always === null ? 0 : null)}
          >
            Always allow <Icon name="down" size="s" />
          </button>
        )}
        <Decide disabled={!open} onClick={() => decide("deny", why ?? "")}>
          Deny <kbd aria-hidden="true">D</kbd>
        </Decide>
        <span class="grow" />
        {why === null && (
          <button type="button" class="btn ghost sm" disabled={!open} onClick={() => explain("")}>
            Deny and say why
          </button>
        )}
      </div>
      {always !== null && options.length > 0 && (
        <Always
          options={options}
          chosen={always}
          name={`always-${item.id}`}
          disabled={!open}
          onChoose={choose}
          onAllow={allowAlways}
          onCancel={() => choose(null)}
        />
      )}
      {why !== null && (
        <form
          class="row wrap"
          onSubmit={(event) => {
            event.preventDefault();
            decide("deny", why);
          }}
        >
          <label class="small" for={`why-${item.id}`}>
            Reason (the agent sees it)
          </label>
          <input
            id={`why-${item.id}`}
            class="input grow"
            value={why}
            maxLength={2_000}
            disabled={!open}
            placeholder="For example: use make build instead"
            ref={focused}
            onInput={(event) => explain(event.currentTarget.value)}
          />
          <button type="submit" class="btn" disabled={!open || why.trim() === ""}>
            Deny with reason
          </button>
        </form>
      )}
    </>
  );
}

/** A field that somebody asked for is where they want to write. */
const focused = (field: HTMLInputElement | null) => {
  if (field !== null && field.dataset.seen === undefined) {
    field.dataset.seen = "";
    field.focus();
  }
};

/** What is to be done, whole. */
export function About({ asked: { subject } }: { asked: ApprovalAsked }) {
  const { command, diff, path, address, arguments: all } = subject;
  const said = diff ?? command ?? address ?? path;
  const [open, unfold] = useState(false);
  return (
    <>
      {wasCut([command, diff, address, path, all]) && (
        <p class="trouble">
          An earlier version of Airboss stored only the first 64,000 characters of this request. The
          rest is not shown. Deny it unless you know what the rest says.
        </p>
      )}
      {command != null && <Whole text={command} kind="command" label="Command" />}
      {path != null && <pre class="code">{visibleWhole(path)}</pre>}
      {diff != null && diff.trim() !== "" && <Change diff={diff} path={path ?? ""} />}
      {address != null && <pre class="code">{visibleWhole(address)}</pre>}
      {said == null ? (
        <Whole text={pretty(all)} kind="text" label="Request" />
      ) : (
        <details class="small" onToggle={(event) => unfold(event.currentTarget.open)}>
          <summary>Full request</summary>
          {open && <Whole text={pretty(all)} kind="text" label="Full request" />}
        </details>
      )}
    </>
  );
}

const MOST_DRAWN = 32_000;
const LONGEST_DRAWN = 2_000;

/** Whether a diff is drawn line by line, with nothing folded. */
const isDrawn = (diff: string): boolean => {
  if (diff.trim() === "" || diff.length > MOST_DRAWN) return false;
  const lines = diff.split("\n");
  return lines.length <= MOST && lines.every((line) => line.length <= LONGEST_DRAWN);
};

function Change({ diff, path }: { diff: string; path: string }) {
  if (isDrawn(diff)) return <Diff diff={diff} path={path} />;
  return <Whole text={diff} kind="diff" label="Change" />;
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
