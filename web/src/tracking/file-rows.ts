/** The rows of a list of changed files: what one folded task wrote again and again is one row. Pure. */

import type { ChangedFile } from "../api/types.gen";

export type Placed = { file: ChangedFile; place: number };

export type FileRow =
  | ({ kind: "file" } & Placed)
  | {
      kind: "files";
      /** `web/src/words/*.json` */
      pattern: string;
      /** `translate × 18` */
      by: string;
      how: ChangedFile["how"];
      added: number;
      removed: number;
      files: readonly Placed[];
    };

/** So many files of one pattern become one row, as so many tasks become one line. */
const ALIKE = 4;

export function fileRowsOf(files: readonly ChangedFile[]): FileRow[] {
  const groups = new Map<string, Placed[]>();
  const keys = files.map((file, place) => {
    const key = alike(file) ?? `${place}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ file, place }]);
    else group.push({ file, place });
    return key;
  });
  return files.flatMap((file, place): FileRow[] => {
    const group = groups.get(keys[place] ?? "") ?? [];
    const tasks = new Set(group.flatMap((one) => one.file.tasks));
    if (group.length < ALIKE || tasks.size < ALIKE) return [{ kind: "file", file, place }];
    return group[0]?.place === place ? [together(group, tasks.size)] : [];
  });
}

function together(group: readonly Placed[], tasks: number): FileRow {
  const sum = (of: "added" | "removed") => group.reduce((all, { file }) => all + file[of], 0);
  const first = group[0]?.file;
  return {
    kind: "files",
    pattern: patternOf(first?.path ?? ""),
    by: `${baseOf(first?.tasks[0] ?? "")} × ${tasks}`,
    how: first?.how ?? "edited",
    added: sum("added"),
    removed: sum("removed"),
    files: group,
  };
}

/** What makes files alike: folder, ending, what was done to them, and the one task that did it. */
function alike(file: ChangedFile): string | null {
  const tasks = new Set(file.tasks.map(baseOf));
  return tasks.size === 1 ? [patternOf(file.path), file.how, ...tasks].join("\n") : null;
}

const baseOf = (name: string): string => name.split(" · ")[0] ?? name;

function patternOf(path: string): string {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const name = path.slice(folder.length);
  const dot = name.lastIndexOf(".");
  return `${folder}*${dot > 0 ? name.slice(dot) : ""}`;
}
