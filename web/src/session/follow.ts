/** The place in a long conversation: follows its end while a person is there, and else stays where it is. */

import { signal } from "@preact/signals";
import { type Span, spanAround, spanAtEnd, spanFrom } from "./window";

/** Nearer to the end than this is at the end. */
const NEAR = 24;
/** The least that is kept ready beyond the view before other blocks are drawn. */
const SPARE = 400;
const GAP = 8;

type Anchor = { element: Element; top: number };

export class Follow {
  /** Grows when other blocks are to be drawn. */
  readonly drawn = signal(0);
  readonly atEnd = signal(true);
  /** How many blocks came since the end was left. */
  readonly missed = signal(0);

  #box: HTMLElement | null = null;
  #inside: HTMLElement | null = null;
  #heights = new Map<string, number>();
  #order: readonly string[] = [];
  #span: Span = { first: 0, end: 0, above: 0, below: 0 };
  #anchor: Anchor | null = null;
  #held = false;
  #goal: string | null = null;
  #top = 0;
  #focused: Element | null = null;
  /** The last block when the end was left: what comes behind it is new. */
  #left: string | null = null;

  attach(box: HTMLElement, inside: HTMLElement): () => void {
    this.#box = box;
    this.#inside = inside;
    const observer = new ResizeObserver(() => this.settle());
    observer.observe(box);
    observer.observe(inside);
    const moved = () => this.#moved();
    const pressed = (event: Event) => this.#hold(event);
    box.addEventListener("scroll", moved, { passive: true });
    box.addEventListener("click", pressed, { capture: true });
    const focused = (event: Event) => {
      this.#focused = event.target instanceof Element ? event.target : null;
    };
    box.addEventListener("focusin", focused);
    return () => {
      observer.disconnect();
      box.removeEventListener("scroll", moved);
      box.removeEventListener("click", pressed, { capture: true });
      box.removeEventListener("focusin", focused);
    };
  }

