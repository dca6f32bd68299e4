/** Which lines of a file are marked. Pure, but for what it reads of the page. */

export type Lines = { firstLine: number; lastLine: number };
/** As the API takes it: whole lines, from 1 on. */
export type Marked = Lines & { path: string; text: string };

/** The text of these lines, without what the page makes of it. */
export const linesBetween = (text: string, { firstLine, lastLine }: Lines): string =>
  text
    .split("\n")
    .slice(firstLine - 1, lastLine)
    .join("\n");

/** Null where nothing of a file is marked. */
export function rangeOf(selection: Selection | null): Lines | null {
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const ends = [lineAt(range.startContainer), lineAt(range.endContainer)];
  const [first, last] = [ends[0] ?? ends[1], ends[1] ?? ends[0]];
  if (first == null || last == null) return null;
  return { firstLine: Math.min(first, last), lastLine: Math.max(first, last) };
}

function lineAt(node: Node): number | null {
  const element = node instanceof Element ? node : node.parentElement;
  const number = Number(element?.closest(".codelines > li")?.querySelector("i")?.textContent);
  return Number.isInteger(number) && number > 0 ? number : null;
}
