import { describe, expect, it } from "vitest";
import type { CageProfile, CageView, HostTraffic, InboxItem } from "../api/types.gen";
import {
  bytes,
  CAGE_WORDS,
  cageAbout,
  cageLook,
  cageState,
  endedBy,
  foldersOf,
  hostsOf,
  hostsWords,
  limitsOf,
  refusalsOf,
  refusedWords,
  runBadge,
  wallsOf,
} from "./cage-words";

const CAGE: CageView = {
  strength: "strong",
  profile: "default",
  walls: ["namespaces", "control group v2", "moat"],
  limits: { memory_mb: 4096, processes: 512, file_mb: 2048 },
  is_open: true,
};
const NARROW: CageView = { ...CAGE, strength: "narrow", walls: ["Landlock", "watched limits"] };
const BOUNDED: CageView = { ...CAGE, walls: ["seccomp", "bounded processes"] };
const TERMS: CageProfile = {
  read: ["/opt/sdk"],
  write: ["/srv/cache"],
  hosts: ["example.org", "@python"],
  unknown_hosts: "refuse",
  variables: ["LANG"],
  memory_mb: 4096,
  processes: 512,
  file_mb: 2048,
  debuggers: false,
};
const QUIET = {
  is_open: false,
  connections: 0,
  sent: 0,
  received: 0,
  refused: 0,
  why: null,
};
const UNUSED = { connections: "–", received: "–", sent: "–" };
const TRAFFIC: HostTraffic[] = [
  {
    ...QUIET,
    host: "example.org",
    port: 443,
    by: "profile",
    connections: 3,
    sent: 900,
    received: 2_202_010,
  },
  {
    ...QUIET,
    host: "other.example",
    port: 80,
    refused: 12,
    why: "It is not\namong them.",
    refused_at: 1_000,
  },
  { ...QUIET, host: "a\u202eb", port: null, refused: 1, why: "No." },
];

