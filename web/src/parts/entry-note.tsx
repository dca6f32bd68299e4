/** What is wrong with the entry, and which one is used meanwhile. */

import type { EntryState } from "../api/types.gen";
import { visible } from "../words";
import { Note } from "./note";

export function EntryNote({ entry }: { entry: EntryState | null }) {
  if (entry?.problem == null) return null;
  return (
    <div class="gap">
      <Note kind="err" title="The entry needs a look.">
        {visible(entry.problem)}
      </Note>
    </div>
  );
}
