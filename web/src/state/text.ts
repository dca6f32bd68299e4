/** Text as the server counts it: in code points, of which some are two units of a string here. */

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;
const HALF = /[\ud800-\udbff]/;

export function characters(text: string): number {
  if (!HALF.test(text)) return text.length;
  return text.length - (text.match(PAIR)?.length ?? 0);
}

/** The text without its first so many characters. */
export function behind(text: string, count: number): string {
  if (count <= 0) return text;
  if (!HALF.test(text)) return text.slice(count);
  let unit = 0;
  for (let left = count; left > 0 && unit < text.length; left -= 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(unit);
}

// What the server takes for the end of a line and for a space, which is not what `trim` takes.
const LINE_ENDS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029";
const SPACES = `${LINE_ENDS}\t\x1f \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000`;
const TITLE_LENGTH = 80;

/** The first line that says something, as far as it fits. */
export function titleOf(text: string): string {
  let begin = 0;
  while (begin < text.length && SPACES.includes(text.charAt(begin))) begin += 1;
  let end = begin;
  while (end < text.length && !LINE_ENDS.includes(text.charAt(end))) end += 1;
  while (end > begin && SPACES.includes(text.charAt(end - 1))) end -= 1;
  const line = text.slice(begin, end);
  if (characters(line) <= TITLE_LENGTH) return line;
  const first = Array.from(line.slice(0, 2 * TITLE_LENGTH)).slice(0, TITLE_LENGTH - 1);
  return `${first.join("")}…`;
}
