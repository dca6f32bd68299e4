/** A change of files, line by line: unified or side by side, in the code's colours, with the changed
 *  words darker. The one diff of all pages. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { visibleLines, visibleWhole } from "../words";
import { changedWords, pairsOf, type Range } from "./changed-words";
import { languageOf, linesOf, type Run } from "./coloured";
import { Icon } from "./icon";
import { colouredIn } from "./scribe";
import { type DiffFile, type DiffLine, filesOf } from "./unified";

export const MOST = 400;

const LOOKS: Record<DiffLine["kind"], { look: string; sign: string }> = {
  head: { look: "h", sign: " " },
  same: { look: "", sign: " " },
  added: { look: "a", sign: "+" },
  removed: { look: "d", sign: "−" },
};

type Props = {
  diff: string;
  /** Names a diff that does not name its file, or names it in another way. */
  path?: string;
  /** Old and new side by side. */
  split?: boolean;
  /** The lines alone, where the file's name and counts stand above already. */
  bare?: boolean;
};

export function Diff({ diff, path = "", split = false, bare = false }: Props) {
  const files = useMemo(() => filesOf(diff), [diff]);
  return (
    <>
      {files.map((file, place) => {
        const name = nameOf(file, path);
        return (
          <div key={`${place} ${file.path}`} class={bare ? "diff bare" : "diff"}>
            {!bare && <FileHead file={file} name={name} />}
            <Lines file={file} name={name} split={split} />
          </div>
        );
      })}
    </>
  );
}

/** A diff of several files, or of one that moves, names them itself. */
const nameOf = (file: DiffFile, path: string): string =>
  file.path === "" || `/${path}`.endsWith(`/${file.path}`) || file.path.endsWith(`/${path}`)
    ? path
    : file.path;

const FileHead = ({ file, name }: { file: DiffFile; name: string }) => (
  <div class="fh">
    <Icon name="file" size="s" />
    <span class="cut" title={visibleWhole(name)}>
      {visibleWhole(name)}
    </span>
    <span class="grow" />
    <span class="plus">+{file.added}</span>
    <span class="minus">−{file.removed}</span>
  </div>
);

function Lines({ file, name, split }: { file: DiffFile; name: string; split: boolean }) {
  const [most, show] = useState(MOST);
  const lines = useMemo(() => file.lines.slice(0, most), [file, most]);
  const words = useMemo(() => changedWords(lines), [lines]);
  const colours = useColours(lines, name);
  const left = file.lines.length - most;
  const draw = (place: number) => (
    <Text line={lines[place]} runs={colours?.get(place)} changed={words.get(place)} />
  );
  return (
    <>
      <ol
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
        tabIndex={0}
        class={split ? "split-lines" : undefined}
        aria-label={`Diff of ${visibleWhole(name)}`}
      >
        {split
          ? rowsOf(lines).map(([old, now]) => (
              <Both key={`${old} ${now}`} lines={lines} old={old} now={now} draw={draw} />
            ))
          : lines.map((line, place) => (
              // the lines of a diff never change
              <li key={place} class={LOOKS[line.kind].look}>
                <i class="old">{line.before}</i>
                <i>{line.after ?? ""}</i>
                <b>{LOOKS[line.kind].sign}</b>
                {draw(place)}
              </li>
            ))}
      </ol>
      {left > 0 && (
        <div class="fold-more">
          <span>{left.toLocaleString("en")} lines hidden</span>
          <button type="button" class="btn ghost sm" onClick={() => show(most + 10 * MOST)}>
            {left > 10 * MOST ? "Show more" : "Show all"}
          </button>
        </div>
      )}
    </>
  );
}

type BothProps = {
  lines: readonly DiffLine[];
  old: number | null;
  now: number | null;
  draw: (place: number) => preact.JSX.Element;
};

