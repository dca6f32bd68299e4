/** What a person is about to ask. Nothing is lost and nothing is sent twice: a request stays here until
 *  the server has said that it took it, or its events have. */

import { signal } from "@preact/signals";
import { get, post, whyNot } from "../api/client";
import { serverTime } from "../api/clock";
import type { EventPage, PromptReceipt, RecordedEvent, TaskRunView } from "../api/types.gen";
import { fresh, tryNow } from "../live/feed";
import { remember, remembered } from "../storage";
import { type Attached, type Picture, withFiles } from "./attachments";
import type { Marked } from "./marked";
import { mentions } from "./mentions";

export type Delivery = "queue" | "steer";

export type Phase =
  | { kind: "ready" }
  | { kind: "sending" }
  /** There was no answer; whether it arrived is being asked. */
  | { kind: "unsure" }
  | { kind: "refused"; why: string };

/** `draft` is what of the text was written in the box. */
type Sent = { text: string; draft: string; after: number };

const READY: Phase = { kind: "ready" };
const LOOK_MS = 1_500;

export class Outbox {
  readonly draft = signal("");
  readonly pictures = signal<readonly Picture[]>([]);
  readonly files = signal<readonly Attached[]>([]);
  /** Files of the session's folder, which the agent is pointed to. */
  readonly paths = signal<readonly string[]>([]);
  /** Lines of a file that somebody has marked. */
  readonly marked = signal<Marked | null>(null);
  /** Whether the agent is to make a plan first. */
  readonly plans = signal(false);
  readonly phase = signal<Phase>(READY);
  /** Up to this seq the page has to hear before it knows what the last request did. */
  readonly told = signal(0);

  constructor(readonly session: string) {
    this.draft.value = remembered(`draft.${session}`) ?? "";
    const sent = readSent(remembered(`sent.${session}`));
    if (sent !== null) void this.#look(sent);
  }

  get isBusy(): boolean {
    return this.phase.value.kind === "sending" || this.phase.value.kind === "unsure";
  }

  write(text: string): void {
    this.draft.value = text;
    remember(`draft.${this.session}`, text === "" ? null : text);
    if (this.phase.peek().kind === "refused") this.phase.value = READY;
  }

  /** `head` is the last event that the page has heard of. */
  async send(delivery: Delivery, head: number): Promise<void> {
    const draft = this.draft.peek();
    const text = withFiles(draft, this.files.peek());
    if (this.isBusy || text.trim() === "") return;
    const sent: Sent = { text, draft, after: head };
    this.#keep(sent);
    this.phase.value = { kind: "sending" };
    const paths = this.paths.peek().filter((path) => mentions(draft, path));
    const marked = this.marked.peek();
    const images = this.pictures.peek().map(({ mime, data }) => ({ mime, data }));
    const answer = await post<PromptReceipt>(`/api/v1/sessions/${this.session}/prompts`, {
      text,
      delivery,
      ...(images.length > 0 && { images }),
      ...(this.plans.peek() && delivery !== "steer" && { mode: "plan" }),
      ...(paths.length > 0 && { files: paths }),
      ...(marked !== null && { selection: marked }),
    });
    if (answer.kind === "ok") this.#arrived(sent, answer.body.seq);
    else if (answer.kind === "lost") await this.#look(sent);
    else this.#refused(whyNot(answer));
  }

  /** A task on this session. Its runs are listed, so that one whose answer was lost is found there. */
  async begin(task: string, input: string): Promise<void> {
    if (this.isBusy) return;
    this.phase.value = { kind: "sending" };
    const began = serverTime();
    const wish = { task, input, session: this.session };
    const answer = await post<TaskRunView>("/api/v1/task-runs", wish);
    const is = answer.kind === "lost" ? await this.#began(task, began) : answer.kind === "ok";
    if (is) {
      if (input !== "") this.#clear(input);
      this.phase.value = READY;
    } else if (answer.kind !== "ok") {
      this.#refused(answer.kind === "lost" ? NOT_ARRIVED : whyNot(answer));
    }
  }

  async #began(task: string, since: number): Promise<boolean> {
    this.phase.value = { kind: "unsure" };
    for (;;) {
      const list = await get<{ items: TaskRunView[] }>("/api/v1/task-runs?limit=20");
      if (list.kind === "ok") {
        const { items } = list.body;
        const isOurs = (run: TaskRunView) =>
          run.task === task && run.session === this.session && run.created_at > since - CLOCKS_MS;
        return items.some(isOurs);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Asks the events until they answer: the request is among them, or it never arrived. */
  async #look(sent: Sent): Promise<void> {
    this.phase.value = { kind: "unsure" };
    for (;;) {
      const path = `/api/v1/sessions/${this.session}/events?after=${sent.after}&limit=1000`;
      const page = await get<EventPage>(path);
      if (page.kind === "ok") {
        if (fresh.peek().kind !== "live") tryNow(); // the server is back: why wait any longer
        const seq = acceptedIn(page.body.items, sent.text);
        if (seq !== null) return this.#arrived(sent, seq);
        if (!page.body.more) return this.#refused(NOT_ARRIVED);
        sent = { ...sent, after: page.body.next_after };
      } else if (page.kind === "failed" && page.status === 404) {
        return this.#refused(whyNot(page));
      } else {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    }
  }

  #arrived(sent: Sent, seq: number): void {
    this.told.value = seq;
    this.#keep(null);
    this.#clear(sent.draft);
    this.phase.value = READY;
  }

  #refused(why: string): void {
    this.#keep(null);
    this.phase.value = { kind: "refused", why };
  }

  /** What was written meanwhile stays. */
  #clear(text: string): void {
    this.pictures.value = [];
    this.files.value = [];
    this.paths.value = [];
    this.marked.value = null;
    this.plans.value = false;
    if (this.draft.peek() === text) this.write("");
  }

  #keep(sent: Sent | null): void {
    remember(`sent.${this.session}`, sent === null ? null : JSON.stringify(sent));
  }
}

const NOT_ARRIVED =
  "Your message did not arrive because the connection was lost. Your text is saved. Send it again.";
const CLOCKS_MS = 60_000; // the server's clock may be another

/** The seq at which a text was accepted. Secrets may have been taken out of it on the way. */
export function acceptedIn(events: readonly RecordedEvent[], text: string): number | null {
  const found = events.find(
    ({ event }) =>
      event.kind === "prompt.accepted" &&
      (event.text === text || event.text === text.trim() || event.redacted > 0),
  );
  return found?.seq ?? null;
}

function readSent(kept: string | null): Sent | null {
  try {
    const sent: unknown = JSON.parse(kept ?? "null");
    if (typeof sent !== "object" || sent === null) return null;
    const { text, draft = text, after } = sent as Partial<Sent>;
    const isWhole = typeof text === "string" && typeof draft === "string";
    return isWhole && typeof after === "number" ? { text, draft, after } : null;
  } catch {
    return null;
  }
}
