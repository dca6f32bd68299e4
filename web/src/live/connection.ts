/** One connection of the live feed: what it says, until it ends for whatever reason. */

import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ownKey } from "../api/key";
import type { Recorded } from "../state/types";
import { SILENCE_MS } from "./freshness";

export type Said = Recorded & { stream: string };

export type Heard =
  | { kind: "event"; said: Said }
  /** From here on every change is told to a list that is as new as `lists`. */
  | { kind: "caught-up"; lists?: number }
  | { kind: "end"; stream: string }
  | { kind: "gone"; stream: string }
  | { kind: "changed"; streams: string[] }
  /** How long ago a shared database last answered the server. */
  | { kind: "heartbeat"; databaseMs?: number }
  | { kind: "build"; build: string };

export type Ended = "refused" | "broken" | "silent" | "left";

export type Listener = {
  /** The server answered, and will go on. */
  opened: () => void;
  /** All that one piece of the answer held: painting once for each event would be waste. */
  hear: (heard: Heard[]) => void;
};

/** Listens until `leave` aborts or the line ends. Nothing is thrown: the end is the answer. */
export async function listen(
  address: string,
  { opened, hear }: Listener,
  stopped: AbortSignal,
): Promise<Ended> {
  const silence = new AbortController();
  const signal = AbortSignal.any([stopped, silence.signal]);
  let alarm = setTimeout(() => silence.abort(), SILENCE_MS);
  const heard: Heard[] = [];
  const parser = createParser({ onEvent: (message) => heard.push(...read(message)) });
  try {
    const response = await fetch(address, {
      headers: ownKey(),
      signal,
      credentials: "same-origin",
    });
    if (response.status === 401) return "refused";
    if (!response.ok || response.body === null) return "broken";
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(alarm);
      alarm = setTimeout(() => silence.abort(), SILENCE_MS);
      parser.feed(piece.value);
      if (heard.length > 0) hear(heard.splice(0));
    }
    return "broken";
  } catch {
    if (stopped.aborted) return "left";
    return silence.signal.aborted ? "silent" : "broken";
  } finally {
    clearTimeout(alarm);
  }
}

export function read({ event, data }: Pick<EventSourceMessage, "event" | "data">): Heard[] {
  let body: unknown;
  try {
    body = JSON.parse(data);
  } catch {
    return []; // half a line of a broken connection: what is missing comes again
  }
  switch (event) {
    case undefined:
      return [{ kind: "event", said: body as Said }];
    case "caught-up": {
      const { lists } = body as { lists?: unknown };
      return [{ kind: event, ...(typeof lists === "number" && { lists }) }];
    }
    case "heartbeat": {
      const { database_ms: age } = body as { database_ms?: unknown };
      return [{ kind: event, ...(typeof age === "number" && { databaseMs: age }) }];
    }
    case "end":
    case "gone":
      return [{ kind: event, stream: (body as { stream: string }).stream }];
    case "changed":
      return [{ kind: event, streams: (body as { streams: string[] }).streams }];
    case "build":
      return [{ kind: event, build: (body as { build: string }).build }];
    default:
      return []; // said by a newer server
  }
}
