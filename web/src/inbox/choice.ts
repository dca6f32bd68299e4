/** Which item is looked at, while items come and go. Pure. */

type Item = { id: string };

/** Stays with what one looks at. What went away stays too, until somebody moves on. */
export function lookedAt<T extends Item>(items: readonly T[], chosen: T | null): T | null {
  if (chosen === null) return items[0] ?? null;
  return items.find(({ id }) => id === chosen.id) ?? chosen;
}

/** The neighbour in the direction of the step; at the end one stays. */
export function neighbour<T extends Item>(
  items: readonly T[],
  chosen: T | null,
  step: 1 | -1,
): T | null {
  const place = items.findIndex(({ id }) => id === chosen?.id);
  if (place === -1) return items[0] ?? null;
  return items[Math.min(Math.max(place + step, 0), items.length - 1)] ?? null;
}

/** The one that comes into the place of the one that was decided: what was behind it, else what was before. */
export function nextAfter<T extends Item>(
  before: readonly T[],
  now: readonly T[],
  gone: string,
): T | null {
  const place = before.findIndex(({ id }) => id === gone);
  const behind = [...before.slice(place + 1), ...before.slice(0, Math.max(place, 0)).toReversed()];
  const left = new Map(now.map((item) => [item.id, item]));
  for (const { id } of behind) {
    const item = left.get(id);
    if (item !== undefined) return item;
  }
  return now[0] ?? null;
}
