/** What is wrong with the entry, and which one is used meanwhile. */

import type { EntryState } from "../api/types.gen";
import { visible } from "../words";
import { fileName, inAll, Mistakes } from "./mistakes";
import { Note } from "./note";
import { editAddress } from "./pages";

/** `open`: the mistakes are in sight at once. */
type Props = { entry: EntryState | null; open?: boolean };

const used = ({ source }: EntryState) =>
  source === "built-in" ? "the built-in jobs are" : "its last valid version is";

export function EntryNote({ entry, open = false }: Props) {
  if (entry?.problem == null) return null;
  const file = fileName(entry.mistaken_path ?? null);
  if (file === null)
    return (
      <div class="gap">
        <Note kind="stale" title="The entry in use may not be the newest.">
          {visible(entry.problem)}
        </Note>
      </div>
    );
  return (
    <div class="gap">
      <Note
        kind="err"
        title={`${visible(file)} has ${inAll(entry.mistakes)}, so ${used(entry)} in use.`}
      >
        {visible(entry.problem)}
        <p>
          <a href={editAddress(entry.mistaken_path ?? null)}>Open in the editor</a>
        </p>
      </Note>
      <Mistakes open={open} />
    </div>
  );
}
