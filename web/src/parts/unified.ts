/** Reads a unified diff. What it does not understand stays, as a line of context. Pure. */

export type DiffLine = {
  kind: "head" | "same" | "added" | "removed";
  before: number | null;
  after: number | null;
  text: string;
};

export type DiffFile = { path: string; added: number; removed: number; lines: DiffLine[] };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

export function filesOf(diff: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | null = null;
  let before = 0;
  let after = 0;
  // How many lines of the hunk are still to come: inside it, `--- a` may be a line that was removed.
  let leftBefore = 0;
  let leftAfter = 0;
  const rows = diff.replace(/\r?\n$/, "").split("\n");
  for (const [place, raw] of rows.entries()) {
    const row = raw.replace(/\r$/, "");
    const inside = leftBefore > 0 || leftAfter > 0;
    if (!inside && row.startsWith("--- ") && rows[place + 1]?.startsWith("+++ ")) {
      file = { path: pathOf(row, rows[place + 1] ?? ""), added: 0, removed: 0, lines: [] };
      files.push(file);
      continue;
    }
    if (!inside && isHeader(row, file)) continue;
    file ??= opened(files);
    const hunk = HUNK.exec(row);
    if (!inside && hunk !== null) {
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      leftBefore = Number(hunk[2] ?? 1);
      leftAfter = Number(hunk[4] ?? 1);
      file.lines.push({ kind: "head", before: null, after: null, text: row });
    } else if (row.startsWith("+")) {
      file.lines.push({ kind: "added", before: null, after, text: row.slice(1) });
      file.added += 1;
      after += 1;
      leftAfter -= 1;
    } else if (row.startsWith("-")) {
      file.lines.push({ kind: "removed", before, after: null, text: row.slice(1) });
      file.removed += 1;
      before += 1;
      leftBefore -= 1;
    } else if (row.startsWith("\\")) {
      file.lines.push({ kind: "head", before: null, after: null, text: row.slice(2) });
    } else {
      file.lines.push({ kind: "same", before, after, text: row.slice(1) });
      before += 1;
      after += 1;
      leftBefore -= 1;
      leftAfter -= 1;
    }
  }
  return files;
}

function opened(files: DiffFile[]): DiffFile {
  const file = { path: "", added: 0, removed: 0, lines: [] };
  files.push(file);
  return file;
}

const isHeader = (row: string, file: DiffFile | null): boolean =>
  /^(diff --git |index [0-9a-f]|new file mode|deleted file mode|old mode|new mode|similarity |rename |\+\+\+ )/.test(
    row,
  ) ||
  (row === "" && (file === null || file.lines.length === 0));

function pathOf(before: string, after: string): string {
  const [from, to] = [before, after].map((row) => row.slice(4).split("\t")[0]?.trim() ?? "");
  const path = to === "/dev/null" ? from : to;
  return (path ?? "").replace(/^[ab]\//, "");
}
