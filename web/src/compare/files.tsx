/** The files that are not the same behind both runs, A beside B or one below the other. */

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { ComparedFile, Comparison, LineCounts } from "../api/types.gen";
import { Diff } from "../parts/diff";
import { FileRowButton } from "../parts/file-row";
import { visibleLines, visibleWhole } from "../words";
import { Letter } from "./page";
import { type Pair, pairsOf } from "./split";

type Layout = "unified" | "split";
const MOST = 600;

export function ComparedFiles({ told }: { told: Comparison }) {
  const layout = useSignal<Layout>("split");
  const differ = told.files.length;
  const isAny = differ + told.files_alike > 0;
  return (
    <section class="panel" aria-label="Differences in the results">
      <header>
        <h2>Differences in the results</h2>
        {isAny && (
          <span class="small faint">
            {differ === 1 ? "1 file differs" : `${differ} files differ`},{" "}
            {told.files_alike === 1 ? "1 is the same" : `${told.files_alike} are the same`}
          </span>
        )}
        <span class="grow" />
        <fieldset class="seg desk">
          <legend class="vh">Layout</legend>
          {(["unified", "split"] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={layout.value === one}
              onClick={() => {
                layout.value = one;
              }}
            >
              {one === "unified" ? "Unified" : "Split"}
            </button>
          ))}
        </fieldset>
      </header>
      {differ === 0 ? (
        <p class="pad muted">
          {isAny
            ? "Both runs left all changed files in the same state."
            : "Neither run changed a file."}
        </p>
      ) : (
        <div class="filelist">
          {told.files.map((file, place) => (
            <File key={file.path} file={file} opens={place === 0} layout={layout.value} />
          ))}
        </div>
      )}
    </section>
  );
}

type FileProps = { file: ComparedFile; opens: boolean; layout: Layout };

function File({ file, opens, layout }: FileProps) {
  const open = useSignal(opens);
  const path = visibleWhole(file.path);
  return (
    <>
      <FileRowButton open={open}>
        <span class="mono cut" title={path}>
          {path}
        </span>
        <Counts of={file.a ?? null} letter="A" />
        <Counts of={file.b ?? null} letter="B" />
      </FileRowButton>
      {open.value && <Shown file={file} layout={layout} />}
    </>
  );
}

function Counts({ of, letter }: { of: LineCounts | null; letter: "A" | "B" }) {
  return (
    <span class="pm">
      <Letter of={letter} />{" "}
      {of === null ? (
        <span class="faint">unchanged</span>
      ) : (
        <>
          <span class="plus">+{of.added}</span> <span class="minus">−{of.removed}</span>
        </>
      )}
    </span>
  );
}

function Shown({ file, layout }: { file: ComparedFile; layout: Layout }) {
  const pairs = useMemo(() => pairsOf(file.diff), [file.diff]);
  if (file.diff === "") {
    return (
      <p class="pad small muted">
        No comparison is available for this file. See its diff on the page of each run.
      </p>
    );
  }
  if (layout === "unified") return <Diff diff={file.diff} path={file.path} />;
  return (
    <>
      <div class="splitd">
        <Column letter="A" pairs={pairs} />
        <Column letter="B" pairs={pairs} />
      </div>
      {(file.cut || pairs.length > MOST) && (
        <p class="pad small muted">The rest of this diff is not shown.</p>
      )}
    </>
  );
}

function Column({ letter, pairs }: { letter: "A" | "B"; pairs: readonly Pair[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
    <div tabIndex={0} role="group" aria-label={`After run ${letter}`}>
      <div class="h">
        <Letter of={letter} />
        <span class="small muted">after run {letter}</span>
      </div>
      <ol>
        {pairs.slice(0, MOST).map((pair, at) => {
          const side = letter === "A" ? pair.a : pair.b;
          const own = side.look === "own";
          const look = own ? letter.toLowerCase() : side.look;
          return (
            // the lines of a diff never change
            <li key={at} class={`l-${look}`}>
              <i>{side.number}</i>
              <b>{own ? letter : ""}</b>
              <span>{visibleLines(side.text)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
