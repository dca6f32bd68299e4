/** Reads runs, tasks and sessions page by page, and keeps what is shown current without moving it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { RunList, SessionList, TaskRunList } from "../api/types.gen";
import { onChange } from "../live/feed";
import { type Filters, pathOf, type Source } from "./filters";
import {
  behind,
  merged,
  type Read,
  type Row,
  refreshed,
  rowOfRun,
  rowOfSession,
  rowOfTask,
} from "./rows";

/** What the server answered, and as of which change. */
type Page = Read & { lists: number };
type List = Page & { source: Source; path: string };

export type History = {
  rows: readonly Row[] | null;
  /** Whether there is more to show further back. */
  more: boolean;
  /** How many have begun since. */
  since: number;
  trouble: string | null;
  loading: boolean;
  showMore: () => void;
  again: () => void;
};

const PAGE = 50;
const APART_MS = 2_000;

async function page(source: Source, path: string, cursor: string | null): Promise<Page | string> {
  const whole = cursor === null ? path : `${path}&${new URLSearchParams({ cursor })}`;
  if (source === "runs") {
    const answer = await get<RunList>(whole);
    if (answer.kind !== "ok") return whyNot(answer);
    return pageOf(answer.body.items.map(rowOfRun), answer);
  }
  if (source === "task-runs") {
    const answer = await get<TaskRunList>(whole);
    if (answer.kind !== "ok") return whyNot(answer);
    return pageOf(answer.body.items.map(rowOfTask), answer);
  }
  const answer = await get<SessionList>(whole);
  if (answer.kind !== "ok") return whyNot(answer);
  return pageOf(answer.body.items.map(rowOfSession), answer);
}

type Told = { body: { next_cursor?: string | null }; lists?: number };

const pageOf = (rows: readonly Row[], { body, lists }: Told): Page => ({
  rows,
  cursor: body.next_cursor ?? null,
  lists: lists ?? 0,
});

export function useHistory(filters: Filters): History {
  const [lists, know] = useState<readonly List[] | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  const [loading, load] = useState(false);
  const [since, count] = useState(0);
  const [turn, again] = useState(0);
  const latest = useRef(lists);
  latest.current = lists;

  // `turn` asks for the same again
  useEffect(() => {
    let gone = false;
    load(true);
    void begin(filters).then((read) => {
      if (gone) return;
      load(false);
      count(0);
      tell(typeof read === "string" ? read : null);
      if (typeof read !== "string") know(read);
    });
    return () => {
      gone = true;
    };
  }, [filters, turn]);

  useEffect(() => {
    let planned: ReturnType<typeof setTimeout> | null = null;
    let gone = false;
    // As of which change what is shown has to be.
    let needed = 0;
    const look = async () => {
      planned = null;
      const known = latest.current;
      if (known === null || known.every((list) => list.lists >= needed)) return;
      needed = 0;
      const read = await begin(filters);
      if (gone || typeof read === "string") return;
      const now = read.flatMap(({ rows }) => rows);
      count(
        refreshed(
          (latest.current ?? []).flatMap(({ rows }) => rows),
          now,
        ).more,
      );
      const asOf = Math.min(...read.map((list) => list.lists));
      know((old) =>
        old === null
          ? old
          : old.map((list) => ({ ...list, lists: asOf, rows: refreshed(list.rows, now).rows })),
      );
    };
    const unhear = onChange((_streams, lists = Number.POSITIVE_INFINITY) => {
      needed = Math.max(needed, lists);
      planned ??= setTimeout(() => void look(), APART_MS);
    });
    return () => {
      gone = true;
      unhear();
      if (planned !== null) clearTimeout(planned);
    };
  }, [filters]);

  const showMore = async () => {
    const next = lists === null ? null : behind(lists);
    if (next === null || loading) return;
    load(true);
    const read = await page(next.source, next.path, next.cursor);
    load(false);
    tell(typeof read === "string" ? read : null);
    if (typeof read === "string") return;
    know((old) =>
      (old ?? []).map((list) =>
        list.source === next.source
          ? { ...list, rows: [...list.rows, ...read.rows], cursor: read.cursor }
          : list,
      ),
    );
  };

  return {
    rows: lists === null ? null : merged(lists),
    more: lists?.some(({ cursor }) => cursor !== null) ?? false,
    since,
    trouble,
    loading,
    showMore: () => void showMore(),
    again: () => again(turn + 1),
  };
}

async function begin(filters: Filters): Promise<List[] | string> {
  const lists: List[] = [];
  for (const source of ["runs", "task-runs", "sessions"] as const) {
    const path = pathOf(source, filters, Date.now(), PAGE);
    if (path === null) continue;
    const read = await page(source, path, null);
    if (typeof read === "string") return read;
    lists.push({ ...read, source, path });
  }
  return lists;
}
