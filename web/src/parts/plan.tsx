/** A plan that a person approves or rejects. */

import { useState } from "preact/hooks";
import type { PlanAsked } from "../api/types.gen";
import { Decide, isOpen, type Part } from "./approval";
import { useCardKeys } from "./card-keys";
import { Markdown } from "./markdown";

type Wish = "changes" | "rejection";

const WISHES: Record<Wish, { label: string; send: string; choice: "approve" | "reject" }> = {
  changes: { label: "What should be different?", send: "Approve with changes", choice: "approve" },
  rejection: { label: "What is wrong with it?", send: "Reject", choice: "reject" },
};

export function Plan({ asked, item, stand, say, card, children }: Part<PlanAsked>) {
  const [wish, write] = useState<Wish | null>(null);
  const [words, change] = useState("");
  const open = isOpen(stand);
  const decide = (choice: "approve" | "reject", said = "") =>
    void say("decision", { choice, words: said });
  useCardKeys(card, open, (key) => {
    if (key === "a") decide("approve");
    else if (key === "d") write("rejection");
    else return false;
    return true;
  });
  const chosen = wish === null ? null : WISHES[wish];
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <div class="plan-text" tabIndex={0} role="region" aria-label="The plan">
        <Markdown text={asked.plan ?? asked.summary} top={4} />
      </div>
      {asked.plan != null && (
        <details class="small">
          <summary>In short</summary>
          <Markdown text={asked.summary} top={4} />
        </details>
      )}
      <p class="small muted">Until you approve, the agent can read files and change nothing.</p>
      {children}
      {chosen === null ? (
        <div class="acts">
          <Decide class="btn you" disabled={!open} onClick={() => decide("approve")}>
            Approve <kbd aria-hidden="true">A</kbd>
          </Decide>
          <Decide disabled={!open} onClick={() => write("changes")}>
            Approve with changes
          </Decide>
          <Decide disabled={!open} onClick={() => write("rejection")}>
            Reject <kbd aria-hidden="true">D</kbd>
          </Decide>
        </div>
      ) : (
        <form
          class="words"
          onSubmit={(event) => {
            event.preventDefault();
            decide(chosen.choice, words);
          }}
        >
          <label class="small" for={`plan-${item.id}`}>
            {chosen.label}
          </label>
          <textarea
            id={`plan-${item.id}`}
            class="input"
            rows={3}
            maxLength={20_000}
            value={words}
            onInput={(event) => change(event.currentTarget.value)}
            // biome-ignore lint/a11y/noAutofocus: whoever pressed the button wants to write
            autoFocus
          />
          <div class="acts">
            <Decide
              type="submit"
              class="btn you"
              disabled={!open || (wish === "changes" && words.trim() === "")}
            >
              {chosen.send}
            </Decide>
            <button type="button" class="btn" onClick={() => write(null)}>
              Cancel
            </button>
          </div>
        </form>
      )}
    </>
  );
}
