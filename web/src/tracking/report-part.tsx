/** One section of a report. */

import type { ComponentChildren } from "preact";

type PartProps = {
  title: string;
  aside?: ComponentChildren;
  end?: ComponentChildren;
  children: ComponentChildren;
};

export function Part({ title, aside, end, children }: PartProps) {
  return (
    <section aria-label={title}>
      <h2>
        {title} {aside !== undefined && <span class="x">{aside}</span>}
        {end && <span class="end">{end}</span>}
      </h2>
      {children}
    </section>
  );
}
