/** Markdown to HTML, as a string that nobody shows: `door` takes it from here. Pure. */

import { Marked, type Tokens } from "marked";
import { visible, visibleLines, visibleProse } from "../words";

/** The tags that a text may write itself, bare: everything else in angle brackets is shown as it is. */
const BARE =
  /(<\/?(?:b|br|code|del|details|em|i|ins|kbd|mark|s|small|strong|sub|summary|sup|u)\s*\/?>)/i;

const escaped = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`, // numbers are right in texts and in attributes
  );

/** Addresses that a person may follow, as the browser reads them; null for all others. */
export function address(text: string): string | null {
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null; // relative ones too: what a model calls a path is no page of ours
  }
}

const LONGEST_ADDRESS = 200;

const shortened = (text: string): string =>
  text.length > LONGEST_ADDRESS ? `${text.slice(0, LONGEST_ADDRESS)}…` : text;

const anchor = (href: string, inside: string): string => `<a href="${escaped(href)}">${inside}</a>`;

/** HTML of a code in its colours; null for a language that it does not know. */
export type Colours = (code: string, language: string) => string | null;

/** `top` is the level of its highest heading: the page has its own above. */
export function htmlOf(text: string, top: number, colours: Colours = () => null): string {
  const marked = new Marked({
    gfm: true,
    async: false,
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const level = Math.min(6, depth + top - 1);
        return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
      },
      html({ text: written }: Tokens.HTML | Tokens.Tag) {
        return written
          .split(BARE)
          .map((part, place) => (place % 2 === 1 ? part : escaped(part)))
          .join("");
      },
      link({ href, tokens }: Tokens.Link) {
        const inside = this.parser.parseInline(tokens);
        const followed = address(href);
        if (followed !== null) return anchor(followed, inside);
        return `${inside} (${escaped(shortened(visible(href)))})`;
      },
      image({ href, text: instead }: Tokens.Image) {
        const said = escaped(visible(instead) || "Image");
        const followed = address(href);
        const shown = escaped(shortened(visible(href)));
        return followed === null ? `${said} (${shown})` : anchor(followed, `${said} (${shown})`);
      },
      checkbox({ checked }: Tokens.Checkbox) {
        return checked ? "☑ " : "☐ ";
      },
      codespan({ text: code }: Tokens.Codespan) {
        return `<code>${escaped(visible(code))}</code>`;
      },
      code({ text: written, lang }: Tokens.Code) {
        const code = visibleLines(written); // it may be copied and run
        const language = /^[\w+#.-]{1,30}/.exec(lang ?? "")?.[0];
        const named = language === undefined ? "" : ` class="language-${escaped(language)}"`;
        const coloured = language === undefined ? null : colours(code, language);
        return `<pre><code${named}>${coloured ?? escaped(code)}\n</code></pre>`;
      },
    },
  });
  return marked.parse(visibleProse(text), { async: false });
}
