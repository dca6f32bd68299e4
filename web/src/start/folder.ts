/** Which folder a session begins in. Pure. */

/** The repository's root, or the folder of that name beside it. */
export function folderFor(root: string, project: string | null): string {
  if (project === null || project === "") return root;
  const slash = root.includes("\\") && !root.includes("/") ? "\\" : "/";
  const parent = root.slice(0, Math.max(0, root.lastIndexOf(slash)));
  return `${parent}${slash}${project}`;
}

/** What the page says below the field. */
export function folderInWords(folder: string, root: string | null, project: string | null): string {
  if (root === null) return "An absolute path.";
  if (folder === root) return "An absolute path. This is the root of the repository.";
  if (project !== null && folder === folderFor(root, project)) {
    return "An absolute path. This folder is next to the repository.";
  }
  return "An absolute path.";
}
