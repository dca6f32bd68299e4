/** Whether a text is meant as markdown. Pure, and cheap: only its beginning is looked at. */

const LOOKED_AT = 5_000;

const SIGNS = [
  /^ {0,3}#{1,6} \S/m, // a heading
  /^ {0,3}(```|~~~)/m, // a fence
  /^ {0,3}([-*+]|\d{1,9}[.)]) +\S/m, // a list
  /^ {0,3}> ?\S/m, // a quotation
  /^ {0,3}\|?[^\n|]+\|[^\n]*\n {0,3}\|? *:?-{2,}/m, // a table
  /(?<![\w*])\*\*[^\s*][^*\n]*\*\*/, // strong
  /(?<!`)`[^`\n]+`(?!`)/, // code
  /\[[^\]\n]+\]\([^)\s]+\)/, // a link
];

export function looksLikeMarkdown(text: string): boolean {
  const beginning = text.slice(0, LOOKED_AT);
  return SIGNS.some((sign) => sign.test(beginning));
}
