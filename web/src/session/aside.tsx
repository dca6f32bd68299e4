/** A question beside the work: answered from the conversation so far, while the agent goes on. */

import { useSignal } from "@preact/signals";
import { post, whyNot } from "../api/client";
import type { Aside } from "../api/types.gen";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Markdown } from "../parts/markdown";
import { Note } from "../parts/note";
import { visible } from "../words";

type Props = { session: string; onClose: () => void };

/** The server takes up to a minute. */
const PATIENCE_MS = 70_000;

export function AskAside({ session, onClose }: Props) {
  const question = useSignal("");
  const said = useSignal<{ question: string; answer: string } | null>(null);
  const why = useSignal<string | null>(null);
  const asking = useSignal(false);

  async function ask(): Promise<void> {
    const words = question.value.trim();
    if (words === "" || asking.value) return;
    asking.value = true;
    why.value = null;
    const path = `/api/v1/sessions/${session}/asides`;
    const answer = await post<Aside>(path, { question: words }, {}, PATIENCE_MS);
    asking.value = false;
    if (answer.kind === "ok") {
      said.value = { question: words, answer: answer.body.answer };
      question.value = "";
    } else why.value = whyNot(answer);
  }

  return (
    <Dialog title="Ask a side question" onClose={onClose}>
      <p class="muted">
        The answer comes from the conversation so far, without tools. The agent keeps working and
        does not see your question.
      </p>
      {said.value !== null && (
        <div class="aside-said" role="status">
          <p class="b">{visible(said.value.question)}</p>
          <Markdown text={said.value.answer} />
        </div>
      )}
      {why.value !== null && <Note kind="err" title={visible(why.value)} />}
      <textarea
        class="area"
        rows={3}
        aria-label="Your question"
        data-first
        value={question}
        onInput={(event) => {
          question.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void ask();
        }}
      />
      <div class="row wrap">
        <button
          type="button"
          class="btn primary"
          disabled={asking.value}
          onClick={() => void ask()}
        >
          Ask
        </button>
        <button type="button" class="btn" onClick={onClose}>
          Close
        </button>
        {asking.value && (
          <span class="awaits" role="status">
            <Icon name="play" size="s" />
            Answering. This takes up to a minute…
          </span>
        )}
      </div>
    </Dialog>
  );
}
