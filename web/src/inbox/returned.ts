/** What a browser brings back from a sign-in at an MCP server, in the page's address. Pure. */

export type Returned = { state: string; code?: string; error?: string; iss?: string };

const PARTS = ["code", "error", "iss"] as const;

export function returnedOf(search: string): Returned | null {
  const given = new URLSearchParams(search);
  const state = given.get("state");
  if (state === null || (!given.has("code") && !given.has("error"))) return null;
  const found: Returned = { state };
  for (const part of PARTS) {
    const value = given.get(part);
    if (value !== null && value !== "") found[part] = value;
  }
  return found;
}
