/** The frame of every page: skip link, top bar, and the page's own content for those who are in. */

import { effect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { access } from "../api/access";
import { fresh, stayAwake, tryNow } from "../live/feed";
import type { Freshness } from "../live/freshness";
import { waiting } from "../live/inbox";
import { announceInbox } from "../live/notices";
import { float, floating } from "./floats";
import { FreshnessBadge } from "./freshness";
import { listenToKeys } from "./hotkeys";
import { Icon, type IconName } from "./icon";
import { addressOf, goTo, PAGES, type PageName } from "./pages";
import { Palette } from "./palette";
import { Shortcuts } from "./shortcuts";
import { SignIn } from "./sign_in";
import { Stopped, stopped } from "./stop";
import { choose, following, type Theme, theme } from "./theme";

type Props = {
  /** The one that is marked in the top bar; null for a page that is none of them. */
  page: PageName | null;
  /** The document's title, without `· Airboss`. */
  title: string;
  /** A page as high as the window, whose parts scroll. */
  app?: boolean;
  /** Where the feed does not say it: a page that is complete, or a preview. */
  freshness?: Freshness | undefined;
  children: ComponentChildren;
};

stayAwake();
listenToKeys();
// The inbox is counted on every page, from the moment that somebody is in.
const stopWaiting = effect(() => {
  if (access.value === "in") queueMicrotask(count);
});

function count(): void {
  stopWaiting();
  announceInbox();
}

export function Frame({ page, title, app = false, freshness, children }: Props) {
  const counted = waiting.value > 0 ? `(${waiting.value}) ${title}` : title;
  return (
    <div class={app ? "app" : undefined}>
      <button type="button" class="skip" onClick={toContent}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href="/index.html">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M4.5 19 12 4l7.5 15M9.4 18.6h5.2" />
          </svg>
          Airboss
        </a>
        {access.value === "in" ? (
          <Bar page={page} freshness={freshness} />
        ) : (
          <>
            <span class="grow" />
            <DocsLink />
            <ThemeButton />
          </>
        )}
      </header>
      <main id="content" class={app ? "col" : undefined} tabIndex={-1}>
        {stopped.value ? <Stopped /> : <SignIn title={counted}>{children}</SignIn>}
      </main>
      {/* Also while it is not known yet who this is: what is typed until then would be lost. */}
      {access.value !== "out" && floating.value === "palette" && <Palette onClose={land} />}
      {floating.value === "shortcuts" && <Shortcuts onClose={land} />}
    </div>
  );
}

const land = () => float(null);

/** Not by a link: the fragment belongs to the page, which keeps its selection there. */
const toContent = () => document.getElementById("content")?.focus();

function Bar({ page, freshness }: Pick<Props, "page" | "freshness">) {
  return (
    <>
      <nav class="nav" aria-label="Pages">
        <Links page={page} />
      </nav>
      <span class="grow" />
      <button type="button" class="palette" onClick={() => float("palette")}>
        <Icon name="search" size="s" />
        Search or run a command
        <kbd>Ctrl K</kbd>
      </button>
      <FreshnessBadge fresh={freshness ?? fresh.value} onTry={tryNow} />
      <span class="desk row">
        <DocsLink />
        <ThemeButton />
        <button
          type="button"
          class="btn ghost icon"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={() => float("shortcuts")}
        >
          <Icon name="question" />
        </button>
      </span>
      {waiting.value > 0 && (
        <a class="phone-only row" href="/inbox.html" aria-label={`Inbox, ${waitInWords()}`}>
          <Icon name="inbox" />
          <span class="count">{waiting.value}</span>
        </a>
      )}
      <PhoneMenu page={page} />
    </>
  );
}

const waitInWords = () => `${waiting.value} waiting for you`;

/** The folder of the jobs may be known only now; a click that opens a tab is the browser's own. */
function follow(event: MouseEvent, name: PageName): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey || name !== "jobs") return;
  event.preventDefault();
  void goTo(name);
}

function Links({ page }: { page: PageName | null }) {
  return (
    <>
      {PAGES.map(({ name, word }) => (
        <a
          key={name}
          href={addressOf(name)}
          aria-current={name === page ? "page" : undefined}
          onClick={(event) => follow(event, name)}
        >
          {word}
          {name === "inbox" && waiting.value > 0 && (
            <span class="count">
              {waiting.value}
              <span class="vh"> waiting for you</span>
            </span>
          )}
        </a>
      ))}
    </>
  );
}

function DocsLink() {
  return (
    <a class="btn ghost" href="/docs/">
      Docs
    </a>
  );
}

const THEME_ICONS: Record<Theme, IconName> = { system: "system", light: "sun", dark: "moon" };

function ThemeButton() {
  return (
    <button
      type="button"
      class="btn ghost icon"
      aria-label={`Theme: ${theme.value}`}
      title={`Theme: ${theme.value}`}
      onClick={() => choose(following(theme.value))}
    >
      <Icon name={THEME_ICONS[theme.value]} />
    </button>
  );
}

function PhoneMenu({ page }: { page: PageName | null }) {
  const button = useRef<HTMLButtonElement>(null);
  const open = floating.value === "menu";
  useEffect(() => {
    if (!open) return;
    const leave = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      float(null);
      button.current?.focus();
    };
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  }, [open]);
  return (
    <>
      <button
        type="button"
        ref={button}
        class="btn ghost icon menu-btn"
        aria-label="Menu"
        aria-expanded={open}
        onClick={() => float(open ? null : "menu")}
      >
        <Icon name={open ? "cross" : "menu"} />
      </button>
      {open && (
        <nav class="menu phone-only col" aria-label="Menu">
          <Links page={page} />
          <a href="/docs/">Docs</a>
          <button type="button" onClick={() => float("palette")}>
            <Icon name="search" />
            Search or run a command
          </button>
          <button type="button" onClick={() => choose(following(theme.value))}>
            <Icon name={THEME_ICONS[theme.value]} />
            Theme: {theme.value}
          </button>
        </nav>
      )}
    </>
  );
}
