/** Reads an entry's text from its beginning, line by line, as far as it goes. */

import { type Field, type Path, type Place, samePath } from "./fields";

type Frame =
  | { kind: "map"; indent: number; key: string | null }
  | { kind: "list"; indent: number; index: number }
  | { kind: "{"; key: string | null }
  | { kind: "["; index: number };

type Word = { text: string; from: number; to: number; quote: string; isWhole: boolean };

export class Reader {
  readonly fields: Field[] = [];
  here: Place | null = null;
  private at = 0;
  private readonly frames: Frame[] = [];

  constructor(private readonly text: string) {}

  read(): void {
    while (this.at < this.text.length) this.line();
    if (this.text === "" || this.text.endsWith("\n")) {
      if (this.here === null) this.blank(this.text.length, 0);
    }
  }

  nowhere(): Place {
    return this.place("text", "", this.text.length);
  }

  private get path(): Path {
    return this.frames.flatMap((frame): Path => {
      if (frame.kind === "map" || frame.kind === "{") return frame.key === null ? [] : [frame.key];
      return [frame.index];
    });
  }

  private get isFlow(): boolean {
    const { kind } = this.frames.at(-1) ?? { kind: "map" };
    return kind === "{" || kind === "[";
  }

  private place(kind: Place["kind"], word: string, from: number, quote = ""): Place {
    const start = this.text.lastIndexOf("\n", from - 1) + 1;
    const column = from - start;
    return { kind, path: this.path, word, from, isFlow: this.isFlow, quote, column };
  }

  private lineEnd(from: number): number {
    const end = this.text.indexOf("\n", from);
    return end === -1 ? this.text.length : end;
  }

  private indentAt(start: number): number {
    let at = start;
    while (this.text[at] === " ") at += 1;
    return at - start;
  }

  private line(): void {
    const start = this.at;
    const stop = this.lineEnd(start);
    const indent = this.indentAt(start);
    const first = start + indent;
    const rest = this.text.slice(first, stop);
    this.at = stop + 1;
    if (rest.trim() === "") {
      if (stop === this.text.length) this.blank(first, indent);
      return;
    }
    if (rest.startsWith("#") || rest.startsWith("---") || rest.startsWith("%")) {
      if (stop === this.text.length) this.here = this.nowhere();
      return;
    }
    this.leave(indent, isItem(rest));
    let at = first;
    while (isItem(this.text.slice(at, stop))) {
      this.item(at - start);
      at += 1;
      while (this.text[at] === " ") at += 1;
      if (at >= stop) {
        if (stop === this.text.length) this.here = this.place("open", "", at);
        return;
      }
    }
    this.node(at, at - start);
  }

  /** The cursor stands on a line that has nothing on it yet. */
  private blank(at: number, indent: number): void {
    this.leave(indent, false);
    const top = this.frames.at(-1);
    if (top?.kind === "map" && top.indent === indent) top.key = null;
    const path = this.path;
    const told = this.fields.findLast((field) => samePath(field.path, path));
    // Behind a value of its own, what is indented further goes on with it.
    const goesOn = told !== undefined && told.value !== null && path.length > 0;
    this.here = this.place(goesOn ? "text" : "open", "", at);
  }

  private leave(indent: number, isItem: boolean): void {
    for (;;) {
      const top = this.frames.at(-1);
      if (top === undefined || !("indent" in top)) return;
      const ends = top.indent > indent || (top.indent === indent && top.kind === "list" && !isItem);
      if (!ends) return;
      this.frames.pop();
    }
  }

  private item(column: number): void {
    const top = this.frames.at(-1);
    if (top?.kind === "list" && top.indent === column) top.index += 1;
    else this.frames.push({ kind: "list", indent: column, index: 0 });
  }

  /** A key with its value, or a value alone. */
  private node(at: number, column: number): void {
    const char = this.text[at] ?? "";
    if (char === "{" || char === "[") {
      this.flow(at);
      return;
    }
    const key = this.keyAt(at);
    if (key === null) {
      this.value(at, at, at, "open");
      return;
    }
    const top = this.frames.at(-1);
    if (top?.kind === "map" && top.indent === column) top.key = key.text;
    else this.frames.push({ kind: "map", indent: column, key: key.text });
    let behind = this.text.indexOf(":", key.to) + 1;
    while (this.text[behind] === " ") behind += 1;
    this.value(behind, key.from, key.to, "value");
  }

