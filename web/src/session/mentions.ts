/** What is being written at the caret: a command at the very beginning, or a file behind `@`. Pure. */

export type Wanted =
  | { kind: "command"; letters: string }
  /** `from` is the place of the `@`. */
  | { kind: "file"; letters: string; from: number };

const LONGEST = 200;

export function wantedAt(text: string, caret: number): Wanted | null {
  const before = text.slice(0, caret);
  if (/^\/[\w-]*$/.test(before)) return { kind: "command", letters: before.slice(1) };
  const at = before.lastIndexOf("@");
  if (at < 0 || before.length - at > LONGEST) return null;
  const letters = before.slice(at + 1);
  const isOwn = at === 0 || /\s/.test(before.charAt(at - 1));
  return isOwn && !/[\s@]/.test(letters) ? { kind: "file", letters, from: at } : null;
}

/** The text with the file in it, and where the caret goes. */
export function withFile(
  text: string,
  from: number,
  caret: number,
  path: string,
): { text: string; caret: number } {
  const said = `@${path}`;
  const rest = text.slice(caret);
  const gap = /^\s/.test(rest) ? "" : " ";
  return { text: text.slice(0, from) + said + gap + rest, caret: from + said.length + 1 };
}

/** Whether a file that was chosen behind `@` still stands in the text. */
export const mentions = (text: string, path: string): boolean =>
  text.split(/\s+/).includes(`@${path}`);

/** A request that is a command and nothing else: its name, and what stands behind it. */
export function commandIn(text: string): { name: string; rest: string } | null {
  const found = /^\/([a-z][\w-]*)(?:[ \t]+([^\n]*))?\s*$/i.exec(text.trim());
  return found === null ? null : { name: found[1] ?? "", rest: (found[2] ?? "").trim() };
}