  /** The blocks to draw now. `guess` says how high one is that was never drawn. */
  span(order: readonly string[], guess: (id: string) => number): Span {
    this.#order = order;
    const heights = order.map((id) => this.#heights.get(id) ?? guess(id));
    const height = this.#box?.clientHeight ?? 800;
    const goal = this.#goal === null ? -1 : order.indexOf(this.#goal);
    if (goal >= 0) this.#span = spanFrom(heights, goal, height);
    else if (this.atEnd.peek()) this.#span = spanAtEnd(heights, height);
    else this.#span = spanAround(heights, this.#box?.scrollTop ?? 0, height);
    return this.#span;
  }

  /** After drawing, and whenever something has another size: measures, and keeps the view still. */
  settle(): void {
    const box = this.#box;
    if (box === null) return;
    this.#moved(); // a person may have scrolled, and the event of that is still to come
    this.#measure();
    if (!this.atEnd.peek()) this.missed.value = this.#newer();
    if (this.#goal !== null) this.#arrive(box, this.#goal);
    else if (this.atEnd.peek() && !this.#held) box.scrollTop = box.scrollHeight;
    else this.#still(box);
    this.#top = box.scrollTop;
    this.#look();
    this.#catchFocus(box);
  }

  /** What had the focus may have left the page: its neighbour is what it was in. */
  #catchFocus(box: HTMLElement): void {
    if (this.#focused === null || this.#focused.isConnected) return;
    this.#focused = null;
    if (document.activeElement === document.body) box.focus({ preventScroll: true });
  }

  toEnd(): void {
    this.#goal = null;
    this.#held = false;
    this.atEnd.value = true;
    this.missed.value = 0;
    this.drawn.value += 1;
  }

  goTo(id: string): void {
    this.#goal = id;
    this.atEnd.value = false;
    this.#left = this.#order.at(-1) ?? null;
    this.drawn.value += 1;
  }

  /** The block or call before or behind the one that has the focus, with the least movement. */
  step(by: 1 | -1): void {
    const heads = this.#heads();
    const at = this.#current(heads);
    const to = at < 0 ? (by === 1 ? this.#firstInView(heads) : heads.length - 1) : at + by;
    const next = heads[to];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  /** Opens or closes the one that has the focus. */
  turn(): void {
    const heads = this.#heads();
    const head = heads[this.#current(heads)];
    if (head?.hasAttribute("aria-expanded")) head.click();
  }

  copy(): void {
    const heads = this.#heads();
    const part = heads[this.#current(heads)]?.closest("[data-part]");
    part?.querySelector<HTMLElement>(".copy")?.click();
  }

  #heads(): HTMLElement[] {
    return [...(this.#inside?.querySelectorAll<HTMLElement>("[data-step]") ?? [])];
  }

  /** The last one that begins at or before what has the focus. */
  #current(heads: readonly HTMLElement[]): number {
    const focused = document.activeElement;
    if (focused === null || !this.#inside?.contains(focused)) return -1;
    return heads.findLastIndex(
      (head) =>
        head === focused ||
        (head.compareDocumentPosition(focused) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
    );
  }

  #newer(): number {
    const at = this.#left === null ? -1 : this.#order.lastIndexOf(this.#left);
    return at < 0 ? 0 : this.#order.length - 1 - at;
  }

  #firstInView(heads: readonly HTMLElement[]): number {
    const top = this.#box?.getBoundingClientRect().top ?? 0;
    return Math.max(
      0,
      heads.findIndex((head) => head.getBoundingClientRect().top >= top - 1),
    );
  }

  /** Whether a person moved it: what has only grown meanwhile is no reason to let go. */
  #moved(): void {
    const box = this.#box;
    if (box !== null && Math.abs(box.scrollTop - this.#top) > 1) this.#judge(box);
  }

  #judge(box: HTMLElement): void {
    this.#top = box.scrollTop;
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    if (this.atEnd.peek() && !isAtEnd) this.#left = this.#order.at(-1) ?? null;
    this.atEnd.value = isAtEnd;
    if (isAtEnd) this.missed.value = 0;
    this.#anchor = this.#pick(box);
    this.#look();
  }

  /** What a person opens or closes stays where it is, also at the end. */
  #hold(event: Event): void {
    const target = event.target instanceof Element ? event.target : null;
    const element = target?.closest("[aria-expanded], [data-still], .fold-more");
    if (!element || this.#box === null) return;
    const top = element.getBoundingClientRect().top - this.#box.getBoundingClientRect().top;
    this.#anchor = { element, top };
    this.#held = true;
    const box = this.#box;
    setTimeout(() => {
      this.#held = false;
      this.#judge(box);
    }, 200);
  }

  /** The first block that begins in view: what changes above it moves nothing. */
  #pick(box: HTMLElement): Anchor | null {
    const from = box.getBoundingClientRect().top;
    let last: Anchor | null = null;
    for (const element of this.#inside?.querySelectorAll(":scope > [data-block]") ?? []) {
      const top = element.getBoundingClientRect().top - from;
      if (top > box.clientHeight) break;
      last = { element, top };
      if (top >= 0) break;
    }
    return last;
  }

  #still(box: HTMLElement): void {
    if (!this.#anchor?.element.isConnected) this.#anchor = this.#pick(box);
    if (this.#anchor === null) return;
    const top = this.#anchor.element.getBoundingClientRect().top - box.getBoundingClientRect().top;
    const by = top - this.#anchor.top;
    if (Math.abs(by) > 0.5) box.scrollTop += by;
  }

  #arrive(box: HTMLElement, id: string): void {
    const element = this.#inside?.querySelector(`:scope > [data-block="${CSS.escape(id)}"]`);
    if (!element) return;
    box.scrollTop += element.getBoundingClientRect().top - box.getBoundingClientRect().top - GAP;
    this.#anchor = { element, top: GAP };
    this.#goal = null;
  }

  #measure(): void {
    for (const element of this.#inside?.querySelectorAll<HTMLElement>(":scope > [data-block]") ??
      []) {
      const { height } = element.getBoundingClientRect();
      this.#heights.set(element.dataset.block ?? "", height);
    }
  }

  /** Draws other blocks when the view comes near to where the drawn ones end. */
  #look(): void {
    const box = this.#box;
    const inside = this.#inside;
    if (box === null || inside === null) return;
    const { first, end, above, below } = this.#span;
    const whole = inside.getBoundingClientRect().height;
    const lacksAbove = first > 0 && box.scrollTop - SPARE < above;
    const lacksBelow =
      end < this.#order.length && box.scrollTop + box.clientHeight + SPARE > whole - below;
    if (lacksAbove || lacksBelow) requestAnimationFrame(() => (this.drawn.value += 1));
  }
}
