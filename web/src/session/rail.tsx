/** Beside the conversation: what was changed, what it took, and what the session is. */

import { useSignal } from "@preact/signals";
import type { FileChange, SessionView } from "../api/types.gen";
import { Dialog } from "../parts/dialog";
import { Diff } from "../parts/diff";
import { Icon } from "../parts/icon";
import { clock, fully, visible } from "../words";
import { type Changes, sum, within } from "./changes";
import { type Brief, UsageFacts } from "./usage";

type Props = { view: SessionView; model: string; changes: Changes; brief: Brief };

/** In the rail where there is room for one, else in a dialog. */
export function About({ view, model, changes, brief }: Props) {
  return (
    <>
      <Changed changes={changes} folder={view.cwd} />
      <UsageFacts brief={brief} />
      <section>
        <h2>Session</h2>
        <dl class="facts">
          <dt>Model</dt>
          <dd>{visible(model)}</dd>
          <dt>Permissions</dt>
          <dd>{view.policy}</dd>
          <dt>Folder</dt>
          <dd class="mono small">{visible(view.cwd)}</dd>
          <dt>Started</dt>
          <dd title={fully(view.created_at)}>{clock(view.created_at)}</dd>
          <dt>By</dt>
          <dd>{visible(view.who)}</dd>
          <dt>Id</dt>
          <dd class="mono small">{view.id}</dd>
        </dl>
      </section>
    </>
  );
}

export const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <>
    <span class="small num plus">+{added}</span>
    <span class="small num minus">−{removed}</span>
  </>
);

function Changed({ changes, folder }: { changes: Changes; folder: string }) {
  const { files } = changes;
  const shown = useSignal<string | null>(null);
  const many = files.length === 1 ? "1 file" : `${files.length}${changes.more ? "+" : ""} files`;
  const file = files.find(({ path }) => path === shown.value);
  return (
    <section>
      <h2>
        Changes <span class="faint small">{many}</span>
        <span class="grow" />
        {files.length > 0 && <Counts added={sum(files, "added")} removed={sum(files, "removed")} />}
      </h2>
      {files.length === 0 && (
        <p class="small muted">Files that the agent changes are listed here with their diffs.</p>
      )}
      <ul class="files">
        {files.map((each) => (
          <li key={each.path}>
            <button
              type="button"
              class="file"
              onClick={() => {
                shown.value = each.path;
              }}
            >
              <Icon name="file" size="s" />
              <span class="mono cut grow" title={visible(each.path)}>
                {visible(within(each.path, folder))}
              </span>
              {each.how !== "edited" && <span class="small faint">{each.how}</span>}
              <Counts added={each.added} removed={each.removed} />
            </button>
          </li>
        ))}
      </ul>
      {file !== undefined && (
        <Shown
          file={file}
          folder={folder}
          onClose={() => {
            shown.value = null;
          }}
        />
      )}
    </section>
  );
}

type ShownProps = { file: FileChange; folder: string; onClose: () => void };

function Shown({ file, folder, onClose }: ShownProps) {
  return (
    <Dialog title={visible(within(file.path, folder))} wide onClose={onClose}>
      <Diff diff={file.diff} path={within(file.path, folder)} />
      {file.cut && <p class="hint">The diff goes on. The counts are of all of it.</p>}
      <div class="row">
        <button type="button" class="btn" data-first onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
