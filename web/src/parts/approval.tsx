/** A wish that a person allows or denies, and a limit at which a person says whether it goes on. */

import type { ComponentChildren, RefObject } from "preact";
import { useState } from "preact/hooks";
import type { ApprovalAsked, InboxItem, LimitReached } from "../api/types.gen";
import { visible, visibleLines } from "../words";
import type { Say, Stand } from "./ask";
import { goingOnMeans, ruleInWords } from "./asking";
import { useCardKeys } from "./card-keys";
import { Diff } from "./diff";
import { Fold } from "./fold";

export type Part<Asked> = {
  item: InboxItem;
  asked: Asked;
  stand: Stand;
  say: Say;
  card: RefObject<HTMLElement | null>;
  children?: ComponentChildren;
};

const isOpen = ({ kind }: Stand): boolean => kind === "open" || kind === "wrong";

export function Approval({ item, asked, stand, say, card, children }: Part<ApprovalAsked>) {
  const [why, explain] = useState<string | null>(null);
  const open = isOpen(stand);
  const decide = (choice: ApprovalAsked["choices"][number], words = "") =>
    void say("decision", { choice, words });
  useCardKeys(card, open, (key) => {
    if (key === "a") decide("allow-once");
    else if (key === "d") decide("deny");
    else return false;
    return true;
  });
  return (
    <>
      <About asked={asked} />
      {asked.description !== "" && (
        <p class="muted">
          <span class="faint">Why it asks:</span> {visible(asked.description)}
        </p>
      )}
      {children}
      <div class="acts">
        <button type="button" class="btn you" disabled={!open} onClick={() => decide("allow-once")}>
          Allow once <kbd aria-hidden="true">A</kbd>
        </button>
        {asked.choices.includes("allow-always") && (
          <button type="button" class="btn" disabled={!open} onClick={() => decide("allow-always")}>
            Always allow this
          </button>
        )}
        <button
          type="button"
          class="btn"
          disabled={!open}
          onClick={() => decide("deny", why ?? "")}
        >
          Deny <kbd aria-hidden="true">D</kbd>
        </button>
        <span class="grow" />
        {why === null && (
          <button type="button" class="btn ghost sm" disabled={!open} onClick={() => explain("")}>
            Deny and say why
          </button>
        )}
      </div>
      {why !== null && (
        <form
          class="row wrap"
          onSubmit={(event) => {
            event.preventDefault();
            decide("deny", why);
          }}
        >
          <label class="small" for={`why-${item.id}`}>
            Reason, which the agent reads
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
            Deny with this reason
          </button>
        </form>
      )}
      {asked.rule != null && (
        <p class="hint">
          “Always allow this” writes the rule <code class="mono">{ruleInWords(asked.rule)}</code>.
          You can change it in <a href="/settings.html#rules">Settings, Rules</a>.
        </p>
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

function About({ asked: { subject } }: { asked: ApprovalAsked }) {
  const { command, diff, path, address, arguments: all } = subject;
  const said = diff ?? command ?? address ?? path;
  return (
    <>
      {command != null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
        <pre class="code ask-command" role="group" tabIndex={0} aria-label="Command">
          {visibleLines(command)}
        </pre>
      )}
      {diff != null && diff.trim() !== "" ? (
        <Diff diff={diff} {...(path == null ? {} : { path })} />
      ) : (
        path != null && <pre class="code">{visible(path)}</pre>
      )}
      {address != null && <pre class="code">{visible(address)}</pre>}
      {said == null ? (
        <Fold text={pretty(all)} label="What was asked" />
      ) : (
        <details class="small">
          <summary>All that was said of it</summary>
          <Fold text={pretty(all)} label="All that was said of it" />
        </details>
      )}
    </>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

export function Limit({ asked, stand, say, card, children }: Part<LimitReached>) {
  const open = isOpen(stand);
  const decide = (choice: "allow-once" | "deny") => void say("decision", { choice, words: "" });
  useCardKeys(card, open, (key) => {
    if (key === "a") decide("allow-once");
    else if (key === "d") decide("deny");
    else return false;
    return true;
  });
  return (
    <>
      <p>{goingOnMeans(asked)}</p>
      {children}
      <div class="acts">
        <button type="button" class="btn you" disabled={!open} onClick={() => decide("allow-once")}>
          Go on <kbd aria-hidden="true">A</kbd>
        </button>
        <button type="button" class="btn" disabled={!open} onClick={() => decide("deny")}>
          Stop here <kbd aria-hidden="true">D</kbd>
        </button>
      </div>
    </>
  );
}
