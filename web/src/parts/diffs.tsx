/** The changes of several files: what they come to, each file by itself, and all of them to copy. */

import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { remember, remembered } from "../storage";
import { visible } from "../words";
import { CopyButton } from "./copy";
import { Diff } from "./diff";
import { Icon } from "./icon";

export type ChangedFile = {
  path: string;
  diff: string;
  added: number;
  removed: number;
  /** `edited` goes without saying. */
  how?: string;
  /** The diff goes on; the counts are of all of it. */
  cut?: boolean;
};

const isWide = matchMedia("(min-width: 721px)");
const wide = signal(isWide.matches);
isWide.addEventListener("change", () => {
  wide.value = isWide.matches;
});

const chosen = signal(remembered("diff") === "split");

/** Whether diffs stand side by side on this device, where there is room for it. */
export const isSplit = (): boolean => chosen.value && wide.value;

function choose(split: boolean): void {
  chosen.value = split;
  remember("diff", split ? "split" : null);
}

/** So many are open before anybody has touched them. */
const OPEN = 20;

type Props = {
  files: readonly ChangedFile[];
  /** There are further files than these. */
  more?: boolean;
};

export function Diffs({ files, more = false }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const sum = (what: "added" | "removed") => files.reduce((all, file) => all + file[what], 0);
  const many = files.length === 1 ? "1 file" : `${files.length}${more ? "+" : ""} files`;
  const goTo = (place: number) => {
    const part = list.current?.querySelectorAll("details")[place];
    if (part === undefined) return;
    part.open = true;
    part.scrollIntoView({ block: "nearest" });
    part.querySelector("summary")?.focus({ preventScroll: true });
  };
  return (
    <div class="diffs" ref={list}>
      <div class="ptools">
        <b class="b">{many}</b>
        <Counts added={sum("added")} removed={sum("removed")} />
        <span class="grow" />
        {wide.value && (
          <span class="seg" role="group" aria-label="Diff layout">
            {[false, true].map((split) => (
              <button
                key={String(split)}
                type="button"
                aria-pressed={chosen.value === split}
                onClick={() => choose(split)}
              >
                {split ? "Split" : "Unified"}
              </button>
            ))}
          </span>
        )}
        {files.length > 0 && (
          <CopyButton text={files.map(({ diff }) => diff).join("")} what="all changes as a patch" />
        )}
      </div>
      {files.length > 1 && (
        <ul class="fl" aria-label="Changed files">
          {files.map((file, place) => (
            <li key={file.path}>
              <button type="button" onClick={() => goTo(place)}>
                <Icon name="file" size="s" />
                <span class="mono cut grow" title={visible(file.path)}>
                  {visible(file.path)}
                </span>
                <Counts added={file.added} removed={file.removed} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {files.map((file, place) => (
        <OneFile key={file.path} file={file} opens={place < OPEN} />
      ))}
    </div>
  );
}

export const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <>
    <span class="small num plus">+{added}</span>
    <span class="small num minus">−{removed}</span>
  </>
);

function OneFile({ file, opens }: { file: ChangedFile; opens: boolean }) {
  const [open, unfold] = useState(opens);
  return (
    <details class="fd" open={open} onToggle={(event) => unfold(event.currentTarget.open)}>
      <summary>
        <Icon name="right" size="s" />
        <span class="mono cut grow" title={visible(file.path)}>
          {visible(file.path)}
        </span>
        {file.how !== undefined && file.how !== "edited" && (
          <span class="small faint">{visible(file.how)}</span>
        )}
        <Counts added={file.added} removed={file.removed} />
      </summary>
      {open && file.diff.trim() !== "" && (
        <Diff diff={file.diff} path={file.path} split={isSplit()} bare />
      )}
      {open && file.cut && (
        <p class="hint">Only the first part of the diff is shown. The counts cover all of it.</p>
      )}
    </details>
  );
}
