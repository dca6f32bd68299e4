/** Code in its colours: what the highlighter says of it, as runs of text for each line. Pure. */

/** `look` is the highlighter's class; empty for plain text. */
export type Run = { text: string; look: string };

const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ py: "python", pyi: "python", ts: "typescript", tsx: "typescript", mts: "typescript" },
  ...{ js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript" },
  ...{ sh: "bash", bash: "bash", zsh: "bash", c: "c", h: "c", cc: "cpp", cpp: "cpp", hpp: "cpp" },
  ...{ cs: "csharp", css: "css", scss: "css", go: "go", java: "java", json: "json", rs: "rust" },
  ...{ sql: "sql", html: "xml", xml: "xml", svg: "xml", vue: "xml", yaml: "yaml", yml: "yaml" },
  ...{ toml: "ini", ini: "ini", cfg: "ini", conf: "ini", dockerfile: "dockerfile" },
  ...{ patch: "diff", diff: "diff" },
};

/** By the end of the file's name; null where its language is not known. */
export function languageOf(path: string): string | null {
  const name = path.toLowerCase().split("/").at(-1) ?? "";
  const end = name === "dockerfile" ? name : /\.(\w+)$/.exec(name)?.[1];
  return LANGUAGES[end ?? ""] ?? null;
}

const PARTS = /<span class="([\w -]+)">|<\/span>|\n|[^<\n]+/g;
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" },
};

/** The highlighter's HTML, taken apart: it is never shown as HTML. */
export function linesOf(html: string): Run[][] {
  const lines: Run[][] = [[]];
  const looks: string[] = [];
  for (const [part, look] of html.matchAll(PARTS)) {
    if (part === "\n") lines.push([]);
    else if (part === "</span>") looks.pop();
    else if (look !== undefined) looks.push(look);
    else lines.at(-1)?.push({ text: unescaped(part), look: looks.at(-1) ?? "" });
  }
  return lines;
}

const unescaped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
