/** The files that a run changed, in one list; each opens to its diff. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ChangedFile, ChangedFiles, FileChange } from "../api/types.gen";
import { Diff } from "../parts/diff";
import { FileRowButton } from "../parts/file-row";
import { visible, visibleWhole } from "../words";
import { type FileRow, fileRowsOf } from "./file-rows";
import type { Diffs } from "./use-report";

const LETTERS = { created: "A", edited: "M", deleted: "D" } as const;
const MANY = 200;

type Props = { changes: ChangedFiles; diffs: Diffs; open: number };

export function Files({ changes, diffs, open }: Props) {
  const most = useSignal(MANY);
  const { files, note } = changes;
  const rows = useMemo(() => fileRowsOf(files), [files]);
  return (
    <>
      {note !== "" && <p class="small muted file-note">{visible(note)}</p>}
      {files.length > 0 && (
        <div class="filelist">
          {rows
            .slice(0, most.value)
            .map((row, at) =>
              row.kind === "file" ? (
                <File key={row.file.path} {...row} diffs={diffs} opens={at < open} />
              ) : (
                <Alike key={row.pattern} row={row} diffs={diffs} />
              ),
            )}
        </div>
      )}
      {rows.length > most.value && (
        <button
          type="button"
          class="btn ghost sm"
          onClick={() => {
            most.value += MANY;
          }}
        >
          Show {Math.min(MANY, rows.length - most.value)} more of {rows.length}
        </button>
      )}
    </>
  );
}

type AlikeProps = { row: Extract<FileRow, { kind: "files" }>; diffs: Diffs };

/** Files of one pattern: opened, they are rows of their own. */
function Alike({ row, diffs }: AlikeProps) {
  const open = useSignal(false);
  const pattern = visibleWhole(row.pattern);
  return (
    <>
      <FileRowButton open={open}>
        <span class="k" title={row.how}>
          {LETTERS[row.how]}
        </span>
        <span class="cut" title={pattern}>
          <span class="mono">{pattern}</span>, {row.files.length} files
        </span>
        <span class="by cut">{visible(row.by)}</span>
        <span class="pm">
          <span class="plus">+{row.added}</span> <span class="minus">−{row.removed}</span>
        </span>
      </FileRowButton>
      {open.value && (
        <div class="alike">
          {row.files.map((one) => (
            <File key={one.file.path} {...one} diffs={diffs} opens={false} />
          ))}
        </div>
      )}
    </>
  );
}

type FileProps = { file: ChangedFile; place: number; diffs: Diffs; opens: boolean };

function File({ file, place, diffs, opens }: FileProps) {
  const open = useSignal(opens);
  const change = useSignal<FileChange | null | undefined>(undefined);
  useEffect(() => {
    if (!open.value) return undefined;
    let left = false;
    void diffs.at(place).then((found) => {
      if (!left) change.value = found;
    });
    return () => {
      left = true;
    };
  }, [open.value, diffs, place]);
  const path = visibleWhole(file.path);
  return (
    <>
      <FileRowButton open={open}>
        <span class="k" title={file.how}>
          {LETTERS[file.how]}
        </span>
        <span class="mono cut" title={path}>
          {path}
        </span>
        <span class="by cut">{file.tasks.map(visible).join(", ")}</span>
        <span class="pm">
          {file.is_text ? (
            <>
              <span class="plus">+{file.added}</span> <span class="minus">−{file.removed}</span>
            </>
          ) : (
            <span class="faint">binary</span>
          )}
        </span>
      </FileRowButton>
      {open.value && <Shown file={file} change={change.value} />}
    </>
  );
}

function Shown({ file, change }: { file: ChangedFile; change: FileChange | null | undefined }) {
  if (change === undefined) {
    return (
      <p class="pad small load" aria-busy="true">
        Loading the diff…
      </p>
    );
  }
  if (change === null || change.diff === "") {
    const why = file.is_text ? "The change cannot be shown." : "This file is binary.";
    return <p class="pad small muted">{why}</p>;
  }
  return (
    <>
      <Diff diff={change.diff} path={file.path} />
      {change.cut && <p class="pad small muted">The rest of this diff is not shown.</p>}
    </>
  );
}
