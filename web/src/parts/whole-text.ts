/** A text that somebody decides about: its end beside its beginning, its parts marked, found in. Pure. */

export type Kind = "command" | "diff" | "text";
export type Look = "" | "sep" | "add" | "del" | "hunk";
export type Piece = { text: string; look: Look };

/** What fits on the card without scrolling. */
const SHORT = 2_000;
const FEW_LINES = 16;
const BEGINNING = 1_024;
export const END = 2_048;

/** What begins another command; in quotes it is marked as well. */
const SEPARATOR = /(\|\||&&|[;|&\n`]|[$<>]\()/g;

export type Shown = { head: string; gap: string; tail: string };

/** Null where all of it fits. `gap` is what is folded, and may be empty. */
export function folded(text: string): Shown | null {
  if (text.length <= SHORT && linesOf(text) <= FEW_LINES) return null;
  const head = cutAt(text, Math.min(BEGINNING, afterLines(text, FEW_LINES / 2)));
  const tail = cutAt(text, Math.max(head, text.length - END));
  return { head: text.slice(0, head), gap: text.slice(head, tail), tail: text.slice(tail) };
}

/** What is folded, in words: one sees whether there is more in it than one long word. */
export function gapInWords(gap: string, kind: Kind): string {
  const characters = `${gap.length.toLocaleString("en")} characters are hidden`;
  const count = kind === "command" ? (gap.match(SEPARATOR) ?? []).length : linesOf(gap) - 1;
  const one = kind === "command" ? "separator" : "line break";
  const what = count === 1 ? one : `${one}s`;
  return `${characters}, with ${count === 0 ? "no" : count.toLocaleString("en")} ${what}`;
}

const linesOf = (text: string): number => text.split("\n").length;

function afterLines(text: string, most: number): number {
  let end = -1;
  for (let line = 0; line < most; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text.length;
  }
  return end + 1;
}

/** No character is cut in two. */
function cutAt(text: string, place: number): number {
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff ? place - 1 : place;
}

const CHUNK = 8_192;

/** Where the parts of it begin that are drawn one by one, and where the last one ends. */
export function chunksOf(text: string): number[] {
  const places = [0];
  let from = 0;
  while (text.length - from > CHUNK) {
    const line = text.lastIndexOf("\n", from + CHUNK - 1);
    from = line > from ? line + 1 : cutAt(text, from + CHUNK);
    places.push(from);
  }
  places.push(text.length);
  return places;
}

export function piecesOf(text: string, kind: Kind): Piece[] {
  if (kind === "command") {
    return text
      .split(SEPARATOR)
      .map((piece, place) => ({ text: piece, look: place % 2 === 1 ? "sep" : "" }) as const)
      .filter((piece) => piece.text !== "");
  }
  if (kind === "text") return [{ text, look: "" }];
  return text.split(/(?<=\n)/).map((line) => ({ text: line, look: LOOKS[line.charAt(0)] ?? "" }));
}

const LOOKS: Record<string, Look> = { "+": "add", "-": "del", "@": "hunk" };

const MOST_FOUND = 10_000;

/** Where it stands, big or small letters. */
export function placesOf(text: string, wanted: string): number[] {
  if (wanted === "") return [];
  const places: number[] = [];
  const escaped = wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  for (const found of text.matchAll(new RegExp(escaped, "gi"))) {
    places.push(found.index);
    if (places.length === MOST_FOUND) break;
  }
  return places;
}

/** An earlier version cut each part here, without a mark. */
export const wasCut = (parts: readonly (string | null | undefined)[]): boolean =>
  parts.some((part) => part?.length === 64_000);
