/** The beginning of a long text, and what is left of it. Pure. */

export type Folded = { shown: string; lines: number; characters: number };

/** Cut after so many lines, or after so many characters: a line can be a megabyte long. */
export function folded(text: string, most: number, characters = 20_000): Folded {
  let end = -1;
  for (let line = 0; line < most; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) break;
  }
  const byLines = end === -1 || end === text.length - 1 ? text.length : end;
  const cut = Math.min(byLines, characters);
  if (cut === text.length) return { shown: text, lines: 0, characters: 0 };
  const rest = text.slice(cut);
  return {
    shown: text.slice(0, cut),
    lines: rest.replace(/^\n|\n$/g, "").split("\n").length,
    characters: rest.length,
  };
}
