/** What is looked for: in the page's address, and in what the server is asked. Pure. */

export const KINDS = {
  "": "All kinds",
  runs: "Jobs",
  "task-runs": "Tasks",
  sessions: "Sessions",
} as const;
export const STATES = {
  "": "Any state",
  going: "In progress",
  asking: "Waiting for you",
  succeeded: "Succeeded or closed",
  failed: "Failed",
  canceled: "Canceled or interrupted",
} as const;
export const TIMES = {
  "": "Any time",
  day: "Last 24 hours",
  week: "Last 7 days",
  month: "Last 30 days",
} as const;

export type Filters = {
  text: string;
  kind: keyof typeof KINDS;
  state: keyof typeof STATES;
  time: keyof typeof TIMES;
  job: string;
  tag: string;
  model: string;
};

export const NO_FILTERS: Filters = {
  text: "",
  kind: "",
  state: "",
  time: "",
  job: "",
  tag: "",
  model: "",
};

const NAMES = Object.keys(NO_FILTERS) as (keyof Filters)[];

export function filtersIn(search: string): Filters {
  const query = new URLSearchParams(search);
  const one = <Choice extends string>(name: string, choices: Record<Choice, string>): Choice => {
    const value = query.get(name) ?? "";
    return (Object.hasOwn(choices, value) ? value : "") as Choice;
  };
  return {
    text: query.get("text") ?? "",
    kind: one("kind", KINDS),
    state: one("state", STATES),
    time: one("time", TIMES),
    job: query.get("job") ?? "",
    tag: query.get("tag") ?? "",
    model: query.get("model") ?? "",
  };
}

export function addressOf(filters: Filters): string {
  const query = new URLSearchParams();
  for (const name of NAMES) if (filters[name] !== "") query.set(name, filters[name]);
  const told = query.toString();
  return told === "" ? "/history.html" : `/history.html?${told}`;
}

export const isFiltered = (filters: Filters): boolean =>
  NAMES.some((name) => filters[name].trim() !== "");

export const SOURCES = ["runs", "task-runs", "sessions"] as const;
export type Source = (typeof SOURCES)[number];
const OF: Record<Source, string> = { runs: "run", "task-runs": "task", sessions: "session" };

type States = Record<Source, readonly string[] | null>;

/** The server's states; null where it has no such thing at all. */
const ASKED: Record<Filters["state"], States> = {
  "": { runs: [], "task-runs": [], sessions: [] },
  going: {
    runs: ["waiting", "running", "waiting-for-person"],
    "task-runs": ["running"],
    sessions: ["opening", "working"],
  },
  // Of tasks and sessions this is no state.
  asking: { runs: ["waiting-for-person"], "task-runs": [], sessions: [] },
  succeeded: { runs: ["succeeded"], "task-runs": ["succeeded"], sessions: ["closed"] },
  failed: { runs: ["failed"], "task-runs": ["failed", "crashed"], sessions: null },
  canceled: { runs: ["canceled"], "task-runs": ["canceled"], sessions: ["interrupted"] },
};

const HOUR = 3_600_000;
const SINCE: Record<Filters["time"], number> = { "": 0, day: 24, week: 168, month: 720 };

/** What to ask; null where nothing there could match. */
export function pathOf(
  source: Source,
  filters: Filters,
  now: number,
  limit: number,
): string | null {
  const states = ASKED[filters.state][source];
  if (states === null || (filters.kind !== "" && filters.kind !== source)) return null;
  if (source === "runs" ? filters.model !== "" : isOfRuns(filters)) return null;
  const query = new URLSearchParams({ limit: String(limit) });
  if (source === "sessions") query.set("of", "person");
  // What a job started is told with its run.
  if (source === "task-runs") query.set("alone", "true");
  if (source !== "runs" && filters.state === "asking") query.set("for_person", "true");
  for (const state of states) query.append("state", state);
  if (filters.text.trim() !== "") query.set("text", filters.text.trim());
  setRest(query, filters, now);
  return `/api/v1/${source}?${query}`;
}

/** What was said is asked for with the same filters, once there is something to look for. */
export function searchPath(filters: Filters, now: number, limit: number): string | null {
  const text = filters.text.trim();
  const sources = filters.kind === "" ? SOURCES : [filters.kind];
  const states = sources.map((source) => ASKED[filters.state][source]);
  if (!IS_WORD.test(text) || states.every((some) => some === null)) return null;
  const query = new URLSearchParams({ limit: String(limit), text });
  if (filters.kind !== "") query.set("of", OF[filters.kind]);
  if (filters.state === "asking") query.set("for_person", "true");
  else
    for (const state of new Set(states.flatMap((some) => some ?? []))) query.append("state", state);
  setRest(query, filters, now);
  return `/api/v1/search?${query}`;
}

/** A bracket may be part of a name, but nothing that was said is found by it. */
const IS_WORD = /[\p{L}\p{N}]/u;

const isOfRuns = ({ job, tag }: Filters): boolean => job !== "" || tag !== "";

function setRest(query: URLSearchParams, filters: Filters, now: number): void {
  for (const name of ["job", "tag", "model"] as const) {
    if (filters[name] !== "") query.set(name, filters[name]);
  }
  if (filters.time !== "") query.set("since", String(now - SINCE[filters.time] * HOUR));
}

/** Those of the entry in its order, then those that only kept runs still have. */
export const allJobs = (known: readonly string[], kept: readonly string[]): string[] => [
  ...new Set([...known, ...kept]),
];