  private keyAt(at: number): Word | null {
    const stop = this.lineEnd(at);
    const char = this.text[at] ?? "";
    if (char === '"' || char === "'") {
      const word = this.quoted(at);
      const isKey = /^\s*:(?=\s|$)/.test(this.text.slice(word.to, stop));
      return word.isWhole && isKey ? word : null;
    }
    const found = /^[^#{}[\],"'|>][^\n]*?(?=\s*:(?:\s|$))/.exec(this.text.slice(at, stop));
    if (found === null || found[0].includes(" #")) return null;
    return { text: found[0], from: at, to: at + found[0].length, quote: "", isWhole: true };
  }

  /** To the end of the line, or further for what is quoted, in brackets or below a bar. */
  private value(at: number, from: number, to: number, kind: "value" | "open"): void {
    const stop = this.lineEnd(at);
    const char = this.text[at] ?? "";
    const ends = (word: Word | null, valueTo: number) => {
      const field = { path: this.path, from, to, value: word?.text ?? null };
      const isItem = kind === "open";
      if (!isItem || word !== null) {
        this.fields.push({
          ...field,
          ...(isItem ? { from: at, to: valueTo } : {}),
          valueFrom: word?.from ?? at,
          valueTo,
        });
      }
    };
    if (char === "{" || char === "[") {
      ends(null, at);
      this.flow(at);
    } else if (char === "|" || char === ">") {
      ends(null, at);
      this.below();
    } else if (char === '"' || char === "'") {
      const word = this.quoted(at);
      ends(word, word.to);
      this.at = Math.max(this.at, this.lineEnd(word.to) + 1);
      if (!word.isWhole && word.to >= this.text.length)
        this.here = this.place(kind, word.text, word.from, char);
    } else {
      const written = this.text.slice(at, stop);
      const plain = written.startsWith("#") ? "" : (written.split(" #")[0] ?? "").trimEnd();
      const word = { text: plain, from: at, to: at + plain.length, quote: "", isWhole: true };
      ends(plain === "" ? null : word, word.to);
      if (stop !== this.text.length) return;
      const isComment = written.startsWith("#") || written.includes(" #");
      this.here = isComment ? this.nowhere() : this.place(kind, written, at);
    }
  }

  /** The lines of a text below `|` or `>`. */
  private below(): void {
    const around = this.around;
    while (this.at < this.text.length) {
      const stop = this.lineEnd(this.at);
      const isBlank = this.text.slice(this.at, stop).trim() === "";
      if (!isBlank && this.indentAt(this.at) <= around) return;
      if (stop === this.text.length && this.indentAt(this.at) > around) {
        this.here = this.place("text", this.text.slice(this.at, stop), this.at);
      } else if (stop === this.text.length) return;
      this.at = stop + 1;
    }
  }

  /** How far the innermost block around here is indented: what belongs to it goes further. */
  private get around(): number {
    const block = this.frames.findLast((frame) => "indent" in frame);
    return block !== undefined && "indent" in block ? block.indent : -1;
  }

  private quoted(at: number): Word {
    const quote = this.text[at] ?? "";
    let to = at + 1;
    while (to < this.text.length) {
      const char = this.text[to];
      if (char === "\\" && quote === '"') to += 1;
      else if (char === quote) {
        if (quote !== "'" || this.text[to + 1] !== "'") break;
        to += 1;
      } else if (char === "\n" && this.endsAt(to)) {
        return { text: this.text.slice(at + 1, to), from: at + 1, to, quote, isWhole: false };
      }
      to += 1;
    }
    const isWhole = to < this.text.length;
    const text = this.text.slice(at + 1, Math.min(to, this.text.length));
    return { text, from: at + 1, to: Math.min(to + 1, this.text.length), quote, isWhole };
  }

  /** Whether what was begun before this line break was left open: the next line is outside of it. */
  private endsAt(lineBreak: number): boolean {
    let start = lineBreak + 1;
    while (this.text[start] === "\n") start += 1;
    const first = this.text[start + this.indentAt(start)];
    if (first === undefined || first === "}" || first === "]") return false;
    return this.around === -1 ? false : this.indentAt(start) <= this.around;
  }

  /** What stands between brackets, over as many lines as it takes. */
  private flow(open: number): void {
    const depth = this.frames.length;
    let at = this.enter(open);
    while (this.frames.length > depth) {
      at = this.blanks(at);
      if (at >= this.text.length) {
        this.here ??= this.between(at);
        break;
      }
      const char = this.text[at] ?? "";
      if (char === "\n") {
        if (this.endsAt(at)) break;
        at += 1;
      } else if (char === "{" || char === "[") at = this.enter(at);
      else if (char === "}" || char === "]") {
        this.frames.pop();
        at += 1;
      } else if (char === ",") {
        this.next();
        at += 1;
      } else at = this.token(at);
    }
    this.frames.length = Math.min(this.frames.length, depth);
    this.at = Math.max(this.at, this.lineEnd(at) + 1);
  }

  private enter(at: number): number {
    this.frames.push(this.text[at] === "{" ? { kind: "{", key: null } : { kind: "[", index: 0 });
    return at + 1;
  }

  private next(): void {
    const top = this.frames.at(-1);
    if (top?.kind === "{") top.key = null;
    else if (top?.kind === "[") top.index += 1;
  }

  private blanks(from: number): number {
    let at = from;
    while (this.text[at] === " " || this.text[at] === "\t" || this.text[at] === "\r") at += 1;
    if (this.text[at] === "#" && /\s/.test(this.text[at - 1] ?? " ")) return this.lineEnd(at);
    return at;
  }

  /** The text ends between two words. */
  private between(at: number): Place {
    const top = this.frames.at(-1);
    const isKey = top?.kind === "{" && top.key === null;
    return this.place(isKey ? "key" : "value", "", at);
  }

  private token(at: number): number {
    const top = this.frames.at(-1);
    const isKey = top?.kind === "{" && top.key === null;
    const char = this.text[at] ?? "";
    if (char === ":") return at + 1;
    const word = char === '"' || char === "'" ? this.quoted(at) : this.plain(at, isKey);
    const isEnd = word.to >= this.text.length && (word.quote === "" || !word.isWhole);
    if (isEnd) {
      this.here = this.place(isKey ? "key" : "value", word.text, word.from, word.quote);
    }
    if (isKey && top.kind === "{") {
      top.key = word.text;
      this.fields.push(this.keyField(at, word));
      const behind = this.blanks(word.to);
      if (this.text[behind] !== ":") {
        top.key = null;
        this.fields.pop();
      }
      return behind === at ? at + 1 : behind;
    }
    this.told(word, at);
    return word.to === at ? at + 1 : word.to;
  }

  private keyField(at: number, word: Word): Field {
    const { path } = this;
    return { path, from: at, to: word.to, value: null, valueFrom: word.to, valueTo: word.to };
  }

  private told(word: Word, at: number): void {
    const { path } = this;
    const last = this.fields.at(-1);
    if (last !== undefined && samePath(last.path, path) && last.value === null) {
      this.fields[this.fields.length - 1] = {
        ...last,
        value: word.text,
        valueFrom: word.from,
        valueTo: word.to,
      };
      return;
    }
    const { text, from, to } = word;
    this.fields.push({ path, from: at, to, value: text, valueFrom: from, valueTo: to });
  }

  private plain(at: number, isKey: boolean): Word {
    let to = at;
    while (to < this.text.length) {
      const char = this.text[to] ?? "";
      if (",{}[]\n".includes(char)) break;
      if (char === ":" && (isKey || /[\s,}\]]/.test(this.text[to + 1] ?? " "))) break;
      if (char === "#" && this.text[to - 1] === " ") break;
      to += 1;
    }
    const text = this.text.slice(at, to);
    const trimmed = to >= this.text.length ? text : text.trimEnd();
    return { text: trimmed, from: at, to: at + trimmed.length, quote: "", isWhole: true };
  }
}

const isItem = (rest: string): boolean => rest === "-" || rest.startsWith("- ");
