/** Reads a unified diff. What it does not understand stays, as a line of context. Pure. */

export type DiffLine = {
  kind: "head" | "same" | "added" | "removed";
  /** Null also where nobody knows the place: a diff that was made of an edit's words alone. */
  before: number | null;
  after: number | null;
  text: string;
};

export type DiffFile = { path: string; added: number; removed: number; lines: DiffLine[] };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

export function filesOf(diff: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | null = null;
  let before: number | null = 0;
  let after: number | null = 0;
  // How many lines of the hunk are still to come: inside it, `--- a` may be a line that was removed.
  let leftBefore = 0;
  let leftAfter = 0;
  // What is said of a file before its name: its mode, another name.
  let said: string[] = [];
  const rows = diff.replace(/\n$/, "").split("\n");
  const alike = rows.every((row) => row.endsWith("\r")); // else it is part of the change, and shown
  for (const [place, raw] of rows.entries()) {
    const row = alike ? raw.slice(0, -1) : raw;
    const inside = leftBefore > 0 || leftAfter > 0;
    if (!inside && row.startsWith("--- ") && rows[place + 1]?.startsWith("+++ ")) {
      file = { path: pathOf(row, rows[place + 1] ?? ""), added: 0, removed: 0, lines: [] };
      file.lines.push(...said.map(headed));
      said = [];
      files.push(file);
      continue;
    }
    if (!inside && isHeader(row, file)) continue;
    if (!inside && TELLING.test(row)) {
      said.push(row);
      continue;
    }
    file ??= opened(files);
    const hunk = HUNK.exec(row);
    if (!inside && hunk !== null) {
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      leftBefore = Number(hunk[2] ?? 1);
      leftAfter = Number(hunk[4] ?? 1);
      file.lines.push(headed(row));
    } else if (!inside && row.startsWith("@@")) {
      [before, after] = [null, null];
      file.lines.push(headed(row));
    } else if (row.startsWith("+")) {
      file.lines.push({ kind: "added", before: null, after, text: row.slice(1) });
      file.added += 1;
      after = next(after);
      leftAfter -= 1;
    } else if (row.startsWith("-")) {
      file.lines.push({ kind: "removed", before, after: null, text: row.slice(1) });
      file.removed += 1;
      before = next(before);
      leftBefore -= 1;
    } else if (row.startsWith("\\")) {
      file.lines.push(headed(row.slice(2)));
    } else {
      file.lines.push({ kind: "same", before, after, text: row.slice(1) });
      before = next(before);
      after = next(after);
      leftBefore -= 1;
      leftAfter -= 1;
    }
  }
  if (said.length > 0) (file ?? opened(files)).lines.push(...said.map(headed));
  return files;
}

const next = (line: number | null): number | null => (line === null ? null : line + 1);

const headed = (text: string): DiffLine => ({ kind: "head", before: null, after: null, text });

const TELLING =
  /^(new file mode|create file mode|deleted file mode|old mode|new mode|similarity |rename |copy )/;

function opened(files: DiffFile[]): DiffFile {
  const file = { path: "", added: 0, removed: 0, lines: [] };
  files.push(file);
  return file;
}

const isHeader = (row: string, file: DiffFile | null): boolean =>
  /^(diff --git |index [0-9a-f]|\+\+\+ )/.test(row) ||
  (row === "" && (file === null || file.lines.length === 0));

const NOTHING = ["/dev/null", "dev/null"];

function pathOf(before: string, after: string): string {
  const [from, to] = [before, after].map((row) => row.slice(4).split("\t")[0]?.trim() ?? "");
  const [old = "", now = ""] = [from, to].map((path) => (path ?? "").replace(/^[ab]\//, ""));
  if (NOTHING.includes(now)) return old;
  return NOTHING.includes(old) || old === now ? now : `${old} → ${now}`;
}
