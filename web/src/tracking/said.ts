/** The events of runs and of tasks, in words. Pure. */

import type { Event, Recorded } from "../state/types";
import { visible } from "../words";

export type Said = {
  /** The path of the work that it is about; null for the run itself. */
  path: string | null;
  /** In front, and stronger. */
  head: string;
  text: string;
};

const MOST = 400;

/** The beginning of a text on one line: of megabytes of it, nobody reads more. */
export const clipped = (text: string, most = MOST): string =>
  visible(text.length > most ? `${text.slice(0, most)} …` : text);

const said = (path: string | null, head: string, text = ""): Said => ({
  path,
  head,
  text: clipped(text),
});

export function tellRun(event: Event): Said {
  switch (event.kind) {
    case "run.accepted":
      return said(null, "Run accepted", `by ${event.who}`);
    case "run.resumed":
      return said(null, "Resumed.", event.reason);
    case "run.placed":
      return said(null, `Running on ${visible(event.machine)}.`);
    case "run.moved":
      return said(null, `Moved from ${visible(event.from)} to ${visible(event.to)}.`, event.reason);
    case "run.retried":
      return said(null, `Retried by ${visible(event.who)}.`, "Tasks that succeeded are kept.");
    case "run.work.started":
      return said(event.path, "Started", event.task);
    case "run.work.waiting":
      return said(event.path, "Waiting", `for ${event.reason}`);
    case "run.work.going":
      return said(event.path, "Continued", "");
    case "run.work.retrying":
      return said(event.path, "Retrying:", `attempt ${event.retry + 1} of ${event.of + 1}`);
    case "run.work.stopped":
      return said(
        event.path,
        event.succeeded ? "Succeeded" : "Failed",
        event.unasked ? "could not be checked" : "",
      );
    case "run.work.cut":
      return said(event.path, "Cut off", "because the run ended");
    case "run.ending":
      return said(null, "Stopping.", event.reason);
    case "run.error":
      return said(null, visible(event.name), event.message);
    case "run.ended":
      return said(null, `Run ${event.outcome}.`, event.reason);
    default: // a newer server may say more than we know
      return said(null, event.kind);
  }
}

const FIELDS: Record<string, string> = {
  "availability.previousTasks": "previousTasks",
  "availability.condition": "availability condition",
  "criteria.toolExecuted": "toolExecuted",
  "criteria.condition": "condition",
};

/** What a check is called on the page. */
export const checkName = (field: string): string => FIELDS[field] ?? visible(field);

/** A condition that could not be asked is neither true nor false. */
export const outcomeOf = (check: { holds: boolean; unasked?: boolean }) =>
  check.holds ? "passed" : check.unasked ? "could not be checked" : "failed";

export function tellTask(event: Event): Said {
  switch (event.kind) {
    case "task.accepted":
      return said(null, "Task accepted", `on ${event.model}`);
    case "task.session.started":
      return said(null, "Session started", `${event.is_driving ? "driving, " : ""}${event.model}`);
    case "task.session.failed":
      return said(null, "Session did not start:", event.reason);
    case "task.session.stopped":
      return said(null, "Session closed", "");
    case "task.mission.sent":
      return said(null, `Sent (${event.mission.kind}):`, event.text);
    case "task.mission.ended":
      return said(null, `Answered (${event.mission.kind}), ${event.outcome}`, event.reason ?? "");
    case "task.checked":
      return said(null, `${checkName(event.field)} ${outcomeOf(event)}:`, event.reason);
    case "task.retrying":
      return said(null, `Retry ${event.retry} of ${event.of}:`, event.reason);
    case "task.decided":
      return decision(event.text);
    case "task.error":
      return said(null, visible(event.name), event.message);
    case "task.ended":
      return said(null, `Task ${event.outcome}.`, event.reason);
    default:
      return said(null, event.kind);
  }
}

function decision(text: string): Said {
  const [, head, rest] = /^(\[[A-Z ]+\])\s*([\s\S]*)$/.exec(text) ?? [];
  return head === undefined ? said(null, "", text) : said(null, head, rest);
}

export type Wait = {
  path: string;
  from: number;
  to: number | null;
  forPerson: boolean;
  reason: string;
};

/** How long works waited, for a slot or for a person, as far as the events are here. */
export function waitsOf(events: Iterable<Recorded>): Wait[] {
  const waits: Wait[] = [];
  const open = new Map<string, Wait>();
  const close = (path: string, at: number) => {
    const wait = open.get(path);
    if (wait !== undefined) wait.to = at;
    open.delete(path);
  };
  for (const { at, event } of events) {
    if (event.kind === "run.work.waiting") {
      close(event.path, at);
      const wait: Wait = {
        path: event.path,
        from: at,
        to: null,
        forPerson: event.for_person ?? false,
        reason: event.reason,
      };
      open.set(event.path, wait);
      waits.push(wait);
    } else if (event.kind === "run.work.going" || event.kind === "run.work.stopped") {
      close(event.path, at);
    } else if (event.kind === "run.ended") {
      for (const path of [...open.keys()]) close(path, at);
    }
  }
  return waits;
}
