/** What whoever looks at this page may do. Known with the first answer; until then nothing is barred. */

import { signal } from "@preact/signals";
import type { Status } from "./types.gen";

export type Role = NonNullable<Status["role"]>;

const ROLES: readonly Role[] = ["view", "operate", "decide", "own"];

const MAY: Record<Role, string> = {
  view: "view",
  operate: "start, stop and prompt",
  decide: "approve and answer",
  own: "change rules, trust and access, delete, and stop the server",
};

/** Null while nobody has said. */
export const role = signal<Role | null>(null);
/** Counts refusals for a role that the page thought was enough: it may have changed meanwhile. */
export const doubted = signal(0);

/** Why this may not be done here, and who can change that; null where it may be. */
export function mayNot(needed: Role, has: Role | null = role.value): string | null {
  if (has === null || ROLES.indexOf(has) >= ROLES.indexOf(needed)) return null;
  return `Your role is ${has}. To ${MAY[needed]}, you need the role ${needed}. Ask the owner, or run airboss token change NAME --role ${needed}.`;
}

/** For a control that this role may not use: spread last, over what else it says of itself. */
export function barred(needed: Role): { disabled?: true; title?: string } {
  const why = mayNot(needed);
  return why === null ? {} : { disabled: true, title: why };
}
