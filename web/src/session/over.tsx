/** What stands in place of the request part when nothing can be asked: closed, interrupted, stopped. */

import { useSignal } from "@preact/signals";
import { barred } from "../api/role";
import type { SessionView } from "../api/types.gen";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";
import { close, resume, type Trouble } from "./calls";

export function Closed() {
  return (
    <section class="composer over" aria-label="Message">
      <div class="empty" role="status">
        <Icon name="tick" size="big" />
        <h2>The session is closed</h2>
        <p>You can close this page. The conversation stays in History.</p>
        <div class="row wrap center">
          <a class="btn sm" href="/history.html">
            Open History
          </a>
          <a class="btn sm" href="/index.html">
            Start a new session
          </a>
        </div>
      </div>
    </section>
  );
}

/** `isWriting`: somebody has written a message that was not sent. */
export function Interrupted({ view, isWriting }: { view: SessionView; isWriting: boolean }) {
  const trouble = useSignal<Trouble>(null);
  const busy = useSignal(false);
  async function go(doing: (session: string) => Promise<Trouble>): Promise<void> {
    busy.value = true;
    trouble.value = await doing(view.id);
    busy.value = false;
  }
  const asks = view.items.length > 0;
  return (
    <section class="composer over" aria-label="Message">
      <div class="empty" role="status">
        <Icon name="slashed" size="big" />
        <h2>{asks ? "The session is waiting for you" : "The session was interrupted"}</h2>
        <p>
          {visible(view.error ?? "The agent process ended.")}{" "}
          {asks
            ? "The request above is still open. When you decide it, the agent continues. If you resume first, the request stays open."
            : "Resume to continue where it stopped, with the full conversation."}
          {isWriting && " Your unsent message is kept."}
        </p>
        {trouble.value !== null && <Note kind="err" title={visible(trouble.value)} />}
        <button
          type="button"
          class="btn primary"
          disabled={busy.value}
          {...barred("operate")}
          onClick={() => void go(resume)}
        >
          {busy.value ? "Resuming…" : "Resume"}
        </button>
      </div>
      <div class="line low">
        <span class="row lo-left">
          <button
            type="button"
            class="btn"
            disabled={busy.value}
            {...barred("operate")}
            onClick={() => void go(close)}
          >
            Close Session
          </button>
        </span>
      </div>
    </section>
  );
}
