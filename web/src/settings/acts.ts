/** What the audit tells, in words. Pure. */

import type { AuditPage } from "../api/types.gen";

export type Act = AuditPage["items"][number];

export function actInWords({ event }: Pick<Act, "event">): string {
  switch (event.kind) {
    case "audit.server.started":
      return `Server ${event.version} started, permissions ${event.policy}`;
    case "audit.server.stopped":
      return "Server stopped";
    case "audit.signed-in":
      return `Signed in: ${event.device}`;
    case "audit.signed-out":
      return `Sign-in of ${event.name} ended: ${ENDS[event.why]}`;
    case "audit.refused":
      return `Refused: ${event.status ?? ""} ${event.code}${
        event.path == null ? "" : `, ${event.method ?? ""} ${event.path}`
      }${event.count > 1 ? `, ${event.count} times` : ""}`;
    case "audit.decided":
      return `${event.outcome}: ${event.about}`;
    case "audit.rules.changed":
      return event.change === "arranged"
        ? "Rules reordered"
        : `Rule ${event.change}: ${event.text}`;
    case "audit.trust.changed":
      return `${event.change === "trusted" ? "Trusted" : "No longer trusted"}: ${event.paths.join(", ")}`;
    case "audit.extension.changed":
      return `Extension ${event.name} ${event.change}: ${event.path}`;
    case "audit.setting.changed":
      return `Setting ${event.name} ${event.change}: ${event.value} (was ${event.before})`;
    case "audit.token.changed":
      return `Token ${event.token.name} ${event.change}, role ${event.token.role}`;
    case "audit.secret.changed":
      return `Secret ${event.name} ${event.change}`;
    case "audit.source.changed":
      return `${event.source === "provider" ? "Provider" : "Account"} ${event.name} ${event.change}${
        event.about === "" ? "" : `: ${event.about}`
      }`;
    case "audit.entry.installed":
      return `Entry changed: ${event.path ?? event.source}`;
    case "audit.entry.written":
      return `${event.before == null ? "Entry created" : "Entry saved"}: ${event.path}`;
    case "audit.deleted":
      return `Deleted: ${event.stream}`;
    case "audit.trimmed":
      return `Deleted ${event.count} audit records older than ${event.keep_days} days`;
  }
}

const ENDS = {
  asked: "signed out",
  replaced: "replaced by a new sign-in",
  "token-gone": "its token was removed",
  time: "it expired",
} as const;

const VIA = { page: "the website", cli: "the command line", api: "the API", server: "" } as const;

export function actorInWords({ by }: Act["event"]): string {
  if (by.via === "server") return "the server";
  const where = by.address == null ? "" : `, ${by.address}`;
  return `${by.who ?? "unknown"}${where}, from ${VIA[by.via]}`;
}
