/** The frame of every page: skip link, top bar, and the page's own content. */

import type { ComponentChildren } from "preact";

export function Frame({
  badge,
  children,
}: {
  badge?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/index.html">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M4.5 19 12 4l7.5 15M9.4 18.6h5.2" />
          </svg>
          Airboss
        </a>
        <span class="grow" />
        {badge}
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
