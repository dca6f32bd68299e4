/** A file of the session's folder, as it is now, at a line. */

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { TextFile } from "../api/types.gen";
import { Code } from "../parts/code";
import { CopyButton } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible, visibleWhole } from "../words";
import { within } from "./changes";
import { AttachSelection } from "./selection";

/** A place in a file, from the folder on. */
export type FilePlace = { path: string; line: number | null };

/** The session whose files they are: its id, its folder, and what opens one of them. */
export type Files = { session: string; folder: string; open: (place: FilePlace) => void };

export const FilesOf = createContext<Files | null>(null);

/** The address that opens the same in another tab. */
export function addressOf(session: string, { path, line }: FilePlace): string {
  const place = new URLSearchParams({ file: path, ...(line !== null && { line: String(line) }) });
  return `/index.html?session=${encodeURIComponent(session)}#${place}`;
}

export function placeIn(hash: string): FilePlace | null {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const path = said.get("file");
  const line = Number(said.get("line") ?? Number.NaN);
  return path === null || path === "" ? null : { path, line: Number.isInteger(line) ? line : null };
}

/** A path as people say it, from the folder on; one that lies there opens. */
export function Path({ path, line = null }: { path: string; line?: number | null }) {
  const files = useContext(FilesOf);
  const said = files === null ? path : within(path, files.folder);
  const words = said === files?.folder ? "." : said;
  if (files === null || /^(\/|~|\.\.(\/|$))/.test(words) || words === ".") {
    return <code class="path">{visibleWhole(words)}</code>;
  }
  const place = { path: said, line };
  return (
    <a
      class="path"
      href={addressOf(files.session, place)}
      title={visibleWhole(words)}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        files.open(place);
      }}
    >
      {visibleWhole(words)}
    </a>
  );
}

type Read = { kind: "reading" } | { kind: "read"; file: TextFile } | { kind: "not"; why: string };

export function FileView({ session, place }: { session: string; place: FilePlace }) {
  const [read, set] = useState<Read>({ kind: "reading" });
  const [again, ask] = useState(0);
  useEffect(() => {
    let gone = false;
    const path = encodeURIComponent(place.path);
    void get<TextFile>(`/api/v1/sessions/${session}/file?path=${path}`).then((answer) => {
      if (gone) return;
      if (answer.kind === "ok") set({ kind: "read", file: answer.body });
      else set({ kind: "not", why: whyNot(answer) });
    });
    return () => {
      gone = true;
    };
  }, [session, place.path, again]);
  return (
    <div class="file-view">
      <div class="ptools">
        <Icon name="file" size="s" />
        <b class="mono cut" title={visibleWhole(place.path)}>
          {visibleWhole(place.path)}
        </b>
        <span class="grow" />
        <button
          type="button"
          class="btn ghost sm"
          title="Reload the file"
          onClick={() => ask(again + 1)}
        >
          <Icon name="turn" size="s" />
          Reload
        </button>
        {read.kind === "read" && <AttachSelection path={place.path} text={read.file.text} />}
        {read.kind === "read" && <CopyButton text={read.file.text} what="the file" />}
      </div>
      {read.kind === "reading" && (
        <p class="load pad" aria-busy="true">
          <Icon name="clock" /> Loading the file…
        </p>
      )}
      {read.kind === "not" && <Note kind="err" title={visible(read.why)} />}
      {read.kind === "read" && (
        <>
          <Code
            text={read.file.text}
            path={place.path}
            label={`Lines of ${visibleWhole(place.path)}`}
            at={place.line}
          />
          {read.file.cut && <p class="hint pad">Only the first MiB of the file is shown.</p>}
        </>
      )}
    </div>
  );
}

/** Where nothing stands beside the conversation. */
export function FileDialog({ session, place, onClose }: FileDialogProps) {
  return (
    <Dialog title="File" wide onClose={onClose}>
      <FileView session={session} place={place} />
      <button type="button" class="btn" data-first onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}

type FileDialogProps = { session: string; place: FilePlace; onClose: () => void };
