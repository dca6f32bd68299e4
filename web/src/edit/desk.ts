/** What the page knows: the file, the draft, what is wrong with it, and whether the server is there.
    It asks the server and keeps the draft in the browser; it draws nothing. */

import { computed, signal } from "@preact/signals";
import { get, post, put, whyNot } from "../api/client";
import { mayNot } from "../api/role";
import type { EntryExamples, JobList, ModelList, Status } from "../api/types.gen";
import { onChange } from "../live/feed";
import { remember, remembered } from "../storage";
import {
  type Draft,
  found,
  isDirty,
  keptMine,
  opened,
  readKept,
  saved,
  toKeep,
  tookTheirs,
  written,
} from "./draft";
import type { Known } from "./editor";
import { errorsIn, problemsOf } from "./problems";
import type { Schema } from "./schema";
import type { CheckedDraft, DraftJob, EntryFile, Example } from "./wire";

export type Saved =
  | { kind: "in-use" }
  | { kind: "unused"; why: string }
  | { kind: "failed"; why: string };

const CHECK_MS = 250;
const LOOK_MS = 2_500;
const PATIENCE_MS = 30_000;
/** So long a server may take to use what was saved, before the reason why not is asked for. */
const USED_MS = 6_000;
const ASK_MS = 400;

export class Desk {
  readonly file = signal<EntryFile | null>(null);
  readonly draft = signal<Draft | null>(null);
  /** Why there is no file to show. */
  readonly trouble = signal<string | null>(null);
  readonly away = signal(false);
  /** What the server said, and of which text. */
  readonly checked = signal<{ said: CheckedDraft; text: string } | null>(null);
  private readonly inUse = signal<readonly DraftJob[]>([]);
  readonly unchecked = signal<string | null>(null);
  readonly isSaving = signal(false);
  readonly saved = signal<Saved | null>(null);
  /** The browser has no room for the draft. */
  readonly isLoose = signal(false);
  readonly examples = signal<readonly Example[]>([]);
  readonly known = signal<Known>({ schema: null, models: [] });

  readonly isDirty = computed(() => this.draft.value !== null && isDirty(this.draft.value));
  readonly isCurrent = computed(() => this.checked.value?.text === this.draft.value?.text);
  readonly jobs = computed(() => this.checked.value?.said.jobs ?? this.inUse.value);
  readonly problems = computed(() => {
    const checked = this.checked.value;
    return checked === null ? [] : problemsOf(checked.said, checked.text);
  });
  readonly errors = computed(() =>
    Math.max(errorsIn(this.problems.value), this.checked.value?.said.mistakes ?? 0),
  );
  /** Why nothing can be written here; null where it can. */
  readonly locked = computed(() => {
    const file = this.file.value;
    return file === null || file.writable ? null : (file.why_not ?? mayNot("own"));
  });

  private replaced: (text: string) => void = () => {};
  private soon: ReturnType<typeof setTimeout> | null = null;
  private isChecking = false;
  private isLooking = false;

  constructor(private readonly path: string | null) {}

  /** Until the returned function is called. `replaced` hears of every text that nobody typed here. */
  open(replaced: (text: string) => void): () => void {
    this.replaced = replaced;
    void this.look();
    void this.learn();
    const unhear = onChange(() => void this.look());
    const timer = setInterval(() => document.hidden || void this.look(), LOOK_MS);
    const focus = () => void this.look();
    addEventListener("focus", focus);
    const leave = (event: BeforeUnloadEvent) => {
      if (this.isDirty.value && this.locked.value === null) event.preventDefault();
    };
    addEventListener("beforeunload", leave);
    return () => {
      unhear();
      clearInterval(timer);
      removeEventListener("focus", focus);
      removeEventListener("beforeunload", leave);
      if (this.soon !== null) clearTimeout(this.soon);
    };
  }

  private get address(): string {
    const path = this.draft.value?.path ?? this.path;
    const query = path === null ? "" : `?${new URLSearchParams({ path })}`;
    return `/api/v1/entry/file${query}`;
  }

  /** What is on the disk now. */
  async look(): Promise<void> {
    if (this.isLooking || this.isSaving.value) return;
    this.isLooking = true;
    const answer = await get<EntryFile>(this.address, PATIENCE_MS);
    this.isLooking = false;
    this.away.value = answer.kind === "lost";
    if (this.isSaving.value) return;
    if (answer.kind !== "ok") {
      if (this.draft.value === null && answer.kind !== "lost") this.trouble.value = whyNot(answer);
      return;
    }
    this.trouble.value = null;
    this.take(answer.body);
    const isDue = !this.isCurrent.value && mayNot("operate") === null;
    if (isDue && this.soon === null && !this.isChecking) this.checkSoon();
  }

  private take(file: EntryFile): void {
    const draft = this.draft.value;
    if (draft === null) {
      const kept = file.writable ? readKept(remembered(`draft.${file.path}`)) : null;
      this.file.value = file;
      this.set(opened(file, kept));
      this.checkSoon(0);
      return;
    }
    if (!same(this.file.value, file)) this.file.value = file;
    const after = found(draft, file);
    if (after === draft) return;
    this.set(after);
    if (after.text !== draft.text) this.changed(after.text);
  }

  private set(draft: Draft): void {
    this.draft.value = draft;
    const kept = toKeep(draft);
    const json = kept === null ? null : JSON.stringify(kept);
    remember(`draft.${draft.path}`, json);
    this.isLoose.value = json !== null && remembered(`draft.${draft.path}`) !== json;
  }

