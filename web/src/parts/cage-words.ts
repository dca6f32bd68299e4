/** What a session's cage is called, and what of it can be told in words and figures. Pure. */

import type {
  CageLimits,
  CageProfile,
  CageView,
  HostTraffic,
  InboxItem,
  RunView,
  SessionView,
  Status,
} from "../api/types.gen";
import { visible, visibleWhole } from "../words";

type Caged = Pick<SessionView, "cage_profile" | "cage">;

export type CageLook = "caged" | "narrow" | "free";

/** The cage that sessions get here; null where nobody has told. */
export type CageHere = Status["cage"] | null;

/** One that has not opened yet will be what sessions get here. */
export const isNarrow = ({ cage }: Caged, here: CageHere = null): boolean =>
  (cage?.strength ?? here) === "narrow";

export const cageLook = (view: Caged, here: CageHere = null): CageLook => {
  if (view.cage_profile == null) return "free";
  return isNarrow(view, here) ? "narrow" : "caged";
};

export const CAGE_WORDS: Record<CageLook, string> = {
  caged: "caged",
  narrow: "caged, narrow",
  free: "not caged",
};

/** What a run's badge says, and more of it; null of a run that does not tell. */
export type RunBadge = { look: CageLook; word: string; about: string };

const RUN_BADGES: Record<NonNullable<RunView["caged"]>, RunBadge> = {
  strong: {
    look: "caged",
    word: CAGE_WORDS.caged,
    about: "Every agent of this run works in a cage: nothing outside it can be reached.",
  },
  narrow: {
    look: "narrow",
    word: CAGE_WORDS.narrow,
    about: "Every agent of this run works in a narrow cage, which has fewer walls and no network.",
  },
  partly: {
    look: "narrow",
    word: "partly caged",
    about: "Some tasks of this run work in a cage, and others do not. Each session says which.",
  },
  no: {
    look: "free",
    word: CAGE_WORDS.free,
    about: "The agents of this run are not in a cage. Only its permissions limit what they may do.",
  },
};

export const runBadge = ({ caged }: Pick<RunView, "caged">): RunBadge | null =>
  caged == null ? null : (RUN_BADGES[caged] ?? null);

/** Only Airboss looks after the limits then, and not the kernel. */
const WATCHED = "watched limits";
/** The kernel looks after the number of processes then, and Airboss after memory. */
const BOUNDED = "bounded processes";

/** How it stands, in one line: `Strong · profile default · open`. */
export function cageState({ cage_profile, cage }: Caged): string {
  const profile = `profile ${visible(cage_profile ?? "")}`;
  if (cage == null) return `Has not opened yet · ${profile}`;
  const strength = cage.strength === "narrow" ? "Narrow" : "Strong";
  return `${strength} · ${profile} · ${cage.is_open ? "open" : "ended"}`;
}

export function cageAbout(view: Caged, here: CageHere = null): string {
  const { cage_profile, cage } = view;
  if (cage_profile == null) {
    return "This agent is not in a cage. Only its permissions limit what it may do.";
  }
  const held = "Inside, the agent may do what its permissions allow. Outside, nothing:";
  const by = `${held} the kernel enforces it.`;
  const narrow = isNarrow(view, here)
    ? " A narrow cage has fewer walls: it shares the machine’s processes, and has no network."
    : "";
  const watched = cage?.walls.includes(WATCHED)
    ? " Its limits are only watched by Airboss, because no control group is available."
    : "";
  const bounded = cage?.walls.includes(BOUNDED)
    ? " The kernel bounds its processes. Its memory is only watched by Airboss, because no control group is available."
    : "";
  return by + narrow + watched + bounded;
}

const WALLS: Record<string, string> = {
  namespaces: "Processes, network, users and mounts of its own",
  seccomp: "Mounts, keyrings, BPF and other system calls are refused",
  "read-only system": "The system can be read but not changed",
  "unreadable runtime": "Programs cannot read or dump the agent runtime",
  landlock: "Only the folders above can be opened",
  "no network": "No host can be reached",
  [BOUNDED]:
    "The kernel bounds their number, and Airboss ends the cage when it uses too much memory",
  [WATCHED]: "Airboss ends the cage when it goes over its limits",
};

export type Wall = { name: string; about: string };

/** What a newer server calls otherwise is shown as it says it. */
export const wallsOf = (cage: CageView): Wall[] =>
  cage.walls.map((wall) => {
    const said = visible(wall);
    const about = WALLS[wall.toLowerCase()];
    const group = wall.startsWith("control group") ? "The kernel holds it to its limits" : "";
    return { name: said.charAt(0).toUpperCase() + said.slice(1), about: about ?? group };
  });

export type Folder = {
  name: string;
  isPath: boolean;
  may: "read and write" | "read" | "its own" | "closed" | "not there";
};