/** One row of a diff side by side. What stands for nothing on the other side leaves it empty. */
function Both({ lines, old, now, draw }: BothProps) {
  const isHead = old !== null && lines[old]?.kind === "head";
  if (isHead) {
    return (
      <li class="h whole">
        <b> </b>
        {draw(old)}
      </li>
    );
  }
  return (
    <li>
      <Half line={old === null ? undefined : lines[old]} side="before">
        {old !== null && draw(old)}
      </Half>
      <Half line={now === null ? undefined : lines[now]} side="after">
        {now !== null && draw(now)}
      </Half>
    </li>
  );
}

type HalfProps = {
  line: DiffLine | undefined;
  side: "before" | "after";
  children: preact.ComponentChildren;
};

function Half({ line, side, children }: HalfProps) {
  if (line === undefined) return <span class="half none" />;
  const { look, sign } = LOOKS[line.kind];
  return (
    <span class={`half ${look}`}>
      <i>{line[side]}</i>
      <b>{sign}</b>
      {children}
    </span>
  );
}

/** The places of the lines that stand side by side. */
function rowsOf(lines: readonly DiffLine[]): [number | null, number | null][] {
  const partner = new Map(pairsOf(lines));
  const taken = new Set(partner.values());
  const rows: [number | null, number | null][] = [];
  for (const [place, { kind }] of lines.entries()) {
    if (kind === "removed") rows.push([place, partner.get(place) ?? null]);
    else if (kind === "added") {
      if (!taken.has(place)) rows.push([null, place]);
    } else rows.push([place, kind === "head" ? null : place]);
  }
  return rows;
}

type TextProps = {
  line: DiffLine | undefined;
  runs: readonly Run[] | undefined;
  changed: Range | undefined;
};

function Text({ line, runs, changed }: TextProps) {
  const text = line?.text ?? "";
  const all = runs ?? [{ text, look: "" }];
  if (changed === undefined) return <span>{all.map(drawn)}</span>;
  return (
    <span>
      {part(all, 0, changed.from).map(drawn)}
      <mark>{part(all, changed.from, changed.to).map(drawn)}</mark>
      {part(all, changed.to, text.length).map(drawn)}
    </span>
  );
}

const drawn = ({ text, look }: Run, place: number) =>
  look === "" ? (
    visibleLines(text)
  ) : (
    <span key={place} class={look}>
      {visibleLines(text)}
    </span>
  );

/** The runs between two places of their text. */
function part(runs: readonly Run[], from: number, to: number): Run[] {
  const found: Run[] = [];
  let at = 0;
  for (const { text, look } of runs) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece !== "") found.push({ text: piece, look });
    at += text.length;
  }
  return found;
}

/** Of both sides, by the lines' places; null until they are there, and where there are none. */
function useColours(lines: readonly DiffLine[], path: string): ReadonlyMap<number, Run[]> | null {
  const [colours, set] = useState<ReadonlyMap<number, Run[]> | null>(null);
  useEffect(() => {
    let gone = false;
    const language = languageOf(path);
    set(null);
    if (language === null) return;
    const sides = [placesOf(lines, "removed"), placesOf(lines, "added")];
    void Promise.all(
      sides.map((places) => colouredIn(places.map((at) => lines[at]?.text).join("\n"), language)),
    ).then((htmls) => gone || set(colouredLines(lines, sides, htmls)));
    return () => {
      gone = true;
    };
  }, [lines, path]);
  return colours;
}

/** All lines of one side, so that a text over several lines has its colour on each of them. */
const placesOf = (lines: readonly DiffLine[], side: "removed" | "added"): number[] =>
  [...lines.keys()].filter((place) => ["same", side].includes(lines[place]?.kind ?? ""));

function colouredLines(
  lines: readonly DiffLine[],
  sides: readonly number[][],
  htmls: readonly (string | null)[],
): ReadonlyMap<number, Run[]> {
  const found = new Map<number, Run[]>();
  for (const [side, places] of sides.entries()) {
    const html = htmls[side];
    if (html == null) continue;
    const runs = linesOf(html);
    for (const [at, place] of places.entries()) {
      const said = runs[at] ?? [];
      // What does not add up to the line would show something else than what was changed.
      if (said.map(({ text }) => text).join("") === lines[place]?.text) found.set(place, said);
    }
  }
  return found;
}