  private changed(text: string): void {
    this.replaced(text);
    this.saved.value = null;
    this.checkSoon(0);
  }

  /** Somebody typed. It is kept before anything else happens. */
  write(text: string): void {
    if (this.draft.value === null) return;
    this.set(written(this.draft.value, text));
    this.saved.value = null;
    this.checkSoon();
  }

  begin({ text, script }: Example): void {
    if (this.draft.value === null) return;
    this.set({ ...written(this.draft.value, text), script });
    this.changed(text);
  }

  keepMine(): void {
    if (this.draft.value !== null) this.set(keptMine(this.draft.value));
  }

  takeTheirs(): void {
    if (this.draft.value === null) return;
    this.set(tookTheirs(this.draft.value));
    this.changed(this.draft.value.text);
  }

  private async learn(): Promise<void> {
    const [schema, models, examples] = await Promise.all([
      get<Schema>("/api/v1/entry/schema", PATIENCE_MS),
      get<ModelList>("/api/v1/models", PATIENCE_MS),
      get<EntryExamples>("/api/v1/entry/examples", PATIENCE_MS),
    ]);
    this.known.value = {
      schema: schema.kind === "ok" ? schema.body : null,
      models: models.kind === "ok" ? models.body.items.map(({ id }) => id) : [],
    };
    if (examples.kind === "ok") this.examples.value = examples.body.items;
    if (schema.kind === "lost") setTimeout(() => void this.learn(), LOOK_MS);
  }

  private checkSoon(after = CHECK_MS): void {
    if (this.soon !== null) clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      this.soon = null;
      void this.check();
    }, after);
  }

  private async check(): Promise<void> {
    const draft = this.draft.value;
    const format = this.file.value?.format;
    if (draft === null || format === undefined || format === "python" || this.isChecking) return;
    const { text } = draft;
    if (mayNot("operate") !== null) {
      this.unchecked.value = mayNot("operate");
      await this.readInUse();
      return;
    }
    if (this.checked.value?.text === text) return;
    this.isChecking = true;
    const answer = await post<CheckedDraft>(
      "/api/v1/entry/draft",
      { text, format },
      {},
      PATIENCE_MS,
    );
    this.isChecking = false;
    if (answer.kind === "ok") {
      this.checked.value = { said: answer.body, text };
      this.unchecked.value = null;
    } else if (answer.kind === "lost") this.away.value = true;
    else this.unchecked.value = whyNot(answer);
    const isBehind = this.draft.value?.text !== text;
    if (isBehind && this.soon === null && answer.kind === "ok") this.checkSoon();
  }

  /** For whoever may not check a draft: the jobs of the file, if it is the one in use. */
  private async readInUse(): Promise<void> {
    const answer = await get<JobList>("/api/v1/jobs");
    if (answer.kind === "ok") this.inUse.value = this.file.value?.in_use ? answer.body.items : [];
  }

  async save(): Promise<void> {
    const draft = this.draft.value;
    if (draft === null || this.whyNotSave() !== null) return;
    this.isSaving.value = true;
    this.saved.value = null;
    const { path, text, base } = draft;
    const body = { path, text, digest: base.digest };
    const answer = await put<EntryFile>("/api/v1/entry/file", body);
    this.isSaving.value = false;
    if (answer.kind === "ok") {
      this.away.value = false;
      this.file.value = answer.body;
      this.set(saved(this.draft.value ?? draft, text, answer.body));
      this.saved.value = answer.body.in_use ? { kind: "in-use" } : null;
      if (!answer.body.in_use) void this.awaitUse(Date.now() + USED_MS);
      return;
    }
    if (answer.kind === "failed" && answer.status === 409) {
      await this.look(); // which shows what is on the disk
      if (this.draft.value?.other != null) return;
    }
    this.away.value = answer.kind === "lost";
    this.saved.value = { kind: "failed", why: whyNot(answer) };
  }

  /** The server reads the file soon; if it goes on with another entry, it says why. */
  private async awaitUse(until: number): Promise<void> {
    const mine = this.draft.value?.base.digest;
    for (;;) {
      await new Promise((done) => setTimeout(done, ASK_MS));
      if (this.draft.value?.base.digest !== mine || this.saved.value !== null) return;
      await this.look();
      if (this.file.value?.in_use) {
        this.saved.value = { kind: "in-use" };
        return;
      }
      if (this.errors.value > 0 && this.isCurrent.value) break;
      if (Date.now() > until) break;
    }
    const answer = await get<Status>("/api/v1/status");
    const why = answer.kind === "ok" ? unusedBecause(answer.body) : whyNot(answer);
    if (this.draft.value?.base.digest === mine) this.saved.value = { kind: "unused", why };
  }

  /** For people, beside the button; null where it can be saved. */
  whyNotSave(): string | null {
    const draft = this.draft.value;
    if (draft === null) return "The file is being read.";
    if (this.locked.value !== null) return this.locked.value;
    if (draft.other !== null) return "Decide first what happens to the version on disk.";
    if (this.isSaving.value) return "It is being saved.";
    return isDirty(draft) ? null : "There is nothing to save.";
  }
}

function unusedBecause({ entry }: Status): string {
  if (entry?.problem != null) return entry.problem;
  return entry?.path == null
    ? "The server uses the built-in entry."
    : `The server uses ${entry.path}.`;
}

const same = (a: EntryFile | null, b: EntryFile): boolean =>
  a !== null && JSON.stringify(a) === JSON.stringify(b);
