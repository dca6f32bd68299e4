/** What came of a start. */

import { whyNot } from "../api/client";
import { FolderTrouble, isAboutFolder } from "../parts/folder-trouble";
import { Note } from "../parts/note";
import { visible } from "../words";
import type { Begun } from "./begin";

export function Outcome({ begun }: { begun: Begun }) {
  if (begun.kind === "not") {
    if (isAboutFolder(begun.answer)) {
      return <FolderTrouble trouble={begun.answer} onTake={moveTo} />;
    }
    return (
      <Note kind="err" title="Could not start the job.">
        {visible(whyNot(begun.answer))}
      </Note>
    );
  }
  return (
    <p class="small muted" role="status">
      The job has started. <a href={begun.address}>Open the run</a>
    </p>
  );
}

function moveTo(folder: string): void {
  location.search = String(new URLSearchParams({ wb: folder }));
}
