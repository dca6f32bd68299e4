/** The Start page: begin a session, go to the jobs, and see what goes on. */

import { useEffect } from "preact/hooks";
import type { Status } from "../api/types.gen";
import { useList } from "../live/use";
import { EntryNote } from "../parts/entry-note";
import { remember, remembered } from "../storage";
import { StartForm, useFolder } from "./form";
import { Lists } from "./list";
import { useOffers } from "./offers";

export function StartPage() {
  const status = useList<Status>("/api/v1/status").state.value;
  const offers = useOffers();
  const [folder, setFolder] = useFolder();
  const names = new Map((offers.list ?? []).map(({ id, name }) => [id, name]));
  useEffect(() => {
    // Where the page of jobs is opened from elsewhere, it opens in the folder that was last used.
    if (folder !== null && remembered("wb") === null) remember("wb", folder);
  }, [folder]);
  return (
    <div class="start">
      <h1>Start a session</h1>
      <p class="muted">Work with an agent in a folder, or run one of your team’s jobs.</p>
      <EntryNote entry={status?.entry ?? null} />
      <StartForm offers={offers} status={status} folder={folder} onFolder={setFolder} />
      <Lists folder={folder} names={names} />
    </div>
  );
}