describe("a cage in words", () => {
  it("is caged, caged but narrow, or not there", () => {
    const words = [
      { cage_profile: "default", cage: CAGE },
      { cage_profile: "default", cage: NARROW },
      { cage_profile: "default", cage: null },
      { cage_profile: null, cage: null },
    ].map((view) => CAGE_WORDS[cageLook(view)]);
    expect(words).toEqual(["caged", "caged, narrow", "caged", "not caged"]);
  });

  it("is what sessions get here until it has opened, also where it never does", () => {
    const view = { cage_profile: "default", cage: null };
    expect(cageLook(view, "narrow")).toBe("narrow");
    expect(cageAbout(view, "narrow")).toContain("fewer walls");
    expect(cageLook(view, "strong")).toBe("caged");
    expect(cageLook({ ...view, cage: CAGE }, "narrow")).toBe("caged");
    expect(cageLook({ cage_profile: null, cage: null }, "narrow")).toBe("free");
  });

  it("says how it stands, and what is weak about it", () => {
    const view = { cage_profile: "default", cage: CAGE };
    expect(cageState(view)).toBe("Strong · profile default · open");
    expect(cageState({ ...view, cage: { ...NARROW, is_open: false } })).toBe(
      "Narrow · profile default · ended",
    );
    expect(cageState({ ...view, cage: null })).toBe("Has not opened yet · profile default");
    expect(cageAbout(view)).not.toContain("only watched");
    expect(cageAbout({ ...view, cage: NARROW })).toContain("fewer walls");
    expect(cageAbout({ ...view, cage: NARROW })).toContain("Its limits are only watched");
    const bounded = cageAbout({ ...view, cage: BOUNDED });
    expect(bounded).toContain("The kernel bounds its processes.");
    expect(bounded).not.toContain("Its limits are only watched");
  });

  it("explains each wall, and shows one that it does not know", () => {
    expect(wallsOf(CAGE)).toEqual([
      { name: "Namespaces", about: "Processes, network, users and mounts of its own" },
      { name: "Control group v2", about: "The kernel holds it to its limits" },
      { name: "Moat", about: "" },
    ]);
    expect([...wallsOf(NARROW), ...wallsOf(BOUNDED)].every(({ about }) => about !== "")).toBe(true);
  });

  it("lists folders with what may be done there", () => {
    const may = (isNarrow: boolean) =>
      foldersOf("/work", TERMS, isNarrow).map((one) => `${one.name}: ${one.may}`);
    expect(may(false).slice(0, 4)).toEqual([
      "/work: read and write",
      "Git’s configuration and hooks in it: read",
      "/srv/cache: read and write",
      "/opt/sdk: read",
    ]);
    expect(may(true)[1]).toContain("read and write");
    const names = foldersOf("/work", TERMS, false, false).map(({ name }) => name);
    expect(names).not.toContain("Git’s configuration and hooks in it");
  });

  it("counts what went to hosts, and names those of the profile beside them", () => {
    expect(hostsOf(TERMS.hosts, TRAFFIC)).toEqual([
      {
        name: "example.org",
        by: "profile",
        waits: false,
        connections: "3",
        received: "2.1 MB",
        sent: "900 B",
      },
      { ...UNUSED, name: "@python", by: "profile", waits: false },
    ]);
    const open = { ...QUIET, host: "b.example", port: 8443, is_open: true };
    expect(hostsOf([], [open])[0]).toMatchObject({ name: "b.example:8443", connections: "open" });
    expect(hostsWords(TERMS)).toBe("2 allowed by the profile, all others are refused");
    expect(hostsWords({ ...TERMS, hosts: [], unknown_hosts: "ask" })).toBe(
      "none allowed by the profile, all are asked about",
    );
  });

  it("says who allowed a host, and which hosts wait for a person", () => {
    const by = (said: string | null) =>
      hostsOf([], [{ ...QUIET, host: "b.example", port: 443, is_open: true, by: said }])[0]?.by;
    expect(["profile", "rule rul_1", "person ada", "session", null].map(by)).toEqual([
      "profile",
      "a rule",
      "ada, once",
      "a person",
      "–",
    ]);
    const asked = (address: string, wish = "host") =>
      ({ asked: { kind: "approval.asked", wish, subject: { address } } }) as unknown as InboxItem;
    const items = [
      asked("https://example.org/"),
      asked("https://files.example:8443/"),
      asked("https://web.example/", "url"),
    ];
    const rows = hostsOf(["@python"], TRAFFIC, items);
    expect(rows.map(({ name, by: said, waits }) => [name, said, waits])).toEqual([
      ["example.org", "waits for you", true],
      ["files.example", "waits for you", true],
      ["@python", "profile", false],
    ]);
  });

  it("says what was refused, why and how often", () => {
    expect(refusalsOf(TRAFFIC)).toEqual([
      { name: "other.example:80", why: "It is not among them.", times: "× 12", at: 1_000 },
      { name: "a⟨U+202E⟩b", why: "No.", times: "× 1", at: null },
    ]);
    expect(refusedWords(TRAFFIC)).toBe("13 attempts at 2 hosts");
    expect(refusedWords([])).toBe("nothing so far");
  });

  it("gives limits and bytes in units that people know", () => {
    expect(limitsOf(CAGE.limits)).toEqual([
      ["Memory", "4 GB"],
      ["Processes", "512"],
      ["Largest file", "2 GB"],
    ]);
    expect(limitsOf(CAGE.limits, 612)[0]).toEqual(["Memory", "4 GB, 612 MB used at most"]);
    expect([0, 1023, 14_336, 1_048_575, 40_265_318].map(bytes)).toEqual([
      "0 B",
      "1023 B",
      "14 KB",
      "1 MB",
      "38 MB",
    ]);
  });
});

describe("why a cage ended", () => {
  it("is its limit, or a file that was replaced", () => {
    expect(endedBy("memory")).toBe("The cage ended: its limit of memory was reached.");
    expect(endedBy("replaced")).toBe(
      "The cage ended: a protected file in its folder was replaced from outside.",
    );
  });
});

describe("the badge of a run", () => {
  it("says in words how its agents work", () => {
    const words = (["strong", "narrow", "partly", "no"] as const).map(
      (caged) => runBadge({ caged })?.word,
    );
    expect(words).toEqual(["caged", "caged, narrow", "partly caged", "not caged"]);
  });

  it("is left out where nobody told", () => {
    expect(runBadge({ caged: null })).toBeNull();
    expect(runBadge({})).toBeNull();
  });
});
