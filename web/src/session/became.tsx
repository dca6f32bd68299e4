/** What became of a request, where that is more than yes. */

import { Note } from "../parts/note";
import { visible } from "../words";
import type { Trouble } from "./calls";
import type { Outbox } from "./outbox";

export function Became({ outbox, trouble }: { outbox: Outbox; trouble: Trouble }) {
  const phase = outbox.phase.value;
  if (phase.kind === "unsure") {
    return (
      <Note kind="stale" title="The server did not respond.">
        We’ll check whether your message arrived once the server is back. Your text is saved.
      </Note>
    );
  }
  const why = phase.kind === "refused" ? phase.why : trouble;
  return why === null ? null : <Note kind="err" title={visible(why)} />;
}
