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
      <Note kind="err" title="The job did not start.">
        {visible(whyNot(begun.answer))}
      </Note>
    );
  }
  return (
    <p class="small muted" role="status">
      It has started: <a href={begun.address}>open its run</a>.
    </p>
  );
}

function moveTo(folder: string): void {
  location.search = String(new URLSearchParams({ wb: folder }));
}
