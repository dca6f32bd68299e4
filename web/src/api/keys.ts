/** Names of our own for requests: repeated under the same name, a request starts nothing new. */

/** Not `randomUUID`, which browsers give to secure pages only. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
