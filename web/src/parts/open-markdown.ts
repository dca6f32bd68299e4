/** Markdown that is still being written, made whole: what is open is closed, and what may yet become
 *  something else is left out until that is known. Pure. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

export function closedMarkdown(text: string): string {
  const lines = text.split("\n");
  const fence = openFence(lines);
  if (fence !== null) return `${withoutHalfFence(lines, fence).join("\n")}\n${fence}`;
  return closedWords(withoutHalfMark(lines).join("\n"));
}

/** The mark of the fence that is open at the end, if one is. */
function openFence(lines: readonly string[]): string | null {
  let open: string | null = null;
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1];
    if (mark === undefined) continue;
    if (open === null) open = mark;
    else if (mark.startsWith(open) && line.trim() === mark) open = null;
  }
  return open;
}

/** One or two letters of the mark that is to end it are no code. */
function withoutHalfFence(lines: readonly string[], fence: string): readonly string[] {
  const last = lines.at(-1)?.trim() ?? "";
  return last !== "" && fence.startsWith(last) && lines.length > 1 ? lines.slice(0, -1) : lines;
}

/** A last line of marks alone: `-` would make a heading of the line before it, until a word follows. */
function withoutHalfMark(lines: readonly string[]): readonly string[] {
  const last = lines.at(-1) ?? "";
  return /^\s*([-=*+_#>|`~]{1,6}|\d{1,9}[.)]?)\s*$/.test(last) ? lines.slice(0, -1) : lines;
}

/** What stands in the last paragraph: code, strong words, a link that has no end yet. */
function closedWords(text: string): string {
  const from = text.lastIndexOf("\n\n") + 1;
  let end = text.slice(from);
  end = end.replace(/!?\[([^\][\n]*)(?:\](?:\([^()\n]*)?)?$/, "$1");
  const code = end.replace(/``/g, "").split("`").length - 1;
  if (code % 2 === 1) return text.slice(0, from) + closedWith(end, "`");
  for (const mark of ["**", "~~"]) {
    if ((end.split(mark).length - 1) % 2 === 1) end = closedWith(end, mark);
  }
  return text.slice(0, from) + end;
}

/** A mark at the very end has nothing in it yet. */
function closedWith(text: string, mark: string): string {
  const bare = text.trimEnd();
  return bare.endsWith(mark) ? bare.slice(0, -mark.length) : bare + mark;
}
