/** A stream's events by their place, loaded in pages where they are looked at. */

import { signal } from "@preact/signals";
import { get } from "../api/client";
import { type EventPage, resource } from "../live/pages";
import type { Recorded } from "../state/types";

const PAGE = 200;
/** So many pages are kept: what lies far away is loaded again. */
const KEPT = 60;

export class StreamLog {
  /** Counts what came, so that who shows it is drawn again. */
  readonly loaded = signal(0);
  private readonly pages = new Map<number, readonly Recorded[]>();
  private readonly asked = new Set<number>();
  private head = 0;

  constructor(readonly stream: string) {}

  /** How many events there are by now: the last page is not whole any more. */
  grow(head: number): void {
    if (head <= this.head) return;
    const last = pageOf(this.head);
    if ((this.pages.get(last)?.length ?? PAGE) < PAGE) this.pages.delete(last);
    this.head = head;
  }

  /** Null while it is on its way. */
  at(seq: number): Recorded | null {
    const page = pageOf(seq);
    const found = this.pages.get(page)?.[(seq - 1) % PAGE] ?? null;
    if (found === null) void this.load(page).then((came) => came && this.tell());
    return found;
  }

  /** All that is here, in order. */
  *here(): Generator<Recorded> {
    for (const page of [...this.pages.keys()].sort((one, two) => one - two)) {
      yield* this.pages.get(page) ?? [];
    }
  }

  /** The first so many, one page after the other; they are drawn together. */
  async first(count: number): Promise<void> {
    let came = false;
    for (let page = 0; page * PAGE < Math.min(count, this.head); page += 1) {
      came = (await this.load(page)) || came;
    }
    if (came) this.tell();
  }

  private tell(): void {
    this.loaded.value += 1;
  }

  /** Whether something came that was not here. */
  private async load(page: number): Promise<boolean> {
    const wanted = Math.min(PAGE, this.head - page * PAGE);
    const has = this.pages.get(page)?.length ?? 0;
    if (wanted <= has || this.asked.has(page)) return false;
    this.asked.add(page);
    const path = `${resource(this.stream)}/events?after=${page * PAGE}&limit=${PAGE}`;
    const answer = await get<EventPage>(path);
    this.asked.delete(page);
    if (answer.kind !== "ok") return false;
    this.pages.delete(page); // the newest comes last
    this.pages.set(page, answer.body.items);
    for (const old of this.pages.keys()) {
      if (this.pages.size <= KEPT) break;
      this.pages.delete(old);
    }
    return true;
  }
}

const pageOf = (seq: number) => Math.floor((Math.max(1, seq) - 1) / PAGE);