/** Of git only where its folder has a repository, or nobody has told. */
export function foldersOf(
  cwd: string,
  terms: CageProfile,
  hasNarrow: boolean,
  hasGit = true,
): Folder[] {
  const path = (name: string, may: Folder["may"]): Folder => ({
    name: visibleWhole(name),
    isPath: true,
    may,
  });
  const words = (name: string, may: Folder["may"]): Folder => ({ name, isPath: false, may });
  // Landlock alone cannot close a part of an open folder.
  const git = words("Git’s configuration and hooks in it", hasNarrow ? "read and write" : "read");
  return [
    path(cwd, "read and write"),
    ...(hasGit ? [git] : []),
    ...terms.write.map((name) => path(name, "read and write")),
    ...terms.read.map((name) => path(name, "read")),
    words("Temporary files", "its own"),
    words("The system and known toolchains", "read"),
    words("The rest of your home folder", hasNarrow ? "closed" : "not there"),
  ];
}

export type HostRow = {
  name: string;
  by: string;
  waits: boolean;
  connections: string;
  received: string;
  sent: string;
};

const NONE = "–";
const WAITS = "waits for you";

/** Those that were connected to, those that wait for a person, then the others of the profile. */
export function hostsOf(
  listed: readonly string[],
  traffic: readonly HostTraffic[],
  items: readonly InboxItem[] = [],
): HostRow[] {
  const used = traffic.filter(({ is_open, connections }) => is_open || connections > 0);
  const waiting = new Set(items.flatMap(hostAsked));
  const names = new Set(used.flatMap((one) => [one.host, `${one.host}:${one.port}`]));
  const unused = (name: string, by: string): HostRow => ({
    name: visibleWhole(name),
    by,
    waits: by === WAITS,
    connections: NONE,
    received: NONE,
    sent: NONE,
  });
  return [
    ...used.map((one) => ({
      name: hostName(one),
      by: waiting.has(one.host) ? WAITS : allowedBy(one.by ?? null),
      waits: waiting.has(one.host),
      connections: one.is_open ? `${one.connections || ""} open`.trim() : String(one.connections),
      received: one.connections > 0 ? bytes(one.received) : NONE,
      sent: one.connections > 0 ? bytes(one.sent) : NONE,
    })),
    ...[...waiting].filter((name) => !names.has(name)).map((name) => unused(name, WAITS)),
    ...listed
      .filter((name) => !names.has(name) && !waiting.has(name))
      .map((name) => unused(name, "profile")),
  ];
}

/** What a request for a host is about, by its address. */
function hostAsked({ asked }: InboxItem): string[] {
  if (asked.kind !== "approval.asked" || asked.wish !== "host") return [];
  const address = asked.subject.address ?? "";
  return URL.canParse(address) ? [new URL(address).hostname] : [];
}

/** `person ada` allowed it once; `session`: a person did, for longer. */
function allowedBy(by: string | null): string {
  if (by === null) return NONE;
  if (by === "session") return "a person";
  if (by.startsWith("rule ")) return "a rule";
  return visible(by.startsWith("person ") ? `${by.slice("person ".length)}, once` : by);
}

export function hostsWords(terms: CageProfile): string {
  const many = terms.hosts.length;
  const listed = many === 0 ? "none allowed" : `${many} allowed`;
  const others = terms.unknown_hosts === "ask" ? "asked about" : "refused";
  return `${listed} by the profile, ${many === 0 ? "all" : "all others"} are ${others}`;
}

export type Refusal = { name: string; why: string; times: string; at: number | null };

export const refusalsOf = (traffic: readonly HostTraffic[]): Refusal[] =>
  traffic
    .filter(({ refused }) => refused > 0)
    .map((one) => ({
      name: hostName(one),
      why: visible(one.why ?? ""),
      times: `× ${one.refused.toLocaleString("en")}`,
      at: one.refused_at ?? null,
    }));

export function refusedWords(traffic: readonly HostTraffic[]): string {
  const refused = traffic.filter((one) => one.refused > 0);
  const times = refused.reduce((sum, one) => sum + one.refused, 0);
  if (times === 0) return "nothing so far";
  const attempts = times === 1 ? "1 attempt" : `${times.toLocaleString("en")} attempts`;
  return `${attempts} at ${refused.length === 1 ? "1 host" : `${refused.length} hosts`}`;
}

/** Without the port that is the usual one. */
const hostName = ({ host, port }: HostTraffic): string =>
  visibleWhole(port == null || port === 443 ? host : `${host}:${port}`);

/** Its limit, or a file in its folder that somebody outside put in the place of a closed one. */
export const endedBy = (limit: string): string =>
  limit === "replaced"
    ? "The cage ended: a protected file in its folder was replaced from outside."
    : `The cage ended: its limit of ${visible(limit)} was reached.`;

/** Each with its most; of a cage that has ended, memory also with what was used. */
export const limitsOf = (
  { memory_mb, processes, file_mb }: CageLimits,
  peak_mb: number | null = null,
): [string, string][] => [
  [
    "Memory",
    bytes(memory_mb * MB) + (peak_mb === null ? "" : `, ${bytes(peak_mb * MB)} used at most`),
  ],
  ["Processes", processes.toLocaleString("en")],
  ["Largest file", bytes(file_mb * MB)],
];

const MB = 1 << 20;
const UNITS = ["KB", "MB", "GB", "TB"] as const;

/** For a glance: 812 B, 14 KB, 2.1 MB. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  let [size, unit] = [count / 1024, 0];
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size < 9.95 ? size.toFixed(1).replace(/\.0$/, "") : Math.round(size)} ${UNITS[unit]}`;
}
