/** Reads runs, tasks and sessions page by page, and keeps what is shown current without moving it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import { serverTime } from "../api/clock";
import type { HitPage, RunList, SessionList, TaskRunList } from "../api/types.gen";
import { onChange } from "../live/feed";
import { type Filters, pathOf, SOURCES, type Source, searchPath } from "./filters";
import {
  behind,
  merged,
  type Read,
  type Row,
  refreshed,
  rowOfHit,
  rowOfRun,
  rowOfSession,
  rowOfTask,
} from "./rows";

type From = Source | "search";
/** What the server answered, as of which change, and why that is not all. */
type Page = Read & { lists: number; lack?: string };
type List = Page & { source: From; path: string };

export type History = {
  rows: readonly Row[] | null;
  /** Whether there is more to show further back. */
  more: boolean;
  /** How many have begun since. */
  since: number;
  trouble: string | null;
  /** Why nothing was looked for in what was said. */
  lack: string | null;
  loading: boolean;
  showMore: () => void;
  again: () => void;
};

const PAGE = 50;
const APART_MS = 2_000;

async function page(source: From, path: string, cursor: string | null): Promise<Page | string> {
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
  if (source === "search") return pageOfHits(whole);
  const answer = await get<SessionList>(whole);
  if (answer.kind !== "ok") return whyNot(answer);
  return pageOf(answer.body.items.map(rowOfSession), answer);
}

/** Names are found all the same where this takes too long. */
async function pageOfHits(path: string): Promise<Page | string> {
  const answer = await get<HitPage>(path);
  if (answer.kind === "ok") {
    return pageOf(
      answer.body.items.flatMap((hit) => rowOfHit(hit) ?? []),
      answer,
    );
  }
  if (answer.kind !== "failed") return whyNot(answer);
  const lack = whyNot(answer);
  return { rows: [], cursor: null, lists: Number.POSITIVE_INFINITY, lack };
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
    lack: lists?.find(({ lack }) => lack !== undefined)?.lack ?? null,
    loading,
    showMore: () => void showMore(),
    again: () => again(turn + 1),
  };
}

async function begin(filters: Filters): Promise<List[] | string> {
  const lists: List[] = [];
  for (const source of [...SOURCES, "search"] as const) {
    const path =
      source === "search"
        ? searchPath(filters, serverTime(), PAGE)
        : pathOf(source, filters, serverTime(), PAGE);
    if (path === null) continue;
    const read = await page(source, path, null);
    if (typeof read === "string") return read;
    lists.push({ ...read, source, path });
  }
  return lists;
}
