/** A change of files, line by line. */

import { useMemo, useState } from "preact/hooks";
import { visibleLines, visibleWhole } from "../words";
import { Icon } from "./icon";
import { type DiffFile, type DiffLine, filesOf } from "./unified";

export const MOST = 400;

const LOOKS: Record<DiffLine["kind"], { look: string; sign: string }> = {
  head: { look: "h", sign: " " },
  same: { look: "", sign: " " },
  added: { look: "a", sign: "+" },
  removed: { look: "d", sign: "−" },
};

/** `path` names a diff that does not name its file, or names it in another way. */
export function Diff({ diff, path = "" }: { diff: string; path?: string }) {
  const files = useMemo(() => filesOf(diff), [diff]);
  return (
    <>
      {files.map((file, place) => (
        <File key={`${place} ${file.path}`} file={file} path={nameOf(file, path)} />
      ))}
    </>
  );
}

/** A diff of several files, or of one that moves, names them itself. */
const nameOf = (file: DiffFile, path: string): string =>
  file.path === "" || `/${path}`.endsWith(`/${file.path}`) || file.path.endsWith(`/${path}`)
    ? path
    : file.path;

function File({ file, path }: { file: DiffFile; path: string }) {
  const [most, show] = useState(MOST);
  const left = file.lines.length - most;
  return (
    <div class="diff">
      <div class="fh">
        <Icon name="file" size="s" />
        <span class="cut" title={visibleWhole(path)}>
          {visibleWhole(path)}
        </span>
        <span class="grow" />
        <span class="plus">+{file.added}</span>
        <span class="minus">−{file.removed}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard */}
      <ol tabIndex={0} aria-label={`Lines of the change of ${visibleWhole(path)}`}>
        {file.lines.slice(0, most).map((line, place) => (
          // the lines of a diff never change
          <Line key={place} line={line} />
        ))}
      </ol>
      {left > 0 && (
        <div class="fold-more">
          <span>{left.toLocaleString("en")} lines folded</span>
          <button type="button" class="btn ghost sm" onClick={() => show(most + 10 * MOST)}>
            {left > 10 * MOST ? "Open more" : "Open full"}
          </button>
        </div>
      )}
    </div>
  );
}

function Line({ line }: { line: DiffLine }) {
  const { look, sign } = LOOKS[line.kind];
  return (
    <li class={look}>
      <i>{line.before}</i>
      <i>{line.after}</i>
      <b>{sign}</b>
      <span>{visibleLines(line.text)}</span>
    </li>
  );
}
